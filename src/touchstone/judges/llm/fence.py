"""Texts of others -> blocks that a model can tell from its instructions.

The mark that opens a block, and so ends the one before, is made from everything inside all blocks, and is checked to
occur in none of them: a text would have to contain its own hash to end its block. Tokens by which servers mark the
turns of a chat are broken, since a server that reads them in a message would end the turn there.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

# Enough to be no word of its own; that no text holds it is checked.
_MARK_LENGTH = 8
# Turn marks of common chat formats: <|im_end|>, <｜User｜>, <s>, </s>, <start_of_turn>, [INST], [/INST], <<SYS>>.
_TURN_MARK = re.compile(
    r"<(?=[|｜<])|<(?=/?(?:s|bos|eos|unk|pad|mask|sep|think|tool_call|\w{1,20}_of_\w{1,20})>)|\[(?=/?[A-Z_]{3,24}\])",
    re.IGNORECASE,
)
_BROKEN = {"<": "‹", "[": "⁅"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Block:
    """One text of others under the name the prompt calls it by."""

    name: str
    text: str


def fence_for(blocks: Sequence[Block]) -> str:
    """The mark for these blocks: the same for the same blocks, and in none of them."""
    whole = "\0".join(f"{block.name}\0{block.text}" for block in blocks)
    folded = [block.text.casefold() for block in blocks]
    salt = 0
    while True:
        digest = hashlib.sha256(f"{salt}\0{whole}".encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_LENGTH]
        if not any(digest in text for text in folded):
            return f"#{digest}"
        salt += 1


def fenced(blocks: Sequence[Block], *, fence: str) -> str:
    """The blocks one after another, each below its mark."""
    return "\n".join(f"{fence} {block.name}\n{defused(block.text)}" for block in blocks)


def defused(text: str) -> str:
    """The text without turn marks and lone surrogates; every character keeps its place."""
    return _LONE_SURROGATE.sub("\ufffd", _TURN_MARK.sub(lambda mark: _BROKEN[mark[0]], text))
