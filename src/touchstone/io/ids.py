"""Ids seen in a file -> where; 48 bytes or less for each, however long the ids are."""

import hashlib
from array import array

_FIRST_SIZE = 1024


class SeenIds:
    """An open-addressing table from the 8-byte hash of an id to a number above 0.

    A dict of the ids themselves costs several times as much on a file of millions of rows. Two ids that share
    a hash would be taken for one; among ten million that has a chance of 3 in a million.
    """

    def __init__(self) -> None:
        self._hashes = array("Q", bytes(8 * _FIRST_SIZE))
        self._numbers = array("Q", bytes(8 * _FIRST_SIZE))
        self._count = 0

    def get(self, id: str) -> int:
        """The number noted for the id, 0 when there is none."""
        return self._numbers[self._slot(_hash(id))]

    def note(self, id: str, number: int) -> None:
        """Remembers the number, in place of an earlier one."""
        key = _hash(id)
        slot = self._slot(key)
        if not self._numbers[slot]:
            self._count += 1
        self._hashes[slot], self._numbers[slot] = key, number
        if self._count * 3 > len(self._hashes) * 2:
            self._grow()

    def _slot(self, key: int) -> int:
        """Where the key is, or the free place where it belongs."""
        last = len(self._hashes) - 1
        slot = key & last
        while self._numbers[slot] and self._hashes[slot] != key:
            slot = (slot + 1) & last
        return slot

    def _grow(self) -> None:
        noted = [(key, number) for key, number in zip(self._hashes, self._numbers, strict=True) if number]
        size = len(self._hashes) * 2
        self._hashes, self._numbers = array("Q", bytes(8 * size)), array("Q", bytes(8 * size))
        for key, number in noted:
            slot = self._slot(key)
            self._hashes[slot], self._numbers[slot] = key, number


def _hash(id: str) -> int:
    return int.from_bytes(hashlib.blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")
