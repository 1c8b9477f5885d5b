"""Measured rates and list prices -> what a job of any size takes, in core-hours, days and money.

Prices are the reader's to replace: those here were listed at the places named, and change.
"""

from dataclasses import dataclass
from typing import Any

# USD an hour for one core. An m7g.large of AWS, two cores, was $0.0816 an hour on demand in us-east-1 in June 2026
# (factualminds.com/blog/amazon-ec2-on-demand-pricing-instance-families-2026): $0.041 a core, here with some reserve.
CORE_HOUR = 0.05
# An assumption, for the reader to replace: rubric, question, context and reply read, five grades with reasons written.
TOKENS_READ, TOKENS_WRITTEN = 1500, 300
SIZES = (1_000_000, 10_000_000, 100_000_000, 1_000_000_000)


@dataclass(frozen=True, slots=True)
class Model:
    """A hosted model: USD for a million tokens that it reads and that it writes."""

    name: str
    read: float
    written: float


# As listed in GitHub's table of models and prices (github/docs, data/tables/copilot/models-and-pricing.yml) in 2026,
# equal to OpenAI's own prices of that time.
MODELS = (Model("GPT-4.1", 2.00, 8.00), Model("GPT-5 mini", 0.25, 2.00))


def replies_per_core_hour(engines: dict[str, Any] | None, speed: dict[str, Any]) -> float:
    """By the engines' benchmark where it has been run, else by the time of one reply after the other."""
    if engines is not None:
        return float(engines["replies_per_core_hour"])
    return 3_600_000 / float(speed["ms_per_reply"]["graded_first"]["mean"])


def worker_megabytes(figures: dict[str, Any]) -> float:
    """What each worker of a job by processes holds at most: all that was held, less the driver's part, shared out."""
    return float((figures["peak_megabytes"]["processes"] - figures["driver_megabytes"]) / figures["workers"])


def model_cost(model: Model) -> float:
    """USD for one reply."""
    return (TOKENS_READ * model.read + TOKENS_WRITTEN * model.written) / 1_000_000
