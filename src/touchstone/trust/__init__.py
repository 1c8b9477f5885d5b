"""How far a judge agrees with people."""
