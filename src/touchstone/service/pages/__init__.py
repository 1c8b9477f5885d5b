"""The pages: requests -> HTML that works without a script where it can, by keyboard, on a phone, in both themes."""
