"""Grades with reasons and a pass probability: the offline judge, a model, a panel."""
