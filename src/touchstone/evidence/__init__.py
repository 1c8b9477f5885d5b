"""Values and claims are checked against the sources."""
