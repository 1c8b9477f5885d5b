"""What the reply makes up or turns round, against its sources."""

from touchstone.safety.fabrication.hallucination import hallucination

__all__ = ["hallucination"]
