"""What every engine promises: all parts, in order, whatever happens to its workers, in bounded memory."""

import os
import signal
import time
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.engines.works import Squares, Starved, Stillborn, Unprepared

from touchstone.core.errors import ConfigError, ResourceError
from touchstone.engines.choice import ENGINES, engine
from touchstone.engines.crew import AHEAD
from touchstone.engines.processes import Processes
from touchstone.engines.ray_actors import RayActors

RAY = pytest.param(
    "ray",
    marks=[pytest.mark.slow, pytest.mark.skipif(find_spec("ray") is None, reason="RAY IS NOT INSTALLED: not tested")],
)
ALL = ["serial", "processes", RAY]
WITH_WORKERS = ["processes", RAY]

pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def cluster():
    """One local Ray for all tests, whose workers find the work where the tests are: it starts slowly."""
    import ray

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([str(Path.cwd()), os.environ.get("PYTHONPATH", "")]))
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
        yield
        ray.shutdown()


@pytest.fixture(autouse=True)
def _connected(request):
    if "name" in request.fixturenames and request.getfixturevalue("name") == "ray":
        request.getfixturevalue("cluster")


def made(name, events=None, workers=2):
    listen = events.append if events is not None else lambda event: None
    return engine(name, workers=None if name == "serial" else workers, on_event=listen)


def flat(batches):
    return [value for parts in batches for part in parts for value in part]


def cut(items, size):
    return [items[at : at + size] for at in range(0, len(items), size)]


@pytest.mark.parametrize("name", ALL)
def test_every_batch_gives_its_parts_in_order(name):
    numbers = list(range(100))
    parts = list(made(name).map(Squares(), cut(numbers, 7)))
    assert len(parts) == 15
    assert flat(parts) == [number * number for number in numbers]


@pytest.mark.parametrize("name", ALL)
def test_no_batch_gives_nothing(name):
    assert list(made(name).map(Squares(), [])) == []


@pytest.mark.parametrize("name", ALL)
def test_an_item_that_meets_a_defect_is_given_up_alone_and_not_quoted(name):
    events = []
    items = [1, 2, "defect", 3, "memory", 4]
    given = flat(made(name, events).map(Squares(), cut(items, 3)))
    assert given == [1, 4, ("lost", "defect", "KeyError"), 9, ("lost", "memory", "MemoryError"), 16]
    assert [event.kind for event in events].count("item_lost") == 2
    assert "customer" not in str(events)


@pytest.mark.parametrize("name", WITH_WORKERS)
def test_a_worker_that_runs_out_of_memory_gives_up_the_item_alone(name):
    events = []
    given = flat(made(name, events).map(Squares(), cut([1, "allocate", 3, 4], 2)))
    assert given == [1, ("lost", "allocate", "MemoryError"), 9, 16]
    assert "worker_lost" not in [event.kind for event in events]


@pytest.mark.parametrize("name", WITH_WORKERS)
def test_workers_without_memory_for_their_models_end_the_map_with_a_remedy(name, capfd):
    with pytest.raises(ResourceError, match=r"workers in a row .* met MemoryError.*600 MB of memory.* fewer --workers"):
        list(made(name, workers=1).map(Starved(), [[1]]))
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("name", WITH_WORKERS)
def test_an_item_that_kills_its_workers_is_given_up_alone(name):
    events = []
    items = [1, 2, 3, "kill", 4, 5, 6, 7]
    given = flat(made(name, events).map(Squares(), cut(items, 4)))
    (lost,) = [value for value in given if isinstance(value, tuple)]
    assert [value for value in given if value is not lost] == [1, 4, 9, 16, 25, 36, 49]
    assert (given.index(lost), lost[:2]) == (3, ("lost", "kill"))
    kinds = [event.kind for event in events]
    assert (kinds.count("batch_split"), kinds.count("item_lost")) == (1, 1)
    assert kinds.count("worker_lost") == 4


@pytest.mark.parametrize("name", WITH_WORKERS)
def test_a_batch_whose_worker_is_killed_once_is_tried_again_whole(name, tmp_path):
    events = []
    given = flat(made(name, events).map(Squares(str(tmp_path)), cut([1, "kill once", 2, 3], 2)))
    assert given == [1, "kill once", 4, 9]
    assert [event.kind for event in events] == ["worker_lost", "batch_retried"]


