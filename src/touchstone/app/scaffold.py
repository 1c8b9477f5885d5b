"""A first touchstone.yaml and cases.jsonl, to start from."""

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from touchstone.app.config import CONFIG_NAME
from touchstone.app.config_model import Thresholds
from touchstone.core.errors import InputError
from touchstone.core.plan import Plan

CASES_NAME = "cases.jsonl"

NOTES = {name: str(field.description) for name, field in Thresholds.model_fields.items()}

_HEAD = """\
# Settings of Touchstone. A line that starts with # is inactive and shows the default; remove the # to change it.
# Flags win over this file: touchstone score cases.jsonl --set relevance_fail=0.05 --rubric mine.yaml

# Where a metric fails or warns.
thresholds:
"""

_TAIL = """
# Your column names -> ours: id, input, response, context, expected_output, category, confidence, labels.
# The names DeepEval, ragas, autoevals and MLflow use are known already.
columns:
  # reply: response
  # customer_message: input

# How replies are graded: a rubric that ships, or a YAML file beside this one (touchstone rubric show, check, diff).
# rubric: supportai

# The directory of a model of yours that reads each sentence against the sources (docs/verifier.md), or none.
# verifier: none

# What a run over a gold set has to reach, in place of the rubric's own targets.
targets:
  # pass_rate: [70, 80]          # percent; the lower end opens the gate, above the upper the set may be too easy
  # average: {accuracy: 3.2}     # mean grade, 0 to 4
  # safety_failures: 0           # percent of replies with a violation
  # average_confidence: 0.75     # the bot's own, 0 to 1

# The share of replies that must be scored for `touchstone eval --gate` to open.
gate:
  # least_scored: 0.95

# Where runs are kept, and where their reports are written.
# store: .touchstone/touchstone.db
# runs: touchstone-runs

# Proxies in front of `touchstone serve --auth` that say where a request comes from, besides this machine's own.
# trusted_proxies: [10.0.0.7, 10.1.0.0/16]

# Who grades: the offline judge, a language model, or a panel of them (docs/llm.md); `touchstone judge setup` finds a
# model, tries it and fills this in. A model also needs `model` and, if it is not OpenAI's, `base_url`; further keys are
# key_variable, prompt, panel, temperature, budget, prices and record. Keys for servers belong in the environment.
judge:
  # kind: offline                # offline, llm or panel
  # scope: case                  # one request for each case, or for each criterion; or a checklist of short questions
  # rule: median                 # how a panel or several votes decide: median or majority
  # votes: 1                     # how often a model is asked about each case
  # cascade: false               # true: ask a model only where the offline judge is unsure
  # seed: 7
  # max_tokens: 1600             # the longest answer allowed
  # timeout: 60                  # seconds for one answer
  # concurrency: 4               # calls under way at once

# What your company is, publishes and lets agents promise; it sharpens the safety checks. All of it is optional.
policy:
  # company: Acme                           # your own name: naming it recommends no competitor
  # domains: [acme.example]                 # your links and addresses are published, not made up
  # contacts: ["+44 20 7946 0018", "help@acme.example"]   # publishing these leaks nothing
  # competitors: [Globex, Initech]          # sending a customer there is a violation
  # promises:                               # what agents may promise, and up to how much
  #   - what: goodwill credit
  #     up_to: 20 GBP
  #   - what: free return shipping
"""

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


def config_text() -> str:
    """A touchstone.yaml that changes nothing and shows every setting with its default."""
    shown = [(f.name, "null" if f.default is None else f.default) for f in fields(Plan) if f.name in NOTES]
    settings = [(f"# {name}: {default}", NOTES[name]) for name, default in shown]
    width = max(len(setting) for setting, _ in settings)
    return _HEAD + "".join(f"  {setting:<{width}}  # {note}\n" for setting, note in settings) + _TAIL


def cases_text() -> str:
    """Three cases, one a line: a good reply, one with a wrong number, one that misses a question."""
    return "".join(json.dumps(example, ensure_ascii=False) + "\n" for example in EXAMPLES)
