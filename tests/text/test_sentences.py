"""Sentences end at end marks, line breaks and list items, and not at abbreviations or inside figures."""

from tests.tables import over

from touchstone.text.reading import read_text

SENTENCES = [
    ("One fee. Two fees! Three fees?", ["One fee.", "Two fees!", "Three fees?"]),
    ("No final stop", ["No final stop"]),
    ("The first. no capital", ["The first.", "no capital"]),
    ("Ask Dr. Smith or Mr. Jones. They know.", ["Ask Dr. Smith or Mr. Jones.", "They know."]),
    ("Some days, e.g. Mondays, i.e. now. Others not.", ["Some days, e.g. Mondays, i.e. now.", "Others not."]),
    ("Open until 5 p.m. on Fridays. Come in.", ["Open until 5 p.m. on Fridays.", "Come in."]),
    ("Due in Jan. 2025. Pay then.", ["Due in Jan. 2025.", "Pay then."]),
    ("Ask for J. Okafor. Say hello.", ["Ask for J. Okafor.", "Say hello."]),
    ("Please don't. The account isn’t. Call us.", ["Please don't.", "The account isn’t.", "Call us."]),
    ("Ask for 'J. Okafor'. Say hello.", ["Ask for 'J. Okafor'.", "Say hello."]),
    ("U.S. customers pay more. Others less.", ["U.S. customers pay more.", "Others less."]),
    ("It costs $3.50. Version 2.4.1 too.", ["It costs $3.50.", "Version 2.4.1 too."]),
    ("See www.acme.com. Then call.", ["See www.acme.com.", "Then call."]),
    ("Come at 5. Then go.", ["Come at 5.", "Then go."]),
    ("- First item\n- Second item", ["First item", "Second item"]),
    ("• First item\n• Second item", ["First item", "Second item"]),
    ("* first item\n* second item", ["first item", "second item"]),
    ("1. Open it\n2. Close it", ["1. Open it", "2. Close it"]),
    ("1) Open it\n2) Close it", ["1) Open it", "2) Close it"]),
    ("A line\nanother line\r\na third", ["A line", "another line", "a third"]),
    ("Hello\n\n\nWorld", ["Hello", "World"]),
    ("Wait... What is it?", ["Wait...", "What is it?"]),
    ("Hmm… Then we see. Fine.", ["Hmm…", "Then we see.", "Fine."]),
    ("Really?! Yes.", ["Really?!", "Yes."]),
    ('He said "stop." She left.', ['He said "stop."', "She left."]),
    ("“Quoted.” Next.", ["“Quoted.”", "Next."]),
    ("(See below.) Next one.", ["(See below.)", "Next one."]),
    ("One part; another part", ["One part;", "another part"]),
    ("First.Second", ["First.Second"]),
    ("...", []),
    ("😀. Hi.", ["Hi."]),
    ("", []),
]


@over(("raw", "sentences"), SENTENCES)
def test_a_text_is_cut_into_sentences(raw, sentences):
    assert [raw[s.start : s.end].rstrip() for s in read_text("input", raw).sentences] == sentences


@over("raw", [raw for raw, _ in SENTENCES])
def test_every_token_belongs_to_one_sentence(raw):
    text = read_text("input", raw)
    assert [at for s in text.sentences for at in range(s.first, s.last)] == list(range(len(text.tokens)))
