"""Public set of personal data -> how much of it is recognised, and in what time, beside Presidio with the same parser.

Only the kinds whose telling is a leak count: names, street addresses, phones, e-mails, cards, IBANs, identity numbers
and IP addresses. The set also marks organisations, places, titles, ages, dates and domains: what is found there counts
neither way.
"""

from collections.abc import Callable, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from benchmarks.cases import DATA, rows
from benchmarks.clock import each
from benchmarks.record import write
from touchstone.core.resource import PARSER
from touchstone.safety.personal_data.recognise import recognise
from touchstone.text.normalise import normalise

GOLD_KINDS = {
    "PERSON": "name",
    "STREET_ADDRESS": "address",
    "PHONE_NUMBER": "phone",
    "EMAIL_ADDRESS": "email",
    "CREDIT_CARD": "card",
    "IBAN_CODE": "iban",
    "US_SSN": "national_id",
    "US_DRIVER_LICENSE": "national_id",
    "IP_ADDRESS": "ip",
}
# Presidio knows places, not street addresses: a place it finds inside an address counts as the address found.
PRESIDIO_KINDS = GOLD_KINDS | {"LOCATION": "address", "UK_NHS": "national_id", "US_ITIN": "national_id"}
PRESIDIO_KINDS |= {"US_PASSPORT": "national_id", "UK_NINO": "national_id"}
# Kinds the set does not mark as leaks, or marks as something else; Presidio's finds there are not held against it.
NOT_COUNTED = ("DATE_TIME", "NRP", "URL", "ORGANIZATION", "AGE", "MEDICAL_LICENSE", "US_BANK_NUMBER", "CRYPTO")
OURS_NOT_COUNTED = ("birth_date", "account", "secret", "plate")
ROUNDS = 3


class Marked(NamedTuple):
    """A stretch of a text and its kind; `""` is a kind that is no leak."""

    start: int
    end: int
    kind: str

    def touches(self, other: "Marked") -> bool:
        return self.start < other.end and other.start < self.end


Find = Callable[[str], list[Marked]]


def run() -> None:
    """Write results/pii.json; without the set or without Presidio the committed figures stay as they are."""
    path = DATA / "pii.jsonl"
    if not path.exists():
        print(f"pii: skipped, {path.name} is not in the data folder; set TOUCHSTONE_DATA to where it is", flush=True)
        return
    table = rows(path)
    texts = [row["response"] for row in table]
    gold = [
        [Marked(start, end, GOLD_KINDS.get(kind, "")) for start, end, kind in row["gold"]["spans"]] for row in table
    ]
    figures = {"touchstone": _figures("touchstone", _ours, texts, gold)}
    presidio = _presidio()
    if presidio is None:
        print("presidio: skipped, presidio-analyzer is not installed; results/pii.json is left as it is", flush=True)
        return
    figures["presidio"] = _figures("presidio", presidio, texts, gold)
    times = {name: part["ms_per_text"]["mean"] for name, part in figures.items()}
    write("pii", {"texts": len(texts), "times_faster": times["presidio"] / times["touchstone"], **figures})


def _figures(name: str, find: Find, texts: Sequence[str], gold: Sequence[list[Marked]]) -> dict[str, Any]:
    find(texts[0])
    found = [find(text) for text in texts]
    spent = [median(times) for times in zip(*(each(find, texts) for _ in range(ROUNDS)), strict=True)]
    kinds = sorted({mark.kind for marks in gold for mark in marks if mark.kind})
    overlap = _rates(found, gold, same=_same_kind)
    figures = {
        "overlap": overlap,
        # Presidio has no recogniser of street addresses.
        "overlap_without_addresses": _rates(_less(found, "address"), _less(gold, "address"), same=_same_kind),
        "exact": _rates(found, gold, same=lambda one, other: one == other),
        "any_kind": _rates(found, gold, same=lambda one, other: one.touches(other)),
        "overlap_by_kind": {kind: _rates(_of(found, kind), _of(gold, kind), same=Marked.touches) for kind in kinds},
        "ms_per_text": {"mean": fmean(spent), "median": median(spent), "worst": max(spent)},
    }
    print(f"{name}: overlap F1 {overlap['f1']:.3f}, exact F1 {figures['exact']['f1']:.3f}", end="")
    print(f", {fmean(spent):.2f} ms a text", flush=True)
    return figures


def _same_kind(one: Marked, other: Marked) -> bool:
    return one.touches(other) and one.kind == other.kind


def _less(marks: Sequence[list[Marked]], kind: str) -> list[list[Marked]]:
    return [[mark._replace(kind="") if mark.kind == kind else mark for mark in row] for row in marks]


def _of(marks: Sequence[list[Marked]], kind: str) -> list[list[Marked]]:
    """One kind; all others become marks that count neither way."""
    return [[mark if mark.kind == kind else mark._replace(kind="") for mark in row] for row in marks]


def _rates(
    found: Sequence[list[Marked]], gold: Sequence[list[Marked]], *, same: Callable[[Marked, Marked], bool]
) -> dict[str, Any]:
    """Share of the marked data found, share of the finds that are marked, and their harmonic mean."""
    marked = hit = counted = right = 0
    for ours, theirs in zip(found, gold, strict=True):
        leaks, finds = [mark for mark in theirs if mark.kind], [mark for mark in ours if mark.kind]
        marked += len(leaks)
        hit += sum(any(same(find, leak) for find in finds) for leak in leaks)
        for find in finds:
            is_right = any(same(find, leak) for leak in leaks)
            no_leak = any(find.touches(mark) for mark in theirs if not mark.kind)
            counted += is_right or not no_leak
            right += is_right
    recall, precision = hit / marked if marked else 0.0, right / counted if counted else 0.0
    f1 = 2 * recall * precision / (recall + precision) if recall + precision else 0.0
    return {"recall": recall, "precision": precision, "f1": f1, "marked": marked, "found": counted}


def _ours(text: str) -> list[Marked]:
    normalise.cache_clear()
    recognise.cache_clear()
    normal = normalise(text)
    data = [datum for datum in recognise(normal.text) if datum.kind not in OURS_NOT_COUNTED]
    return [Marked(*normal.span(datum.start, datum.end), datum.kind) for datum in data]


def _presidio() -> Find | None:
    """Presidio's analyzer with all its recognisers for English and our parser's model, entity recognition included."""
    try:
        from presidio_analyzer import AnalyzerEngine
        from presidio_analyzer.nlp_engine import NlpEngineProvider
    except ImportError:
        return None
    models = [{"lang_code": "en", "model_name": PARSER}]
    engine = NlpEngineProvider(nlp_configuration={"nlp_engine_name": "spacy", "models": models}).create_engine()
    analyzer = AnalyzerEngine(nlp_engine=engine, supported_languages=["en"])

    def find(text: str) -> list[Marked]:
        results = analyzer.analyze(text, language="en")
        counted = [result for result in results if result.entity_type not in NOT_COUNTED]
        return [Marked(r.start, r.end, PRESIDIO_KINDS.get(r.entity_type, r.entity_type)) for r in counted]

    return find
