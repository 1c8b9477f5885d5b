"""Labelled replies -> src/touchstone/data/wording.json: how much each run of words speaks for a kind of violation.

    make fit-wording

A ridge-penalised logistic regression over the runs of each sentence. Every figure and both cuts come from leaving one
file of replies out at a time: files differ in domains and in who wrote them. The second tables and the gold sets are
never fitted on. Reads some 16,000 replies: ten minutes.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.result import ViolationKind
from touchstone.evidence.check import check
from touchstone.safety.detectors import DETECTORS
from touchstone.safety.wording.opinion import ARGUABLE, NEEDS_SOURCE
from touchstone.safety.wording.runs import worded
from touchstone.safety.wording.weights import FILE, Weights
from touchstone.text.reading import read

ROOT = Path(__file__).parent.parent
REPLIES, TABLES, SENTENCES = ROOT / "data/wording", ROOT / "tests/tables", ROOT / "data/verifier"
TARGET = ROOT / "src/touchstone/data" / FILE
KINDS: dict[str, ViolationKind] = {
    "harm": "harmful_content",
    "promise": "unauthorized_promise",
    "competitor": "competitor_recommendation",
    "pii": "pii_leakage",
}
ORDINARY = "ordinary"
BARE = " without sources"
SOUND = frozenset({"supported", "no_claim"})
PENALTY = 10.0
LEAST_OFTEN = 3
KEPT = 5000
DIGITS = 2
# Share of sound look-alikes that wording alone may accuse, and of the rules' right but arguable findings it may drop.
FALSE_ALARMS = 0.01
DROPPED = 0.1
Array = NDArray[np.float64]


class Given(NamedTuple):
    """A labelled reply as it is written down: where it is from, its kinds of violation, and the words that violate."""

    source: str
    case: Case
    kinds: frozenset[str]
    spans: Sequence[str]


@dataclass(frozen=True, slots=True)
class Reply:
    """A labelled reply: each sentence's runs, whether it violates, and what the rules find, surely or arguably."""

    source: str
    kinds: frozenset[str]
    runs: tuple[frozenset[str], ...]
    violates: tuple[bool, ...]
    surely: tuple[frozenset[str], ...]
    arguably: tuple[frozenset[str], ...]

    @property
    def series(self) -> str:
        """What the file was written for: harm-a is of the series harm; a table is of none."""
        return self.source.rpartition("-")[0]

    @property
    def is_bare(self) -> bool:
        return self.source.endswith(BARE)

    def is_found(self, kind: str) -> bool:
        return any(kind in found for found in (*self.surely, *self.arguably))


def main() -> None:
    given = [*written(), *tabled(), *sentences()]
    with ProcessPoolExecutor() as pool:
        replies = list(pool.map(labelled, chain(given, map(bare, given)), chunksize=100))
    kinds: dict[str, Any] = {}
    for name, kind in KINDS.items():
        usable = [reply for reply in replies if not (reply.is_bare and kind in NEEDS_SOURCE)]
        kinds[kind] = fit_kind(name, kind, usable)
        sys.stdout.write(f"{kind}: {kinds[kind]['held_out']}\n")
    counts = Counter(reply.source for reply in replies)
    result = {
        "fitted_on": dict(sorted(counts.items())),
        "method": f"logistic regression, C {PENALTY:g}, runs in {LEAST_OFTEN} sentences or more, the {KEPT} heaviest",
        "kinds": kinds,
    }
    TARGET.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def fit_kind(name: str, kind: ViolationKind, replies: Sequence[Reply]) -> dict[str, Any]:
    """One kind's weights and cuts, with what leaving files out shows of them."""
    own = [reply for reply in replies if reply.source.startswith(name)]
    # Sound replies written for another kind may hold this one: of these only the tables are read twice.
    sound = [
        reply
        for reply in replies
        if not reply.kinds and reply.series not in KINDS and not reply.source.startswith(name)
    ]
    files = sorted({reply.source.removesuffix(BARE) for reply in own if reply.series == name})
    held: list[Reply] = []
    scores: list[list[float]] = []
    for left_out in (*files, ORDINARY):
        kept = [reply for reply in (*own, *sound) if not reply.source.startswith(left_out)]
        weights = Weights(0, None, fit(kept, kind))
        tried = [reply for reply in (*own, *sound) if reply.source.startswith(left_out)]
        held += tried
        scores += [[weights.score(runs) for runs in reply.runs] for reply in tried]
    alone, beside = cuts(held, scores, kind)
    return {
        "alone": alone,
        "beside": beside,
        "held_out": figures(held, scores, kind, Weights(alone, beside, {})),
        "weights": fit([*own, *sound], kind),
    }


