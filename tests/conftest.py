from __future__ import annotations

import gc
import os
import signal
import sys
from collections import Counter
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from support.scripted_provider import ScriptedProvider

if TYPE_CHECKING:
    from xdist.remote import Producer
    from xdist.scheduler import Scheduling

# How long one example takes says nothing on a machine that does other things as well. Examples are the
# same each time, so that a change is blamed for nothing but itself; who looks for faults that
# nobody knows of takes the profile "searching".
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("searching", deadline=None, max_examples=2000)
settings.load_profile("repeatable")

# pytest rewrites the assertions of each module of tests, which takes ten seconds of processor time in each
# worker unless the result is kept. Docker images often set PYTHONDONTWRITEBYTECODE.
sys.dont_write_bytecode = False

TESTS = Path(__file__).parent

PROCESS_FOLDERS = tuple(
    TESTS / name
    for name in (
        *("benchmarks", "clients", "e2e", "hosting", "security"),
        *("recorded/axe", "runtime/copies", "runtime/mcp"),
    )
)
"""Folders of which every test starts a process."""

SLOW_FOLDERS = (TESTS / "official_sdks",)
"""Folders of which every test is slow: the libraries that they import take four seconds of processor time."""

PROCESS_FIXTURES = frozenset({"home", "start_lab", "common_lab"})
"""Fixtures that are there to start processes."""


CLIENTS = TESTS / "clients"
"""The folder whose tests take longest, one after the other; most of that time an editor is waited for."""

WINDOWS = (
    ("test_first_hour", "test_vscode.py", "test_vscode_host", "test_vscode_install"),
    ("test_vscode_",),
)
"""How the names of its modules begin that open windows of VS Code, in two halves that take equally long."""


@cache
def _is_below(path: Path, folders: tuple[Path, ...]) -> bool:
    return any(map(path.is_relative_to, folders))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests that start processes carry the mark `process`, and those of slow folders the mark `slow`.

    In CI the former are tried once more: one lost race among thousands of tests refuses no change, and is in the log.
    """
    fixtures = getattr(item, "fixturenames", ())
    if _is_below(item.path, PROCESS_FOLDERS) or not PROCESS_FIXTURES.isdisjoint(fixtures):
        item.add_marker(pytest.mark.process)
    if item.get_closest_marker("process") and os.environ.get("CI"):
        item.add_marker(pytest.mark.flaky(reruns=1))
    if _is_below(item.path, SLOW_FOLDERS):
        item.add_marker(pytest.mark.slow)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Ignore modules of which the fast loop would take no test, so that it does not import them."""
    conditions = str(config.option.markexpr).split(" and ")
    for mark, folders in (("process", PROCESS_FOLDERS), ("slow", SLOW_FOLDERS)):
        if f"not {mark}" in conditions and _is_below(collection_path, folders):
            return True
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Thousands of tests are collected, none of which is garbage before the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """`-n auto` is a worker per processor, and two more if there are tests that wait for other processes."""
    if given := os.environ.get("PYTEST_XDIST_AUTO_NUM_WORKERS"):
        return int(given)
    is_linux = sys.platform == "linux"
    processors = len(os.sched_getaffinity(0)) if is_linux else os.cpu_count() or 1
    return processors + (0 if "not process" in config.option.markexpr else 2)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Workers begin with what takes longest, so that none has much left when the others are at their end."""
    if hasattr(config, "workerinput"):
        items.sort(key=_rank)


def _rank(item: pytest.Item) -> int:
    is_long = any(item.get_closest_marker(mark) for mark in ("process", "slow"))
    return 0 if _is_below(item.path, (CLIENTS,)) else 1 if is_long else 2


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> Scheduling:
    """With `-n`, a worker takes a file at a time, in order; two take the windows of VS Code, one all other clients.

    A window keeps more than one processor busy while it opens: a third at the same time would make all of them slow.
    Marks of `xdist_group` would do, but xdist 3.8 ignores them under pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415  # It may not be installed.

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            folder, _, file = nodeid.partition("::")[0].rpartition("/")
            if folder != "tests/clients":
                return f"{folder}/{file}"
            halves = [number for number, names in enumerate(WINDOWS) if file.startswith(names)]
            return f"{folder}/windows {halves[0]}" if halves else f"{folder}/others"

    config.option.loadscopereorder = False
    return ByFile(config, log)


MOST_REASONS = 5


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Why something had to be tried again: each such failure is a fault of the test or of the program.

    And how many tests were skipped for which reasons, in five lines at most.
    """
    reasons = Counter(
        report.longrepr[2].removeprefix("Skipped: ")
        for report in terminalreporter.stats.get("skipped", ())
        if isinstance(report.longrepr, tuple)
    )
    if reasons:
        terminalreporter.section("skipped")
    listed = reasons.most_common(MOST_REASONS if len(reasons) <= MOST_REASONS else MOST_REASONS - 1)
    for reason, number in listed:
        terminalreporter.write_line(f"{number:>5} {reason}")
    if rest := sum(reasons.values()) - sum(number for _, number in listed):
        terminalreporter.write_line(
            f"{rest:>5} for {len(reasons) - len(listed)} other reasons; -rs lists them"
        )
    for report in terminalreporter.stats.get("rerun", ()):
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
        for name, text in report.sections:
            terminalreporter.write_line(f"--- {name}\n{text}")


@pytest.fixture(scope="session", autouse=True)
def no_history_of_the_developer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Provide what runs leave behind goes elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session", autouse=True)
def signals_that_no_process_inherits_as_ignored() -> None:
    """Under `nohup` SIGHUP is ignored, and SIGINT in the background of a script; so it would be in all that tests start.

    Python ignores them further, but by a handler, which no other program inherits.
    """
    for number in (signal.SIGINT, *([signal.SIGHUP] if sys.platform != "win32" else [])):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, lambda *_: None)


@pytest.fixture
def provider() -> Iterator[ScriptedProvider]:
    """Provide a provider that answers as the test tells it to."""
    with ScriptedProvider() as provider:
        yield provider
