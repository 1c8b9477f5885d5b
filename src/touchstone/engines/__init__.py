"""Work spread over this process, several processes or a Ray cluster."""
