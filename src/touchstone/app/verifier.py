"""A directory -> the verifier in it, and how well that tells right sentences from wrong ones on labelled rows."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

from pydantic import BaseModel, Field, ValidationError

from touchstone.clients.verifier import open_verifier
from touchstone.core.case import Case, Passage
from touchstone.core.errors import InputError
from touchstone.core.plan import Plan
from touchstone.evidence.check import check
from touchstone.evidence.verification import Verifier, verify
from touchstone.safety.detectors import doubts
from touchstone.text.reading import read

# In a checkout of Touchstone; the rows are not part of the installed package.
ROWS = "data/verifier"
FORM = '{"passages": ["text", …], "rows": [["supported", "paraphrase", "a sentence of a reply"], …]}'
PRECISION = 0.9
# In drafts a wrong sentence is rarer than among rows written to be distinguished.
RARE = 0.1
WRONG = ("contradicted", "invented")
Label = Literal["supported", "contradicted", "invented", "no_claim"]


def find_verifier(directory: str | None) -> Verifier | None:
    """The verifier in the directory, or None where none is asked for; ResourceError when it cannot be used."""
    if directory is None:
        return None
    return open_verifier(str(Path(directory).resolve()))


def verifier_name(directory: str | None) -> str | None:
    """The verifier as receipts and manifests name it, wherever it lies: name, version and the hash of its files."""
    verifier = find_verifier(directory)
    return None if verifier is None else str(verifier.card)


class SentenceRow(NamedTuple):
    """A sentence of a reply, what people say of it, and the kind of case it is."""

    label: Label
    kind: str
    sentence: str


class SentenceGroup(BaseModel):
    """Sentences that share their passages: one line of a file."""

    passages: Annotated[list[str], Field(min_length=1)]
    rows: list[SentenceRow]


@dataclass(frozen=True, slots=True)
class Area:
    """How surely the model doubts a wrong sentence of this kind more than a supported one."""

    kind: str
    sentences: int
    auc: float | None


@dataclass(frozen=True, slots=True)
class Cut:
    """The lowest confidence from which on `PRECISION` of the findings are right, if there is one.

    `wrong_share` is the share of wrong sentences this holds for: that of the rows, or fewer.
    """

    wrong_share: float
    cut: float | None
    findings: int
    right: int
    wrong: int


@dataclass(frozen=True, slots=True)
class Measured:
    """A verifier by its areas, all wrong sentences first, and its cuts."""

    verifier: str
    sentences: int
    supported: int
    areas: tuple[Area, ...]
    cuts: tuple[Cut, ...]


def read_groups(files: Sequence[str]) -> list[SentenceGroup]:
    """The labelled rows of the files, or those of a checkout where none is named."""
    paths = [Path(file) for file in files] or sorted(Path(ROWS).glob("*.jsonl"))
    if not paths:
        raise InputError(f"there are no rows in {ROWS}: name files with --data, with lines such as {FORM}")
    return [group for path in paths for group in _groups(path)]


def _groups(path: Path) -> Iterator[SentenceGroup]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read ({type(error).__name__}): name a file with --data") from error
    for number, line in enumerate(lines, 1):
        try:
            yield SentenceGroup.model_validate_json(line)
        except ValidationError as error:
            where = ".".join(map(str, error.errors(include_url=False)[0]["loc"])) or "the line"
            raise InputError(f"{path}:{number}: {where} cannot be used: a line is {FORM}") from None


def measure(verifier: Verifier, groups: Sequence[SentenceGroup]) -> Measured:
    """Every row read as the only sentence of a reply, by the same way as replies are."""
    seen = [each for group in groups for each in _seen(group, verifier)]
    supported = sorted(each.doubt for each in seen if each.row.label == "supported")
    kinds: dict[str, list[float]] = {"wrong": []}
    for each in sorted(filter(lambda each: each.is_wrong, seen), key=lambda each: each.row):
        for kind in ("wrong", each.row.label, f"{each.row.label}: {each.row.kind}"):
            kinds.setdefault(kind, []).append(each.doubt)
    areas = tuple(Area(kind, len(found), _auc(supported, found)) for kind, found in kinds.items())
    cuts = tuple(_cut(seen, wrong_share=share) for share in (len(kinds["wrong"]) / max(1, len(seen)), RARE))
    return Measured(str(verifier.card), len(seen), len(supported), areas, cuts)


class _Seen(NamedTuple):
    """A row with the model's doubt, and the confidence of the finding it would be, 0 where it would be none."""

    row: SentenceRow
    doubt: float
    confidence: float

    @property
    def is_wrong(self) -> bool:
        return self.row.label in WRONG


def _seen(group: SentenceGroup, verifier: Verifier) -> Iterator[_Seen]:
    passages = tuple(Passage(text) for text in group.passages)
    for row in group.rows:
        reading = read(Case(response=row.sentence, context=passages))
        found = verify(reading, check(reading, plan=Plan()), verifier=verifier)
        assert found is not None
        doubt = max((each.chances.doubt for each in found.statements if each.chances), default=0.0)
        confidence = max((each.confidence or 0.0 for each in doubts(found, reading.claims)), default=0.0)
        yield _Seen(row, doubt, confidence)


def _auc(supported: Sequence[float], doubted: Sequence[float]) -> float | None:
    """The chance that a doubted sentence has the higher doubt; ties count half. `supported` is in order."""
    if not supported or not doubted:
        return None
    below = sum(bisect_left(supported, doubt) + bisect_right(supported, doubt) for doubt in doubted)
    return round(below / 2 / len(supported) / len(doubted), 4)


def _cut(seen: Sequence[_Seen], *, wrong_share: float) -> Cut:
    """Rows weigh as if so many sentences were wrong; all that have one confidence are findings together."""
    wrong = sum(each.is_wrong for each in seen)
    weight = {True: wrong_share / max(1, wrong), False: (1 - wrong_share) / max(1, len(seen) - wrong)}
    best, share, right, findings = Cut(wrong_share, None, 0, 0, wrong), 0.0, 0, 0
    ordered = sorted((each for each in seen if each.confidence > 0), key=lambda each: -each.confidence)
    for at, each in enumerate(ordered):
        findings, right = findings + 1, right + each.is_wrong
        share += weight[each.is_wrong]
        is_last = at + 1 == len(ordered) or ordered[at + 1].confidence < each.confidence
        if is_last and right * weight[True] >= PRECISION * share > 0:
            best = Cut(wrong_share, each.confidence, findings, right, wrong)
    return best
