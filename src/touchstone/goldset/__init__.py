"""Labelled cases: checked for problems, summarised, sampled."""
