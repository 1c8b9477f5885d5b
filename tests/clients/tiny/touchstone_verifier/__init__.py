"""A verifier for tests, written by scripts/make_tiny_verifier.py."""
