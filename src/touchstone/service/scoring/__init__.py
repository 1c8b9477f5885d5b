"""Scoring in processes of its own, so that the service answers while it scores."""
