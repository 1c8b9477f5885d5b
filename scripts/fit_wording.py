"""Labelled replies -> src/touchstone/data/wording.json: how much each run of words speaks for a kind of violation.

    make fit-wording

A ridge-penalised logistic regression over the runs of each sentence. The figures come from leaving one file of replies
out at a time: files differ in domains and in who wrote them. The second tables and the labelled sets are never fitted
on. Reads some 16,000 replies, each with and without its sources: ten minutes.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import chain
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_matrix
from scripts.labelled import DATA, ROOT
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from touchstone.core.case import Case
from touchstone.core.plan import Plan
from touchstone.core.policy import Policy
from touchstone.core.result import ViolationKind
from touchstone.evidence.check import anchors_of, check
from touchstone.safety.ngrams import ngrams_of
from touchstone.safety.wording import FILE
from touchstone.text.frame import body_of
from touchstone.text.reading import read

REPLIES, TABLES, SENTENCES = ROOT / "data/wording", ROOT / "tests/tables", ROOT / "data/verifier"
KINDS: Mapping[str, ViolationKind] = {
    "harm": "harmful_content",
    "promise": "unauthorized_promise",
    "competitor": "competitor_recommendation",
    "pii": "pii_leakage",
}
# Whether a promise is one too many only sources tell.
NEEDS_SOURCE = frozenset({"unauthorized_promise"})
ORDINARY = "ordinary"
BARE = " without sources"
SOUND = frozenset({"supported", "no_claim"})
PENALTY = 10.0
LEAST_OFTEN = 3
KEPT = 5000
DIGITS = 2


class Given(NamedTuple):
    """A labelled reply as it is written down: where it is from, its kinds of violation, and the words that violate."""

    source: str
    case: Case
    kinds: frozenset[str]
    spans: Sequence[str]


class Reply(NamedTuple):
    """A labelled reply: the runs of each sentence, and whether it violates."""

    source: str
    kinds: frozenset[str]
    runs: tuple[frozenset[str], ...]
    violates: tuple[bool, ...]

    @property
    def series(self) -> str:
        """What the file was written for: harm-a is of the series harm; a table is of none."""
        return self.source.rpartition("-")[0]

    @property
    def is_bare(self) -> bool:
        return self.source.endswith(BARE)


def main() -> None:
    given = [*written(), *tabled(), *sentences()]
    with ProcessPoolExecutor() as pool:
        replies = list(pool.map(labelled, chain(given, map(bare, given)), chunksize=100))
    (DATA / FILE).write_text(json.dumps(fit_kinds(replies), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sys.stdout.write(f"written to {FILE}\n")


def fit_kinds(replies: Sequence[Reply]) -> dict[str, Any]:
    """The file's content: what it was fitted on, and the weights of every kind."""
    kinds: dict[str, Any] = {}
    for name, kind in KINDS.items():
        usable = [reply for reply in replies if not (reply.is_bare and kind in NEEDS_SOURCE)]
        kinds[kind] = fit_kind(name, kind, usable)
        sys.stdout.write(f"{kind}: {kinds[kind]['held_out']}\n")
    return {
        "fitted_on": dict(sorted(Counter(reply.source for reply in replies).items())),
        "method": f"logistic regression, C {PENALTY:g}, runs in {LEAST_OFTEN} sentences or more, the {KEPT} heaviest",
        "kinds": kinds,
    }


def fit_kind(name: str, kind: ViolationKind, replies: Sequence[Reply]) -> dict[str, Any]:
    """One kind's weights, with what leaving files out shows of them."""
    own = [reply for reply in replies if reply.source.startswith(name)]
    # Sound replies written for another kind may hold this one: of these only the tables are read twice.
    sound = [
        reply
        for reply in replies
        if not reply.kinds and reply.series not in KINDS and not reply.source.startswith(name)
    ]
    held: list[tuple[Reply, float]] = []
    for left_out in sorted({reply.source for reply in own if reply.series == name and not reply.is_bare}):
        weights = fit([reply for reply in (*own, *sound) if not reply.source.startswith(left_out)], kind)
        held += [(reply, highest(reply, weights)) for reply in own if reply.source == left_out]
    return {"held_out": figures(held, kind), "weights": fit([*own, *sound], kind)}


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


def _table(runs: Sequence[frozenset[str]], place: Mapping[str, int]) -> csr_matrix:
    """A row for each sentence; the more runs it has, the less each counts."""
    columns = [sorted(place[run] for run in sentence if run in place) for sentence in runs]
    cells = [len(sentence) ** -0.5 for sentence, found in zip(runs, columns, strict=True) for _ in found]
    ends = np.cumsum([0, *map(len, columns)])
    return csr_matrix((cells, [at for found in columns for at in found], ends), shape=(len(runs), len(place)))


def highest(reply: Reply, weights: Mapping[str, float]) -> float:
    """The score of the sentence that is worded most like a violation."""
    return max([_score(runs, weights) for runs in reply.runs], default=0.0)


def _score(runs: frozenset[str], weights: Mapping[str, float]) -> float:
    return fsum(weights[run] for run in runs & weights.keys()) * len(runs) ** -0.5


def figures(held: Iterable[tuple[Reply, float]], kind: str) -> dict[str, Any]:
    """How well the highest score tells violating replies from sound ones of files left out."""
    pairs = [(kind in reply.kinds, score) for reply, score in held]
    violating = sum(violates for violates, _ in pairs)
    auc = roc_auc_score(*zip(*pairs, strict=True))
    return {"auc": round(float(auc), 3), "violating": violating, "sound": len(pairs) - violating}


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
    """A reply as the detectors see it; without a marked span every sentence of a violating reply counts as one."""
    reading = read(given.case)
    body = body_of(reading)
    raw = reading.reply.raw
    marked = [(raw.find(span), raw.find(span) + len(span)) for span in given.spans if span in raw]
    pieces = ngrams_of(body, anchors_of(body, check(reading, plan=Plan())), policy=Policy())
    return Reply(
        given.source,
        given.kinds,
        tuple(piece.ngrams for piece in pieces),
        tuple(not marked or any(a < s.end and s.start < b for a, b in marked) for s, _ in pieces),
    )


if __name__ == "__main__":
    main()
