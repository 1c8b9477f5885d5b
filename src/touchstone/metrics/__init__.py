"""Relevance, completeness, hallucination and the verdict."""
