"""A case -> the blocks of text a model is shown, fenced from its instructions; a quote -> where it is in a text.

The mark that opens a block, and so ends the one before, is made from everything inside all blocks, and is checked to
occur in none of them: a text would have to contain its own hash to end its block. Tokens by which servers mark the
turns of a chat are broken, since a server that reads them in a message would end the turn there.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import count

from touchstone.core.case import Case
from touchstone.core.policy import Policy
from touchstone.core.reading import Span

NO_POLICY = Policy()
# Enough to be no word of its own; that no text holds it is checked.
_MARK_LENGTH = 8
# Turn marks of common chat formats: <|im_end|>, <｜User｜>, <s>, </s>, <start_of_turn>, [INST], [/INST], <<SYS>>.
_TURN_MARK = re.compile(
    r"<(?=[|｜<])|<(?=/?(?:s|bos|eos|unk|pad|mask|sep|think|tool_call|\w{1,20}_of_\w{1,20})>)|\[(?=/?[A-Z_]{3,24}\])",
    re.IGNORECASE,
)
_BROKEN = {"<": "‹", "[": "⁅"}
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
# How a model may type what it quotes.
_SAME: Mapping[str, str] = {
    **dict.fromkeys("‘’‚‛′`´", "'"),
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‐‑‒–—―−", "-"),
    "‹": "<",
    "⁅": "[",
    "｜": "|",
}
_IGNORED = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_CUT = re.compile(r"\s*(?:\[?(?:…|\.{3,})\]?)\s*")
_QUOTATION = "\"'“”‘’«»"
# Shorter quotes are found anywhere and prove nothing.
SHORTEST = 3


@dataclass(frozen=True, slots=True)
class Block:
    """One text of others under the name the prompt calls it by."""

    name: str
    text: str


def blocks_of(case: Case, *, policy: Policy = NO_POLICY) -> tuple[Block, ...]:
    """Everything of the case that the model sees, the reply last. Labels, confidence and metadata stay behind."""
    turns = [(f"earlier turn {at + 1} ({turn.role})", turn.content) for at, turn in case.earlier_turns]
    blocks = [Block(" ".join(name.split())[:60], text) for name, text in turns]
    if case.question:
        blocks.append(Block("customer's message", case.question))
    if case.context is not None:
        blocks += [Block(f"source {at}", passage.text) for at, passage in enumerate(case.context, start=1)]
        if not case.context:
            blocks.append(Block("sources", "(retrieval found nothing)"))
    if case.expected_output:
        blocks.append(Block("expected reply", case.expected_output))
    if policy != NO_POLICY:
        blocks.append(Block("company policy", json.dumps(asdict(policy), ensure_ascii=False)))
    return (*blocks, Block("reply", case.response))


def fence_for(blocks: Sequence[Block]) -> str:
    """The mark for these blocks: the same for the same blocks, and in none of them."""
    whole = "\0".join(f"{block.name}\0{block.text}" for block in blocks)
    folded = [block.text.casefold() for block in blocks]
    digests = (
        hashlib.sha256(f"{salt}\0{whole}".encode("utf-8", "surrogatepass")).hexdigest()[:_MARK_LENGTH]
        for salt in count()
    )
    return next(f"#{digest}" for digest in digests if not any(digest in text for text in folded))


def fenced(blocks: Sequence[Block], *, fence: str) -> str:
    """The blocks one after another, each below its mark."""
    return "\n".join(f"{fence} {block.name}\n{defused(block.text)}" for block in blocks)


def defused(text: str) -> str:
    """The text without turn marks and lone surrogates; every character keeps its place."""
    return _LONE_SURROGATE.sub("\ufffd", _TURN_MARK.sub(lambda mark: _BROKEN[mark[0]], text))


@dataclass(frozen=True, slots=True)
class Folded:
    """A text as quotes are looked up in it, with each character's place in the text as given."""

    text: str
    places: tuple[int, ...]

    def locate(self, quote: str) -> Span | None:
        """Where the quote is; one cut with "…" is where its pieces are, in their order."""
        bare = quote.strip()
        while len(bare) > 1 and bare[0] in _QUOTATION and bare[-1] in _QUOTATION:
            bare = bare[1:-1].strip()
        pieces = [piece for piece in (fold(part).text.strip() for part in _CUT.split(bare)) if piece]
        if sum(map(len, pieces)) < SHORTEST:
            return None
        first, at = -1, 0
        for piece in pieces:
            found = self.text.find(piece, at)
            if found < 0:
                return None
            first = found if first < 0 else first
            at = found + len(piece)
        return Span(self.places[first], self.places[at - 1] + 1)


def fold(text: str) -> Folded:
    """Case folded, white space as single spaces, quotation marks and dashes of one kind."""
    letters: list[str] = []
    places: list[int] = []
    for place, given in enumerate(text):
        if given in _IGNORED:
            continue
        for letter in " " if given.isspace() else _SAME.get(given, given).casefold():
            if letter == " " and (not letters or letters[-1] == " "):
                continue
            letters.append(letter)
            places.append(place)
    return Folded("".join(letters), tuple(places))
