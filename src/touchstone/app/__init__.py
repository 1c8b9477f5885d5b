"""Use cases and wiring, shared by the command line and the service; the only place that picks adapters."""
