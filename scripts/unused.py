"""`src` and its templates -> the code that neither of them names, found by vulture; `make check` runs it.

What frameworks call by name is listed in pyproject.toml; what a template reads is found in the templates.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from jinja2 import Environment, nodes

SRC = Path(__file__).parent.parent / "src"


def main() -> int:
    with tempfile.NamedTemporaryFile("w", prefix="templates_", suffix=".py", encoding="utf-8") as used:
        used.writelines(f"_.{name}\n" for name in sorted(template_names(SRC)))
        used.flush()
        return subprocess.run([sys.executable, "-m", "vulture", str(SRC), used.name], check=False).returncode


def template_names(folder: Path) -> set[str]:
    """Every attribute that a template below the folder reads."""
    jinja = Environment(autoescape=True)
    trees = (jinja.parse(path.read_text(encoding="utf-8")) for path in folder.rglob("templates/*.html"))
    return {each.attr for tree in trees for each in tree.find_all(nodes.Getattr)}


if __name__ == "__main__":
    sys.exit(main())
