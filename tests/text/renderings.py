"""An abstract value -> the ways people write it, each with the canonical form it is read as.

All renderings of one value mean exactly that value: none has a second reading.
"""

from datetime import date
from decimal import Decimal

from hypothesis import strategies as st

SMALL = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen".split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
MINUTES = {"minute": 1, "hour": 60, "day": 1440, "week": 10_080}
CURRENCIES = [("$", "USD", "dollars"), ("£", "GBP", "pounds"), ("€", "EUR", "euros")]

Renderings = dict[str, str]


def spelt(number: int) -> str | None:
    """A whole number in words: up to sixteen, and from twenty to ninety-nine."""
    if number < len(SMALL):
        return SMALL[number]
    tens, ones = divmod(number, 10)
    return TENS[tens - 2] + (f"-{SMALL[ones]}" if ones else "") if 20 <= number < 100 else None


def plain(amount: Decimal) -> str:
    """A decimal without exponent or trailing zeros."""
    return f"{amount.normalize():f}"


def money(amount: Decimal, *, sign: str, code: str, noun: str) -> Renderings:
    """$1,234.50 · USD 1234.50 · 1,234.50 dollars · $1.2345k · twelve dollars."""
    cents = f"{amount:,.2f}"
    figures = {cents.replace(",", mark) for mark in (",", "'", "\u202f", "")}
    figures |= {figure.removesuffix(".00") for figure in figures}
    signed, coded = f"{plain(amount)} {'$' if sign == '$' else code}", f"{plain(amount)} {code}"
    texts = {f"{sign}{figure}": signed for figure in figures}
    for form in (f"{{}} {code}", f"{code} {{}}", f"{code}{{}}", f"{{}} {noun}"):
        texts |= {form.format(figure): coded for figure in figures}
    texts |= {f"{sign}{plain(amount / 1000)}k": signed} if amount >= 1000 else {}
    words = spelt(int(amount)) if amount == int(amount) != 1 else None
    return texts | ({f"{words} {noun}": coded} if words else {})


def percent(share: Decimal) -> Renderings:
    """12.5% · 12.50 % · 12.5 per cent · twelve percent."""
    texts = [f"{plain(share)}{sign}" for sign in ("%", " %", " percent", " per cent", "pc")]
    words = spelt(int(share)) if share == int(share) else None
    return dict.fromkeys([*texts, f"{share:.2f}%", *([f"{words} percent"] if words else [])], f"{plain(share)}%")


def counted(count: int, unit: str) -> Renderings:
    """3 days · 3-day · three days."""
    noun = unit if count == 1 else f"{unit}s"
    figures = [f"{count} {noun}", f"{count}\u00a0{noun}", f"{count}-{unit}"]
    return dict.fromkeys([*figures, *([f"{spelt(count)} {noun}"] if spelt(count) else [])], f"{count} {unit}")


def duration(minutes: int) -> Renderings:
    """The same span of time in every unit that divides it."""
    texts = {} if minutes != 20_160 else {"a fortnight": "1 fortnight"}
    for unit, size in MINUTES.items():
        if minutes % size == 0 and minutes // size < 1000:
            texts |= counted(minutes // size, unit)
    return texts


def day(when: date) -> Renderings:
    """3 March 2025 in every form that cannot be read as another day."""
    number, year, name, short = when.day, when.year, f"{when:%B}", f"{when:%b}"
    ordinal = f"{number}{'th' if 11 <= number <= 13 else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
    texts = [f"{when:%Y-%m-%d}", f"{when:%Y/%m/%d}", f"{number} {name} {year}", f"{number} {short} {year}",
             f"{name} {number}, {year}", f"{short} {number}, {year}", f"{short}. {number}, {year}",
             f"{name} {number} {year}", f"{ordinal} {name} {year}", f"{ordinal} of {name} {year}",
             f"{name} {ordinal}, {year}", f"{when:%A}, {number} {name} {year}", f"{when:%A} {ordinal} {name}, {year}",
             f"{when:%A}, {name} {number}, {year}", f"{when:%a} {number} {short} {year}",
             f"{number:02d}-{short}-{year}"]  # fmt: skip
    if number > 12 or number == when.month:
        texts += [f"{when:%d/%m/%Y}", f"{when:%m/%d/%Y}", f"{when:%d.%m.%Y}", f"{when:%d-%m-%Y}"]
        texts += [f"{when:%d/%m/%y}"] if year >= 2000 else []
    return dict.fromkeys(texts, when.isoformat())


def clock(minute: int) -> Renderings:
    """14:30 · 2:30pm · 2.30 p.m., and noon and midnight by name."""
    hour, past = divmod(minute, 60)
    face, half = hour % 12 or 12, "am" if hour < 12 else "pm"
    texts = [f"{face}:{past:02d}{half}", f"{face}:{past:02d} {half.upper()}", f"{face}.{past:02d}{half}",
             f"{face}:{past:02d} {half[0]}.m."]  # fmt: skip
    if hour > 12 or hour < 10:  # 10:30 could be in the evening
        texts += [f"{hour:02d}:{past:02d}", f"{hour:02d}:{past:02d}:00", f"{hour:02d}{past:02d} hrs"]
    if past == 0:
        texts += [f"{face}{half}", f"{face} {half}", f"{face} {half.upper()}", f"{face} {half[0]}.m."]
    names = {0: ["midnight"], 720: ["noon", "midday", "12 noon"]}.get(minute, [])
    return dict.fromkeys([*texts, *names], f"{hour:02d}:{past:02d}")


amounts = st.integers(1, 999_999).map(lambda cents: Decimal(cents) / 100) | st.integers(1, 9_999).map(Decimal)
shares = st.integers(1, 10_000).map(lambda hundredths: Decimal(hundredths) / 100) | st.integers(1, 100).map(Decimal)
spans = st.builds(lambda count, unit: count * unit, st.integers(1, 60), st.sampled_from([1, 60, 1440]))
minutes = st.integers(0, 1439) | st.integers(0, 23).map(lambda hour: hour * 60)
VALUES: dict[str, st.SearchStrategy[Renderings]] = {
    "money": st.builds(
        lambda amount, money_: money(amount, sign=money_[0], code=money_[1], noun=money_[2]),
        amounts,
        st.sampled_from(CURRENCIES),
    ),
    "percent": shares.map(percent),
    "duration": spans.map(duration),
    "date": st.dates(date(1990, 1, 1), date(2060, 12, 31)).map(day),
    "time": minutes.map(clock),
}
