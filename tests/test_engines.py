"""Every engine keeps the same promises: one suite, run on each."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

from fullduplex.engines import DIED, Engine, each, open_engine
from fullduplex.errors import InputError, PluginError
from fullduplex.model.spec import Spec
from fullduplex.testing import tasks

CLUSTERS = {"dask:2": "distributed", "ray:2": "ray"}
PATIENCE = 60


def _params(*texts: str) -> list[object]:
    return [
        pytest.param(text, marks=[pytest.mark.cluster] if text in CLUSTERS else [], id=text.replace(":", "-"))
        for text in texts
    ]


def _need(text: str) -> None:
    library = CLUSTERS.get(text)
    if library and find_spec(library) is None:
        pytest.skip(f"{library} is not installed: install fullduplex[{text.partition(':')[0]}]")


every_engine = pytest.mark.parametrize("engine", _params("here", "processes:2", *CLUSTERS), indirect=True)
every_pool = pytest.mark.parametrize("engine", _params("processes:2", *CLUSTERS), indirect=True)


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    _need(request.param)
    with open_engine(request.param) as opened:
        yield opened


@every_engine
def test_every_task_has_its_own_result(engine: Engine) -> None:
    outcomes = list(each(engine, tasks.square, range(40)))
    assert {outcome.task: outcome.result for outcome in outcomes} == {n: n * n for n in range(40)}
    assert len(outcomes) == 40


@every_engine
def test_an_error_is_one_sentence_and_the_others_go_on(engine: Engine) -> None:
    errors = {outcome.task: outcome.error for outcome in each(engine, tasks.refuse, range(8))}
    assert errors[3] == "3.wav: found an odd number, expected an even one"
    assert errors[7] == "ZeroDivisionError: seven is a fault"
    assert sorted(n for n, error in errors.items() if error is None) == [0, 2, 4, 6]


@every_engine
def test_a_traceback_is_kept_for_faults_alone(engine: Engine) -> None:
    kept = {outcome.task: outcome.traceback for outcome in each(engine, tasks.refuse, [3, 7])}
    assert kept[3] == ""
    assert "in refuse" in kept[7]


@every_engine
def test_leaving_the_interpreter_is_that_tasks_error(engine: Engine) -> None:
    assert [outcome.error for outcome in each(engine, tasks.leave, [3])] == ["SystemExit: 3"]


@every_engine
def test_no_tasks_give_no_outcomes(engine: Engine) -> None:
    assert list(each(engine, tasks.square, [])) == []


@every_engine
def test_tasks_are_pulled_as_they_are_needed(engine: Engine) -> None:
    pulled = 0

    def coming() -> Iterator[int]:
        nonlocal pulled
        for number in range(1000):
            pulled += 1
            yield number

    outcomes = each(engine, tasks.square, coming(), in_flight=3)
    next(outcomes)
    assert pulled <= 3
    outcomes.close()  # type: ignore[attr-defined]
    assert pulled <= 3


@every_engine
def test_a_spec_travels(engine: Engine) -> None:
    spec = Spec("silero", {"pad_ms": 0})
    assert [outcome.result for outcome in each(engine, tasks.spec_name, [spec])] == ["silero"]


@every_pool
def test_tasks_run_in_other_processes_and_these_are_reused(engine: Engine) -> None:
    used = Counter(outcome.result for outcome in each(engine, tasks.process, range(12)))
    assert os.getpid() not in used
    assert 1 < len(used) <= engine.slots


@every_pool
def test_libraries_get_one_thread_in_a_worker(engine: Engine) -> None:
    assert {outcome.result for outcome in each(engine, tasks.threads, range(4))} == {"1"}


@every_pool
def test_a_killed_worker_changes_nothing_in_what_is_written(engine: Engine, tmp_path: Path) -> None:
    calm, rough = tmp_path / "calm", tmp_path / "rough"
    deaths = {3: 1, 11: 2}
    list(each(engine, tasks.write, [(str(calm), n, 0) for n in range(16)]))
    outcomes = list(each(engine, tasks.write, [(str(rough), n, deaths.get(n, 0)) for n in range(16)]))
    assert [outcome.error for outcome in outcomes] == [None] * 16
    assert _tree(rough / "items") == _tree(calm / "items")
    assert len(_tree(calm / "items")) == 16


@every_pool
def test_a_task_that_always_kills_its_worker_ends_as_an_error(engine: Engine, tmp_path: Path) -> None:
    outcomes = list(each(engine, tasks.write, [(str(tmp_path), n, 99 if n == 2 else 0) for n in range(6)]))
    assert {outcome.task[1]: outcome.error for outcome in outcomes} == {2: DIED} | dict.fromkeys((0, 1, 3, 4, 5))
    assert len(list((tmp_path / "attempts").glob("2-*"))) == 3


@pytest.mark.parametrize("engine", _params("processes:2", "ray:2"), indirect=True)
def test_the_death_of_one_worker_repeats_no_other_task(engine: Engine, tmp_path: Path) -> None:
    list(each(engine, tasks.write, [(str(tmp_path), n, 2 if n == 5 else 0) for n in range(20)]))
    attempts = Counter(path.name.partition("-")[0] for path in (tmp_path / "attempts").iterdir())
    assert attempts == {str(n): 3 if n == 5 else 1 for n in range(20)}


def test_retries_may_be_none(tmp_path: Path) -> None:
    with open_engine("processes:1") as pool:
        outcomes = list(each(pool, tasks.write, [(str(tmp_path), 1, 1), (str(tmp_path), 2, 0)], retries=0))
    assert {outcome.task[1]: outcome.error for outcome in outcomes} == {1: DIED, 2: None}


@pytest.mark.parametrize("name", ["here", "processes:2"])
def test_a_killed_run_that_is_run_again_leaves_the_same_tree(name: str, tmp_path: Path) -> None:
    todo = f"[({str(tmp_path / 'rough')!r}, n, 1 if n == 3 else 0) for n in range(6)]"
    script = f"""
