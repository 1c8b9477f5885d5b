"""A fitted verifier of claims: sentences of a reply held against the sentences of the sources that speak to them."""
