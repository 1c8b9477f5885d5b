"""Values -> text that does not mislead: comparisons that read true, cells that no spreadsheet runs."""

import unicodedata

# What spreadsheets take for the start of a formula (OWASP, "CSV Injection"), also in its full-width and small forms.
_FORMULA_SIGNS = frozenset("=+-@")
_FORMULA_STARTS = ("\t", "\r", "\n")
# White space, control and format characters: a spreadsheet may drop them before it looks at a cell.
_PASSED_OVER = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})


def number_beside(value: float, bound: float, *, decimals: int, close: float = 0.0) -> str:
    """The value with as few decimals, at least `decimals`, as leave it on its own side of the bound.

    A value that is `close` to the bound differs from it by rounding alone and is shown as the bound.
    """
    value = bound if abs(value - bound) <= close else value
    for places in range(decimals, 18):
        text = f"{value:.{places}f}"
        if _side(float(text), bound) == _side(value, bound):
            return text
    return repr(value)


def comparison(value: float, sign: str, bound: float) -> str:
    """`0.0996 < 0.10`: a value held against a threshold."""
    return f"{number_beside(value, bound, decimals=2)} {sign} {number_beside(bound, bound, decimals=2)}"


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet may run the cell instead of showing it."""
    if cell.startswith(_FORMULA_STARTS):
        return True
    first = next((sign for sign in cell if unicodedata.category(sign) not in _PASSED_OVER), "")
    return unicodedata.normalize("NFKC", first) in _FORMULA_SIGNS


def inert_cell(cell: str) -> str:
    """The cell as text that a spreadsheet shows and does not run."""
    return f"'{cell}" if is_formula(cell) else cell


def _side(value: float, bound: float) -> int:
    return (value > bound) - (value < bound)