from fullduplex.engines import each, open_engine
from fullduplex.testing import tasks
with open_engine({name!r}) as engine:
    print(sum(1 for _ in each(engine, tasks.write, {todo})))
"""
    first = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert (first.returncode == -signal.SIGKILL) == (name == "here"), first.stderr
    again = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=PATIENCE)
    assert again.stdout == "6\n", again.stderr
    for n in range(6):
        tasks.write((str(tmp_path / "calm"), n, 0))
    assert _tree(tmp_path / "rough" / "items") == _tree(tmp_path / "calm" / "items")


@pytest.mark.parametrize("name", _params("here", "processes:2", *CLUSTERS))
def test_an_interrupt_ends_at_once_and_leaves_no_process(name: str, tmp_path: Path) -> None:
    _need(name)
    run = _sleepers(name, tmp_path)
    try:
        family = psutil.Process(run.pid).children(recursive=True)
        os.killpg(run.pid, signal.SIGINT)
        run.wait(20)
        assert run.stderr is not None
        said = run.stderr.read()
        assert run.returncode != 0
        assert "KeyboardInterrupt" in said
        assert _still_there(family, within=15) == []
        assert not any(_alive(path) for path in tmp_path.glob("*.pid"))
    finally:
        _end(run)


def test_a_killed_parent_leaves_no_process(tmp_path: Path) -> None:
    run = _sleepers("processes:2", tmp_path)
    try:
        family = psutil.Process(run.pid).children(recursive=True)
        run.kill()
        run.wait(10)
        assert _still_there(family, within=10) == []
    finally:
        _end(run)


def test_leaving_the_loop_early_leaves_no_worker_behind(tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    started = time.monotonic()
    with open_engine("processes:2") as pool:
        for outcome in each(pool, tasks.wait, [0.0, 60.0, 60.0]):
            assert outcome.result == 0.0
            break
        workers = set(psutil.Process().children(recursive=True)) - before
    assert time.monotonic() - started < 20
    left = {process.pid for process in workers if process.is_running() and "multiprocessing.spawn" in _command(process)}
    assert left == set()


@pytest.mark.parametrize(
    "text",
    [
        "processes:0",
        "processes:-1",
        "processes:two",
        "processes:٣",
        "here:2",
        "",
        ":2",
        "dask://nowhere",
        "dask:x",
        "ray:0",
    ],
)
def test_a_text_that_is_no_engine_is_refused_in_a_sentence(text: str) -> None:
    _need(f"{text.partition(':')[0]}:2")
    with pytest.raises(InputError, match=r"^--engine: .*expected \w+"), open_engine(text):
        pass


def test_an_unknown_engine_is_told_which_there_are() -> None:
    with pytest.raises(PluginError, match="known: dask, here, processes, ray"):
        open_engine("slurm")


def _tree(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


def _sleepers(name: str, folder: Path) -> subprocess.Popen[str]:
    script = f"""
from fullduplex.engines import each, open_engine
from fullduplex.testing import tasks
with open_engine({name!r}) as engine:
    for _ in each(engine, tasks.sleep_with_a_child, [{str(folder)!r}] * 3):
        pass
"""
    run = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, start_new_session=True)
    wanted = 2 if name == "here" else 4
    until = time.monotonic() + PATIENCE
    while len(list(folder.glob("*.pid"))) < wanted and run.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    if len(list(folder.glob("*.pid"))) < wanted:
        _end(run)
        pytest.fail(f"the workers of {name} did not start: {run.stderr.read() if run.stderr else ''}")
    return run


def _end(run: subprocess.Popen[str]) -> None:
    if run.poll() is None:
        for process in (*psutil.Process(run.pid).children(recursive=True), run):
            process.kill()
        run.wait(10)
    if run.stderr:
        run.stderr.close()


def _still_there(family: list[psutil.Process], *, within: float) -> list[str]:
    _, alive = psutil.wait_procs(family, timeout=within)
    return [_command(process) for process in alive]


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def _alive(noted: Path) -> bool:
    try:
        return bool(psutil.Process(int(noted.stem)).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
