"""Trust -> plain values for machines."""

from dataclasses import asdict
from typing import Any

from touchstone.report.trust.view import TrustView


def trust_to_dict(view: TrustView) -> dict[str, Any]:
    """Every figure under its own name, with the sentences that sum them up."""
    return {
        "goldset": view.goldset,
        "standing": view.standing,
        "sentence": view.sentence,
        "coverage_sentence": view.coverage_sentence,
        "remarks": list(view.remarks),
        **asdict(view.trust),
    }
