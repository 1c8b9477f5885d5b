"""A first touchstone.yaml and cases.jsonl, to start from."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from touchstone.app.config import CONFIG_NAME
from touchstone.app.config_model import config_text
from touchstone.core.errors import InputError

CASES_NAME = "cases.jsonl"

EXAMPLES: tuple[Mapping[str, Any], ...] = (
    {
        "id": "good",
        "input": "How long do I have to return my headphones?",
        "response": "Thanks for reaching out! You have 14 days after delivery to return your headphones. To start, go "
        "to My Orders > Return an item, and we will send you a prepaid label by e-mail. Let me know if I can help with "
        "anything else.",
        "context": [
            "You have 14 days after delivery to return headphones. Start a return under My Orders > Return an item; "
            "we send a prepaid label by e-mail."
        ],
    },
    {
        "id": "wrong-number",
        "input": "How long do I have to return my headphones?",
        "response": "You have 30 days to return your headphones.",
        "context": ["You have 14 days after delivery to return headphones."],
    },
    {
        "id": "missed-question",
        "input": "How long does standard delivery take, and can I pay by invoice?",
        "response": "Yes, you can pay by invoice.",
        "context": [
            {"id": "shipping", "text": "Standard delivery takes 3 business days."},
            {"id": "payment", "text": "Companies can pay by invoice within 30 days."},
        ],
    },
)


def write_scaffold(directory: Path, *, force: bool = False) -> tuple[Path, ...]:
    """Write both files into `directory` and return their paths; InputError if one exists, unless `force`."""
    contents = {directory / CONFIG_NAME: config_text(), directory / CASES_NAME: cases_text()}
    if not force and (present := next((path for path in contents if path.exists()), None)):
        raise InputError(f"{present} exists already: move it away, or overwrite it with --force")
    for path, content in contents.items():
        try:
            directory.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        except OSError as error:
            raise InputError(f"{path} cannot be written ({error.strerror}): choose another directory") from error
    return tuple(contents)


def cases_text() -> str:
    """Three cases, one a line: a good reply, one with a wrong number, one that misses a question."""
    return "".join(json.dumps(example, ensure_ascii=False) + "\n" for example in EXAMPLES)
