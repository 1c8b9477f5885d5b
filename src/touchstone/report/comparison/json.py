"""ComparisonView -> a JSON object: the figures as numbers, for other programs."""

from dataclasses import asdict
from typing import Any

from touchstone.report.comparison.view import ComparisonView


def comparison_to_dict(view: ComparisonView) -> dict[str, Any]:
    """Both runs' ids, every change with interval and p-value, and the flips."""
    return {
        "before": view.before.id,
        "after": view.after.id,
        "standing": view.standing,
        **asdict(view.comparison),
        "differing": list(view.differing),
    }
