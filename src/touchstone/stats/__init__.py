"""Intervals, paired tests, agreement, sampling, corrected rates; pure and seeded."""
