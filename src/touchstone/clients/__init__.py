"""Other programs: model servers, bots, a verifier's model."""
