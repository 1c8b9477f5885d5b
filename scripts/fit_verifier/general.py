"""General entailment sets, kept outside the repository -> pairs: hypothesis as the sentence, premise as evidence."""

from collections.abc import Iterator

from benchmarks.cases import DATA, rows
from scripts.fit_verifier.pairs import CLAIMS, CONTRADICTED, NOT_STATED, SUPPORTED, UNSUPPORTED, Pair

FOLDER = DATA.parent / "nli"
LICENCES = {
    "mnli": "OANC and Creative Commons licences",
    "snli": "CC-BY-SA-4.0",
    "scitail": "Apache-2.0",
    "rte": "research release (GLUE)",
}
RIGHT = {
    "entailment": (SUPPORTED,),
    "contradiction": (CONTRADICTED,),
    "neutral": (NOT_STATED,),
    # Two sets fold what does not follow into one label.
    "not_entailment": UNSUPPORTED,
}


def general_pairs() -> Iterator[Pair]:
    """Every labelled pair of the sets."""
    for name in LICENCES:
        for row in rows(FOLDER / f"{name}.jsonl"):
            if row["label"] in RIGHT:
                yield Pair(row["hypothesis"], row["premise"], RIGHT[row["label"]], CLAIMS, name)
