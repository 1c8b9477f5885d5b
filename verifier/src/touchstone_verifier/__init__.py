"""Model, tokenizer and settings of the claim verifier that `touchstone eval --verifier deep` uses; files, no code."""