@pytest.mark.parametrize("name", ALL)
def test_models_are_loaded_once_in_each_worker(name, tmp_path):
    list(made(name).map(Squares(str(tmp_path)), cut(list(range(40)), 2)))
    assert len(list(tmp_path.glob("prepared-*"))) == (1 if name == "serial" else 2)


@pytest.mark.parametrize("name", ALL)
def test_an_error_that_no_worker_can_cure_ends_the_map(name):
    with pytest.raises(ResourceError, match="no parser"):
        list(made(name).map(Unprepared(), [[1]]))
    with pytest.raises(ResourceError, match="no parser"):
        list(made(name).map(Squares(), [[1], ["unusable"]]))


@pytest.mark.parametrize("name", ALL)
def test_batches_are_read_no_further_ahead_than_the_window(name):
    read = []

    def batches():
        for number in range(100):
            read.append(number)
            yield [number]

    given = made(name).map(Squares(), batches())
    for number in range(20):
        assert flat([next(given)]) == [number * number]
        assert len(read) <= number + 1 + AHEAD * 2 + 1
    given.close()


@pytest.mark.parametrize("name", ALL)
def test_what_goes_wrong_while_batches_are_read_reaches_the_reader(name):
    def batches():
        yield [1]
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(made(name).map(Squares(), batches()))


@pytest.mark.slow
def test_workers_are_replaced_when_they_have_done_their_share(tmp_path):
    crew = Processes(workers=2, tasks_each=3)
    given = flat(crew.map(Squares(str(tmp_path)), cut(list(range(20)), 1)))
    assert given == [number * number for number in range(20)]
    assert 20 / 3 <= len(list(tmp_path.glob("prepared-*"))) <= 9


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ray") is None, reason="RAY IS NOT INSTALLED: not tested")
def test_actors_are_replaced_when_they_have_done_their_share(cluster, tmp_path):
    crew = RayActors(workers=2, tasks_each=3)
    given = flat(crew.map(Squares(str(tmp_path)), cut(list(range(10)), 1)))
    assert given == [number * number for number in range(10)]
    assert len(list(tmp_path.glob("prepared-*"))) >= 3


@pytest.mark.slow
def test_workers_that_die_while_they_load_end_the_map_with_a_remedy():
    with pytest.raises(ResourceError, match=r"3 workers in a row .* signal 9.* fewer --workers"):
        list(made("processes").map(Stillborn(), [[1]]))


def test_closing_the_iterator_ends_the_workers(tmp_path):
    given = made("processes").map(Squares(str(tmp_path), seconds=0.01), cut(list(range(1000)), 10))
    next(given)
    given.close()
    workers = [int(path.name.removeprefix("prepared-")) for path in tmp_path.glob("prepared-*")]
    assert workers
    assert not any(is_alive(worker) for worker in workers)


@pytest.mark.slow
def test_workers_do_not_outlive_a_killed_driver(tmp_path):
    driver = os.fork()
    if not driver:
        given = made("processes").map(Squares(str(tmp_path), seconds=0.05), cut(list(range(1000)), 10))
        for _ in given:
            pass
        os._exit(0)
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("prepared-*"))) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(driver, signal.SIGKILL)
    os.waitpid(driver, 0)
    workers = [int(path.name.removeprefix("prepared-")) for path in tmp_path.glob("prepared-*")]
    while any(map(is_alive, workers)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert (len(workers), any(map(is_alive, workers))) == (2, False)


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


REFUSED = {
    "an unknown engine": (("spark",), {}, "--engine spark is not known: allowed are serial, processes, ray"),
    "no workers": (("processes",), {"workers": 0}, "--workers 0 is too few"),
    "workers without an engine for them": (("serial",), {"workers": 4}, "--workers 4 needs workers"),
    "an address for another engine": (("processes",), {"address": "auto"}, "--ray-address belongs to --engine ray"),
}


@pytest.mark.parametrize(("arguments", "options", "message"), REFUSED.values(), ids=REFUSED.keys())
def test_what_cannot_be_chosen_is_said(arguments, options, message):
    with pytest.raises(ConfigError, match=message):
        engine(*arguments, **options)


def test_all_engines_are_tested():
    assert set(ENGINES) == {"serial", "processes", "ray"}
