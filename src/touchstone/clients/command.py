"""A command line -> a bot: run once for each draft, the case as JSON on stdin, the reply on stdout."""

import asyncio
import os
import re
import shlex
import shutil
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from subprocess import PIPE

from touchstone.clients.bot_protocol import LONGEST_ANSWER, question, read_answer, too_long
from touchstone.clients.faults import fault
from touchstone.clients.loop import Loop, open_loop
from touchstone.core.case import Case, Draft
from touchstone.core.errors import ConfigError, InputError
from touchstone.core.result import Failure

# What a process leaves in its pipes is read for so long after its end; only a daemon can hold them open.
_GRACE = 1.0
_STDIN, _STDOUT = 0, 1
_ADDRESS = re.compile(r"[\w.-]+:\d+(?:/|$)|[\w-]+(?:\.[\w-]+)+/")


@contextmanager
def open_command(line: str, *, timeout: float) -> Iterator["CommandBot"]:
    """The bot behind a command line, which is split as a shell would, and run without one."""
    arguments = split_command(line)
    with open_loop("draft") as loop:
        yield CommandBot(arguments, name=line.strip(), timeout=timeout, loop=loop)


class CommandBot:
    """A bot that is a command of the user's own."""

    def __init__(self, arguments: Sequence[str], *, name: str, timeout: float, loop: Loop) -> None:
        self.name = name
        self._arguments = arguments
        self._timeout = timeout
        self._loop = loop

    def draft(self, case: Case, *, draft: int) -> Draft | Failure:
        """The reply to one case; `draft` is passed on, so that a bot may vary its replies by it."""
        return self._loop.run(self._draft(question(case, draft=draft)))

    def stop(self) -> None:
        """Ends the processes under way; the bot drafts nothing more."""
        self._loop.stop()

    async def _draft(self, body: bytes) -> Draft | Failure:
        loop = asyncio.get_running_loop()
        output = _Output(loop)
        try:
            process, _ = await loop.subprocess_exec(
                lambda: output, *self._arguments, stdin=PIPE, stdout=PIPE, stderr=PIPE, start_new_session=True
            )
        except OSError as error:
            problem = f"the command could not be started ({error.strerror or type(error).__name__})"
            return fault(
                "draft", "NotStarted", f"{problem}: run it by hand, and check its first line if it is a script"
            )
        try:
            _send(process, body)
            await asyncio.wait([output.ended], timeout=self._timeout)
        finally:
            is_late = not output.ended.done()
            await _end(process, output)
        if is_late:
            problem = f"the command gave no reply within {self._timeout:g} s and was ended"
            return fault("draft", "Timeout", f"{problem}: allow it more time, or find out what it waits for")
        return output.answer(exit_code=process.get_returncode())


def split_command(line: str) -> list[str]:
    """The command and its arguments; an error that says what to do when there is no such command."""
    try:
        arguments = shlex.split(line)
    except ValueError as error:
        raise ConfigError(f"the bot's command line has {str(error).lower()}: close it, or escape it with \\") from None
    if not arguments or "\0" in line:
        raise ConfigError("the bot is empty: give a command line, or the address of a server as http://…")
    command = arguments[0]
    if shutil.which(command) is None:
        raise InputError(f"the bot's command {command!r} {_why_not(command)}")
    return arguments


def _why_not(command: str) -> str:
    if _ADDRESS.match(command):
        return f"was not found: if it is the address of a server, write http://{command}"
    path = Path(command)
    if path.is_dir():
        return "is a directory: give the file in it that is to be run"
    if path.is_file() and path.name != command:
        return "may not be executed: run chmod +x on it, or put its interpreter in front, as in 'python bot.py'"
    if path.is_file():
        return "was not found: put its interpreter in front, as in 'python bot.py', or write ./ before its name"
    return "was not found: check its name, and that it is installed or given with its path"


class _Output(asyncio.SubprocessProtocol):
    """What a process writes: stdout up to the limit, stderr only counted."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.ended = loop.create_future()
        self.closed = loop.create_future()
        self._written = bytearray()
        self._complaints = 0

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _STDOUT:
            self._complaints += len(data)
        elif len(self._written) <= LONGEST_ANSWER:
            self._written += data
            if len(self._written) > LONGEST_ANSWER:
                self._end()

    def process_exited(self) -> None:
        self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        if not self.closed.done():
            self.closed.set_result(None)

    def answer(self, *, exit_code: int | None) -> Draft | Failure:
        if len(self._written) > LONGEST_ANSWER:
            return too_long()
        if exit_code:
            return self._crashed(exit_code)
        return read_answer(bytes(self._written))

    def _end(self) -> None:
        if not self.ended.done():
            self.ended.set_result(None)

    def _crashed(self, exit_code: int) -> Failure:
        how = f"was ended by {_signal_name(-exit_code)}" if exit_code < 0 else f"ended with exit code {exit_code}"
        said = f"{len(self._written):,} bytes on stdout and {self._complaints:,} on stderr"
        return fault("draft", "ExitCode", f"the command {how}, after {said}: pipe the case's line into it to read them")


def _send(process: asyncio.SubprocessTransport, body: bytes) -> None:
    pipe = process.get_pipe_transport(_STDIN)
    if isinstance(pipe, asyncio.WriteTransport):
        pipe.write(body)
        pipe.write_eof()


async def _end(process: asyncio.SubprocessTransport, output: _Output) -> None:
    """Ends the process with all that it has started, and reads what is left in the pipes."""
    if sys.platform == "win32":
        if process.get_returncode() is None:
            process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):  # nothing of the group is left
            os.killpg(process.get_pid(), signal.SIGKILL)
    try:
        await asyncio.wait([output.closed], timeout=_GRACE)
    finally:
        process.close()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
