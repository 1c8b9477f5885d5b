"""Queues, blind reviews, adjudication, the weekly figures."""
