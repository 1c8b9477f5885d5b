"""This process and those it started -> the memory they hold; None where the system does not tell."""

from pathlib import Path

_PAGE = 4096
_PROCESSES = Path("/proc")


def resident(pid: str = "self") -> int | None:
    """Bytes held in memory by a process and its descendants."""
    home = _PROCESSES / pid
    try:
        own = int((home / "statm").read_text().split()[1]) * _PAGE
        children = [child for task in (home / "task").iterdir() for child in (task / "children").read_text().split()]
    except (OSError, IndexError, ValueError):
        return None
    return own + sum(resident(child) or 0 for child in children)
