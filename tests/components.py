"""What tests need beside Python: a machine that lacks it says so loudly, and in CI that is a failure.

`TOUCHSTONE_TESTS_NEED_ALL=1`, which `.ci/run` sets, turns such a skip into a failure.
"""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

import pytest

ALL = "TOUCHSTONE_TESTS_NEED_ALL"


def needs(*, programs=(), packages=()):
    """Skip the test, or fail it in CI, unless these programs and Python packages are there."""
    lacking = [f"the program {name}" for name in programs if program(name) is None]
    lacking += [f"the package {name}" for name in packages if find_spec(name) is None]
    if lacking and os.environ.get(ALL):
        pytest.fail(f"not tested, this machine lacks {', '.join(lacking)}")
    if lacking:
        pytest.skip(f"NOT TESTED: this machine lacks {', '.join(lacking)}")


def program(name):
    """The path of a program; PostgreSQL's server programs stand apart from the others on Debian."""
    apart = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(apart[-1]) if apart else None)


AXE = "axe-core@4.14.0"


def axe_core(home):
    """The source of axe-core: the file that TOUCHSTONE_AXE names, or from npm, put into the directory `home`."""
    given = os.environ.get("TOUCHSTONE_AXE")
    if given:
        return Path(given).read_text(encoding="utf-8")
    if shutil.which("npm") is None:
        pytest.skip("accessibility is NOT TESTED: there is neither npm nor TOUCHSTONE_AXE")
    done = subprocess.run(["npm", "install", "--prefix", home, AXE], capture_output=True, timeout=120, check=False)
    if done.returncode:
        pytest.skip("accessibility is NOT TESTED: npm could not fetch axe-core")
    return (home / "node_modules/axe-core/axe.min.js").read_text(encoding="utf-8")
