"""Calls <-> files named by their hash: what a model answered once need not be asked, paid or waited for again."""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touchstone.clients.llm.call import Answered, Call, Usage
from touchstone.core.errors import InputError
from touchstone.judges.llm.answer import Answer


class Records:
    """A directory of calls with their answers. Files hold customers' words: only their owner can read them."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)

    def find(self, call: Call) -> Answered | None:
        """The answer recorded for exactly this call; a file that cannot be read is none."""
        try:
            row = json.loads(self._path(call).read_text(encoding="utf-8"))
            answer, usage = row["answer"], row["usage"]
            yes = answer.get("yes")
            return Answered(
                Answer(
                    str(answer["text"]),
                    is_cut=bool(answer["is_cut"]),
                    is_refusal=bool(answer["is_refusal"]),
                    yes=None if yes is None else float(yes),
                ),
                Usage(int(usage["input"]), int(usage["output"])),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def keep(self, call: Call, answered: Answered) -> None:
        """Writes the call and its answer."""
        answer, usage = answered.answer, answered.usage
        row = {
            "call": call.to_dict(),
            "answer": {
                "text": answer.text,
                "is_cut": answer.is_cut,
                "is_refusal": answer.is_refusal,
                **({} if answer.yes is None else {"yes": answer.yes}),
            },
            "usage": {"input": usage.input, "output": usage.output},
        }
        write_row(self._path(call), row)

    def _path(self, call: Call) -> Path:
        key = call.key
        return self.directory / key[:2] / f"{key}.json"


def write_row(path: Path, row: Mapping[str, Any]) -> None:
    """Writes a file that only its owner can read; it is there whole or not at all."""
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            json.dump(row, stream, ensure_ascii=False, sort_keys=True, indent=1)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        problem = error.strerror or type(error).__name__
        raise InputError(f"{path.parent} cannot be written ({problem}): name another with --record") from error


def open_replay(directory: str) -> Records:
    """Records that must be there already."""
    if not Path(directory).is_dir():
        raise InputError(f"--replay {directory} is no directory: record one first with --record {directory}")
    return Records(directory)
