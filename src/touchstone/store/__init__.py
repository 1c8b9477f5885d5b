"""Runs, reviews and people in SQLite or PostgreSQL."""
