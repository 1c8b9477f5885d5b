"""Each resource with its routes: JSON under `/v1` for programs, and pages for people."""
