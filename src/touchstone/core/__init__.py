"""The vocabulary as frozen values, errors, JSON, packaged data."""
