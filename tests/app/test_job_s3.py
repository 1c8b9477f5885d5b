"""A job whose inputs and outputs are on S3: a server that speaks its protocol, on this machine."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs, parquet

import touchstone

moto_server = pytest.importorskip("moto.server", reason="MOTO IS NOT INSTALLED: S3 was not tested")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]

COMMAND = [sys.executable, "-c", "from touchstone.cli.main import main; main()"]
LIGHT = str(Path(__file__).parents[1] / "engines/light")
SOURCE = os.pathsep.join([LIGHT, str(Path(touchstone.__file__).parents[1])])


@pytest.fixture(scope="module")
def server():
    """A server without a network: it listens on this machine alone, and ends with the tests."""
    from moto.server import ThreadedMotoServer

    started = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    yield f"{host}:{port}"
    started.stop()


class Store:
    """A bucket of its own for a test."""

    def __init__(self, endpoint, name, folder):
        self.bucket, self.folder = name, folder
        self.options = f"scheme=http&endpoint_override={endpoint}&region=us-east-1&allow_bucket_creation=true"
        self.system = fs.S3FileSystem(
            access_key="test", secret_key="test", region="us-east-1", scheme="http", endpoint_override=endpoint,
            allow_bucket_creation=True,
        )  # fmt: skip
        self.system.create_dir(name)

    def url(self, path):
        return f"s3://{self.bucket}/{path}?{self.options}"

    def put(self, path, rows):
        with self.system.open_output_stream(f"{self.bucket}/{path}", compression=None) as stream:
            parquet.write_table(pa.Table.from_pylist(rows), stream)

    def objects(self, path):
        found = self.system.get_file_info(
            fs.FileSelector(f"{self.bucket}/{path}", recursive=True, allow_not_found=True)
        )
        return {each.path.partition(f"{path}/")[2]: each.size for each in found if each.type == fs.FileType.File}

    def read(self, path):
        with self.system.open_input_file(f"{self.bucket}/{path}") as stream:
            return stream.read()

    def start(self, *arguments):
        environment = {**os.environ, "PYTHONPATH": SOURCE, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}
        with (self.folder / "stderr").open("wb") as said:
            return subprocess.Popen(
                [*COMMAND, *arguments],
                cwd=self.folder, env=environment, stdout=subprocess.DEVNULL, stderr=said,
            )  # fmt: skip

    def run(self, *arguments):
        """The exit code, and what was said."""
        return self.start(*arguments).wait(120), (self.folder / "stderr").read_text()


@pytest.fixture
def store(server, tmp_path, request):
    return Store(server, f"bucket-{abs(hash(request.node.name)) % 10_000}", tmp_path)


def rows(count, *, first=0):
    return [{"id": f"r{at}", "response": f"reply {at}"} for at in range(first, first + count)]


def test_a_glob_is_read_and_a_directory_written_with_its_report(store):
    store.put("in/dt=1/a.parquet", rows(25))
    store.put("in/dt=2/b.parquet", rows(7, first=100))
    store.put("in/other.parquet", rows(3, first=200))
    code, said = store.run("score", store.url("in/dt=*"), "-o", store.url("out"), "--shard-rows", "10")
    assert code == 0, said
    parts = [name for name in store.objects("out") if name.startswith("part-")]
    assert len(parts) == 4
    ids = [id for name in sorted(parts) for id in parquet.read_table(
        f"{store.bucket}/out/{name}", filesystem=store.system)["id"].to_pylist()]  # fmt: skip
    assert ids == [row["id"] for row in rows(25) + rows(7, first=100)]
    assert store.run("report", store.url("out"))[0] == 0
    assert b"job report" in store.read("out/report.html")
    assert "test:test" not in str(store.read("out/manifest.json"))


def test_gzipped_shards_are_packed_once(store):
    import gzip

    store.put("in/a.parquet", rows(5))
    assert store.run("score", store.url("in"), "-o", store.url("out"), "--shard-format", "jsonl")[0] == 0
    lines = gzip.decompress(store.read("out/part-00000-00000.jsonl.gz")).splitlines()
    assert [json.loads(line)["id"] for line in lines] == [row["id"] for row in rows(5)]
    code, said = store.run("score", store.url("in"), "-o", store.url("out"), "--shard-format", "jsonl")
    assert (code, "5 rows in 1 shards are done" in said) == (0, True)


def test_a_killed_driver_goes_on_and_no_object_is_half_written(store):
    store.put("in/a.parquet", rows(160))
    command = ["score", store.url("in/a.parquet"), "--shard-rows", "10", "-o"]
    assert store.run(*command, store.url("whole"))[0] == 0
    process = store.start(*command, store.url("out"))
    deadline = time.monotonic() + 60
    while len([name for name in store.objects("out") if name.startswith("part-")]) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    process.kill()
    process.wait()
    kept = [name for name in store.objects("out") if name.startswith("part-")]
    assert 3 <= len(kept) < 16
    # Whether the manifest knew of these parts depends on how fast they came; the objects must be the same in any case.
    code, said = store.run(*command, store.url("out"))
    assert code == 0, said
    whole, out = store.objects("whole"), store.objects("out")
    assert out.keys() == whole.keys()
    for name in whole:
        if name != "manifest.json":
            assert store.read(f"out/{name}") == store.read(f"whole/{name}"), name


def test_an_object_that_disappears_is_named_and_the_rest_completes(store):
    store.put("in/a.parquet", rows(40))
    store.put("in/b.parquet", rows(40, first=100))
    process = store.start("score", store.url("in"), "-o", store.url("out"), "--shard-rows", "10")
    deadline = time.monotonic() + 60
    while "manifest.json" not in store.objects("out") and time.monotonic() < deadline:
        time.sleep(0.02)
    kept = store.read("in/b.parquet")
    store.system.delete_file(f"{store.bucket}/in/b.parquet")
    said = (process.wait(120), (store.folder / "stderr").read_text())
    assert said[0] == 3, said
    assert f"s3://{store.bucket}/in/b.parquet" in said[1]
    assert "run the same command again" in said[1]
    with store.system.open_output_stream(f"{store.bucket}/in/b.parquet", compression=None) as stream:
        stream.write(kept)
    code, text = store.run("score", store.url("in"), "-o", store.url("out"), "--shard-rows", "10")
    assert (code, "80 results in 8 shards" in text) == (0, True), text


def test_a_bucket_that_is_not_there_is_one_clear_line(store):
    code, said = store.run("score", f"s3://nowhere/in?{store.options}", "-o", store.url("out"))
    assert code == 2
    assert "s3://nowhere/in" in said
    assert "Traceback" not in said
