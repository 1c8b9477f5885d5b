"""A case is read: tokens, sentences, values, dates, claims, asks."""
