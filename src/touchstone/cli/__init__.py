"""The commands."""

# Exit codes people script against: 0 is fine, and 1 outranks 3.
GATE_NOT_MET = 1
COULD_NOT_START = 2
SOME_ROW_FAILED = 3
# What a shell reports of a program that Ctrl-C ended.
INTERRUPTED = 130
