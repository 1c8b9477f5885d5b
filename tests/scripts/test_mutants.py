"""Faults are found where they can be put, one at a time, and nowhere else."""

import ast

from scripts.mutants import changes, find_mutants, mutate

SOURCE = '''
"""A file."""
@cache(size=1)
def clamp(value: Literal[3], seen: list) -> int:
    """Between."""
    seen.append(value)
    if not (value < 4 and value in seen):
        return value
    return True if seen else 7
'''


def test_every_comparison_constant_condition_and_statement_is_a_place():
    found = {change.shown for change in changes(ast.parse(SOURCE))}
    assert found == {
        "without `seen.append(value)`",
        "`not (value < 4 and value in seen)` without its not",
        "and <-> or in `value < 4 and value in seen`",
        "Lt -> LtE in `value < 4`",
        "In -> NotIn in `value in seen`",
        "4 -> 5",
        "4 -> 3",
        "return None, not `value`",
        "return None, not `True if seen else 7`",
        "not `seen`",
        "7 -> 8",
        "7 -> 6",
        "True -> False",
    }


def test_a_mutant_differs_in_one_place(tmp_path):
    file = tmp_path / "clamp.py"
    file.write_text(SOURCE)
    mutants = find_mutants([tmp_path])
    whole = ast.unparse(ast.parse(SOURCE))
    made = [mutate(SOURCE, mutant.place) for mutant in mutants]
    assert len({*made, whole}) == len(mutants) + 1
    assert all(len(set(one.splitlines()) - set(whole.splitlines())) <= 1 for one in made)
    assert find_mutants([file]) == mutants
