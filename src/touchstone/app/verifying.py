"""A plan -> the verifier it names, loaded once for the process."""

from touchstone.core.plan import Plan
from touchstone.evidence.verifier.model import Verifier


def find_verifier(plan: Plan) -> Verifier | None:
    """The verifier, or None where the plan asks for none; ResourceError when it is not installed or is broken."""
    if plan.verifier == "none":
        return None
    from touchstone.clients.verifier import installed_verifier

    return installed_verifier()


def verifier_name(plan: Plan) -> str | None:
    """The verifier as receipts and manifests name it: name, version and the hash of its model."""
    verifier = find_verifier(plan)
    if verifier is None:
        return None
    return f"{verifier.card.name} {verifier.card.version} {verifier.card.hash}"
