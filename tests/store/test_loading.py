"""Who does not use the store does not pay for its libraries."""

import subprocess
import sys

LIBRARIES = ("sqlalchemy", "alembic", "sqlite3", "psycopg")
PROBE = """
import sys
from touchstone.cli.main import main

sys.argv = ["touchstone", "--help"]
try:
    main()
except SystemExit:
    pass
sys.stderr.write(" ".join(sys.modules))
"""


def test_help_loads_no_library_of_the_store():
    ended = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    assert not set(LIBRARIES) & set(ended.stderr.split())
