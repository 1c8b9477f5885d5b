"""Sources that list cases by name -> findings: the reply gives one case what stands only under another.

`Day package: pool, lunch, robe. Twilight: pool only.` A reply that says `Twilight comes with lunch` names one case and
what belongs to its neighbour.
"""

from collections.abc import Iterator, Sequence

from touchstone.core.reading import Reading, Sentence, Text
from touchstone.core.result import Evidence
from touchstone.evidence.places import in_value, token_range
from touchstone.safety.fabrication.findings import Finding, Known, content, group, is_question, words_between
from touchstone.safety.fabrication.listing import Segment

# A sentence with one of these denies, compares or joins cases.
APART = frozenset(
    "not no never cannot without only unlike than whereas while but or nor neither either instead rather both less "
    "more most least nothing none nobody if unless until before after".split()
)
MAX_SENTENCES = 100
# A listed case that is this long is a section, not a case.
MAX_CASE = 400


def items(reading: Reading, known: Known) -> Iterator[Finding]:
    """One finding for each sentence that names one case and something that only a neighbouring case holds."""
    reply = reading.reply
    short = [case for case in known.cases if case.end - case.start < MAX_CASE]
    listed = [(source, [case for case in short if case.source is source]) for source in known.contexts]
    listed = [(source, cases) for source, cases in listed if len(cases) > 1]
    if not listed:
        return
    for sentence in reply.sentences[:MAX_SENTENCES]:
        words = words_between(reply, sentence.start, sentence.end)
        if is_question(reply, sentence) or any(word in APART or word.endswith("n't") for word in words):
            continue
        for source, cases in listed:
            if found := _misplaced(reply, sentence, source, cases, known):
                yield found
                break


def _misplaced(reply: Text, sentence: Sentence, source: Text, cases: Sequence[Segment], known: Known) -> Finding | None:
    said = content(reply, sentence.start, sentence.end)
    own = [case for case in cases if case.name <= said]
    if len(own) != 1:
        return None
    others = [case for case in cases if case is not own[0] and not (case.name & own[0].name or case.name & said)]
    units = {t.term for t in reply.tokens[sentence.first : sentence.last] if in_value(reply, t.start)}
    foreign = [
        t for t in said - own[0].name - units if t not in group("general") and _is_only_in(t, source, others, known)
    ]
    shared = said & content(source, own[0].start, own[0].end) - own[0].name
    if not foreign or shared:
        return None
    shown = source.raw[own[0].start : own[0].end].strip()
    first, last = token_range(reply, sentence.start, sentence.end)
    token = next(t for t in reply.tokens[first:last] if t.term in foreign)
    evidence = Evidence(source.name, own[0].start, own[0].end, shown)
    return Finding(token.start, token.end, 1.0, f"the source says otherwise (case): {shown}", (evidence,))


def _is_only_in(wanted: str, source: Text, others: Sequence[Segment], known: Known) -> bool:
    """Whether every place of a term lies under one of the other names of this source."""
    if any(wanted in text.positions for text in known.sources if text is not source):
        return False
    places = source.positions.get(wanted, ())
    return bool(places) and all(
        any(case.start <= source.tokens[at].start < case.end for case in others) for at in places
    )
