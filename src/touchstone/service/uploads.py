"""Files that were sent and wait to be confirmed: each for its sender alone, in a directory only the service can read.

A file is removed once it is scored or cancelled, and after an hour anyway; so is what an earlier service left.
"""

import asyncio
import secrets
import shutil
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from touchstone.app.config import Settings
from touchstone.io.locations import is_url
from touchstone.service.problems import Refusal
from touchstone.store.private import make_directory, make_file

DIRECTORY = ".touchstone-uploads"
KEPT_SECONDS = 3600.0
# Files that one person may have waiting; a further one takes the place of the oldest.
MOST_WAITING = 5
_SWEEP_SECONDS = 60.0


@dataclass(slots=True, kw_only=True)
class Upload:
    """A file, what its columns were mapped to, and how far its replies are scored."""

    id: str
    name: str
    path: Path
    by: str
    made: float
    mapped: dict[str, str] = field(default_factory=dict)
    label: str = ""
    problem: str = ""
    done: int = 0
    total: int = 0
    run: str | None = None
    scoring: asyncio.Task[None] | None = None

    @property
    def address(self) -> str:
        return f"/queues/upload/{self.id}"

    @property
    def is_scoring(self) -> bool:
        return self.scoring is not None and not self.scoring.done()


class Uploads:
    """The files of one service."""

    def __init__(self, settings: Settings) -> None:
        # A database server has no directory that is ours.
        beside = settings.runs if is_url(settings.store) else settings.store
        self.directory = Path(beside).absolute().parent / DIRECTORY
        self.is_closing = False
        self._held: dict[str, Upload] = {}

    def add(self, name: str, content: bytes, *, by: str) -> Upload:
        """Keep the file until it is decided on."""
        waiting = [each for each in self._held.values() if each.by == by and not each.is_scoring and each.run is None]
        for oldest in waiting[: max(0, len(waiting) - MOST_WAITING + 1)]:
            self.forget(oldest)
        id = secrets.token_hex(16)
        path = self.directory / id / f"replies{Path(name).suffix.lower()}"
        make_directory(path.parent)
        make_file(path)
        path.write_bytes(content)
        self._held[id] = Upload(id=id, name=name, path=path, by=by, made=time.time())
        return self._held[id]

    def get(self, id: str, *, by: str) -> Upload:
        """The file, for whoever sent it."""
        found = self._held.get(id)
        if found is None or found.by != by:
            raise Refusal(404, "unknown", "the file is not here any more, an hour after it was sent: choose it again")
        return found

    def forget(self, upload: Upload) -> None:
        self.remove_file(upload)
        self._held.pop(upload.id, None)

    def remove_file(self, upload: Upload) -> None:
        """What is known of it stays a while, so that its page leads to the run."""
        self._remove(upload.path.parent)

    def sweep(self) -> None:
        """Remove what is older than an hour, but for what is being scored."""
        latest = time.time() - KEPT_SECONDS
        for upload in list(self._held.values()):
            if upload.made < latest and not upload.is_scoring:
                self.forget(upload)
        with suppress(OSError):
            for left in self.directory.iterdir():
                if left.name not in self._held and left.stat().st_mtime < latest:
                    self._remove(left)

    async def keep_swept(self) -> None:
        while True:
            await asyncio.to_thread(self.sweep)
            await asyncio.sleep(_SWEEP_SECONDS)

    async def close(self) -> None:
        """Stop scoring after the reply each is at, and remove the files."""
        self.is_closing = True
        tasks = [upload.scoring for upload in self._held.values() if upload.scoring is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        for upload in list(self._held.values()):
            self.forget(upload)

    def _remove(self, directory: Path) -> None:
        shutil.rmtree(directory, ignore_errors=True)
        with suppress(OSError):
            # Only the last one's leaves it empty.
            self.directory.rmdir()
