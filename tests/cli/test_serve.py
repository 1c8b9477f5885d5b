"""`touchstone serve` as a process of its own."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

import touchstone
from touchstone.cli.main import main


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--host", "0.0.0.0"], "add --auth"),
        (["--auth"], "touchstone user add"),
        (["--config", "nothing.yaml"], "cannot be read"),
        (["--trusted-proxy", "10.0.0.7", "--trusted-proxy", "proxy"], "--trusted-proxy: 'trusted_proxies' has 'proxy'"),
    ],
)
def test_a_service_that_cannot_start_says_what_to_do(arguments, message, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(["serve", *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.slow
def test_it_serves_until_it_is_interrupted_and_leaves_no_process_behind(tmp_path):
    command = [sys.executable, "-m", "touchstone", "serve", "--port", "0", "--workers", "1"]
    # The package under test, wherever the process starts.
    environment = {**os.environ, "PYTHONPATH": str(Path(touchstone.__file__).parents[1])}
    options = {"cwd": tmp_path, "env": environment, "text": True, "start_new_session": True}
    with subprocess.Popen(command, stderr=subprocess.PIPE, **options) as process:
        address = re.search(r"http://\S+", process.stderr.readline())[0]
        until = time.monotonic() + 120
        while httpx.get(f"{address}/readyz").status_code != 200:
            assert time.monotonic() < until
            time.sleep(0.2)
        assert httpx.post(f"{address}/v1/score", json={"response": "Yes."}).json()["decision"]
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60)
    until = time.monotonic() + 30
    while is_there(process.pid):
        assert time.monotonic() < until
        time.sleep(0.1)


def is_there(group):
    """Whether any process of the group is left."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
