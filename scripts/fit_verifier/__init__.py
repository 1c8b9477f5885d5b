"""Labelled sentences with their sources -> the model of touchstone-verifier, its calibration, cuts and figures."""
