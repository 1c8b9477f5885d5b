"""`python -m touchstone` is the `touchstone` command."""

from touchstone.cli.main import main

main()
