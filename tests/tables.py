"""The rows of an example table under tests/tables, and one test over all rows of a table."""

import functools
import inspect
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

Check = TypeVar("Check", bound=Callable[..., None])
TABLES = Path(__file__).parent / "tables"


def rows(name: str) -> list[dict[str, Any]]:
    """Every row of a table, in order."""
    lines = (TABLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line]


def over(names: str | Sequence[str], table: Iterable[Any], ids: Any = None) -> Callable[[Check], Check]:
    """Run a test over every row, as `pytest.mark.parametrize` does, in one test; every row that fails is listed.

    For tables of pure functions, where a test for each row costs more than the row.
    """
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    every = list(table)
    shown = [ids(row) for row in every] if callable(ids) else list(ids or (str(row)[:300] for row in every))

    def decorate(test: Check) -> Check:
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**given: Any) -> None:
            failed: list[tuple[str, Exception]] = []
            for name, row in zip(shown, every, strict=True):
                values = zip(keys, row, strict=True) if len(keys) > 1 else [(keys[0], row)]
                try:
                    test(**given, **dict(values))
                except Exception as error:  # noqa: BLE001 - whatever is wrong with a row, the others are tried
                    failed.append((name, error))
            if failed:
                listed = "\n\n".join(f"{name}\n{type(error).__name__}: {error}" for name, error in failed)
                raise AssertionError(f"{len(failed)} of {len(every)} rows:\n{listed}") from failed[0][1]

        rest = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return run  # type: ignore[return-value]

    return decorate
