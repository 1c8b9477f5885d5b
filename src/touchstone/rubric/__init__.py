"""Criteria, weights, gates, conventions; grades become points and an outcome."""