def fit(replies: Sequence[Reply], kind: str) -> dict[str, float]:
    """Runs and weights, those that speak most for a violation first."""
    runs = [run for reply in replies for run in reply.runs]
    violates = [kind in reply.kinds and wrong for reply in replies for wrong in reply.violates]
    often = Counter(run for sentence in runs for run in sentence)
    known = sorted(run for run, times in often.items() if times >= LEAST_OFTEN)
    place = {run: at for at, run in enumerate(known)}
    table = _table(runs, place)
    model = LogisticRegression(C=PENALTY, fit_intercept=False, class_weight="balanced", max_iter=3000, tol=1e-6)
    weights = model.fit(table, violates).coef_[0]
    heaviest = sorted(zip(known, weights, strict=True), key=lambda one: (-abs(one[1]), one[0]))[:KEPT]
    return {run: round(float(weight), DIGITS) for run, weight in sorted(heaviest, key=lambda one: (-one[1], one[0]))}


def _table(runs: Sequence[frozenset[str]], place: dict[str, int]) -> csr_matrix:
    """A row for each sentence; the more runs it has, the less each counts."""
    columns = [sorted(place[run] for run in sentence if run in place) for sentence in runs]
    cells = [len(sentence) ** -0.5 for sentence, found in zip(runs, columns, strict=True) for _ in found]
    ends = np.cumsum([0, *map(len, columns)])
    return csr_matrix((cells, [at for found in columns for at in found], ends), shape=(len(runs), len(place)))


def cuts(held: Sequence[Reply], scores: Sequence[Sequence[float]], kind: str) -> tuple[float, float | None]:
    """Where wording makes a finding of its own, and where a rule's finding falls."""
    hard = [
        max(scored, default=0.0)
        for reply, scored in zip(held, scores, strict=True)
        if not reply.kinds and reply.series != ORDINARY
    ]
    right = [
        max(score for score, found in zip(scored, reply.arguably, strict=True) if kind in found)
        for reply, scored in zip(held, scores, strict=True)
        if kind in reply.kinds and any(kind in found for found in reply.arguably)
    ]
    alone = round(float(np.quantile(hard, 1 - FALSE_ALARMS)), DIGITS)
    return alone, round(float(np.quantile(right, DROPPED)), DIGITS) if right else None


def figures(held: Sequence[Reply], scores: Sequence[Sequence[float]], kind: str, weights: Weights) -> dict[str, Any]:
    """Recall and false alarms of the rules, and of rules and wording together, on files left out."""
    together = [_is_finding(reply, scored, kind, weights) for reply, scored in zip(held, scores, strict=True)]
    by_rules = [reply.is_found(kind) for reply in held]
    groups = {
        "recall": [kind in reply.kinds and not reply.is_bare for reply in held],
        "false_alarms": [not reply.kinds and reply.series != ORDINARY and not reply.is_bare for reply in held],
        "false_alarms_ordinary": [reply.series == ORDINARY and not reply.is_bare for reply in held],
        "recall_bare": [kind in reply.kinds and reply.is_bare for reply in held],
        "false_alarms_bare": [not reply.kinds and reply.series != ORDINARY and reply.is_bare for reply in held],
        "false_alarms_ordinary_bare": [reply.series == ORDINARY and reply.is_bare for reply in held],
    }
    labelled = [at for at, reply in enumerate(held) if reply.series != ORDINARY and not reply.is_bare]
    top = [max(scores[at], default=0.0) for at in labelled]
    return {
        "replies": {group: sum(members) for group, members in groups.items()},
        "auc": round(float(roc_auc_score([kind in held[at].kinds for at in labelled], top)), 3),
        "rules": {group: _share(by_rules, members) for group, members in groups.items()},
        "together": {group: _share(together, members) for group, members in groups.items()},
    }


