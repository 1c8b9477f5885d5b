"""Findings with rule and confidence: exact checks and one sentence classifier."""
