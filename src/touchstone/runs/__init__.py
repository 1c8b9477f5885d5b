"""One case evaluated; the summary, patterns, comparison and gate of many."""