def _is_finding(reply: Reply, scored: Sequence[float], kind: str, weights: Weights) -> bool:
    return any(
        score >= weights.alone or kind in sure or (kind in doubtful and score >= (weights.beside or 0.0))
        for score, sure, doubtful in zip(scored, reply.surely, reply.arguably, strict=True)
    )


def _share(found: Sequence[bool], members: Sequence[bool]) -> float:
    return round(sum(f for f, m in zip(found, members, strict=True) if m) / max(1, sum(members)), 3)


def written() -> Iterator[Given]:
    """The replies of data/wording."""
    for path in sorted(REPLIES.glob("*.jsonl")):
        kind = KINDS.get(path.stem.rpartition("-")[0])
        for situation in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            for reply in situation["replies"]:
                case = Case(input=situation["input"], response=reply["text"], context=situation["context"] or None)
                kinds = frozenset({kind} if kind and reply["violation"] else ())
                yield Given(path.stem, case, kinds, [reply["span"]] if reply["span"] else [])


def tabled() -> Iterator[Given]:
    """The first tables and the development tables of the detectors."""
    for name, kind in (*KINDS.items(), ("hallucination", "hallucination")):
        for table in ("", "_development"):
            for line in (TABLES / f"detector_{kind}{table}.jsonl").read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                context = [row["context"]] if isinstance(row["context"], str) else row["context"]
                case = Case(
                    input=row["input"],
                    response=row["response"],
                    context=context or None,
                    expected_output=row.get("expected_output"),
                )
                kinds = frozenset({kind} if row["violation"] else ())
                yield Given(f"{name} table{table}", case, kinds, row["spans"])


def sentences() -> Iterator[Given]:
    """The sound sentences of data/verifier."""
    for path in sorted(SENTENCES.glob("*.jsonl")):
        for group in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            for label, _, sentence in group["rows"]:
                if label in SOUND:
                    case = Case(input="", response=sentence, context=group["passages"])
                    yield Given("sentences", case, frozenset(), [])


def bare(given: Given) -> Given:
    """The same reply where no source is at hand, so that their absence speaks neither for nor against."""
    return given._replace(case=replace(given.case, context=None, expected_output=None), source=f"{given.source}{BARE}")


def labelled(given: Given) -> Reply:
    """A reply as it is fitted on; without a marked span every sentence of a violating reply counts as one."""
    reading = read(given.case)
    anchors = check(reading, plan=Plan())
    found = [violation for detect in DETECTORS for violation in detect(reading, anchors, policy=Policy())]
    surely = [violation for violation in found if violation.reason not in ARGUABLE]
    arguably = [violation for violation in found if violation.reason in ARGUABLE]
    raw = reading.reply.raw
    marked = [(raw.find(span), raw.find(span) + len(span)) for span in given.spans if span in raw]
    pieces = worded(reading, anchors, policy=Policy())
    places = [(piece.sentence.start, piece.sentence.end) for piece in pieces]
    return Reply(
        given.source,
        given.kinds,
        tuple(piece.runs for piece in pieces),
        tuple(not marked or any(a < end and start < b for a, b in marked) for start, end in places),
        *(
            tuple(frozenset(v.kind for v in part if v.start < end and start < v.end) for start, end in places)
            for part in (surely, arguably)
        ),
    )


if __name__ == "__main__":
    main()
