"""What a run costs beside the model: per turn, and where many children work at once."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.contenders import OURS, PEERS, PEERS_PYTHON, PYTHON
from benchmarks.results import Ratio, Row, Table
from benchmarks.timing import Sample, take_turns

IN_EDITOR = "axe-lsp, editor"
BARE_AIOHTTP = "bare aiohttp"
BARE_LOOP = "bare httpx-aiohttp"
BARE_HTTPX2 = "bare httpx2"
FRAMEWORKS = ("pydantic-ai", "openai-agents", "langgraph")
ON_AIOHTTP = {f"{name}, aiohttp": name for name in FRAMEWORKS}
CONTENDERS = (OURS, IN_EDITOR, BARE_AIOHTTP, BARE_LOOP, BARE_HTTPX2, *FRAMEWORKS)

_TURNS = 50
_LARGEST = 1_000

_TENTH = [Ratio(OURS, name, wanted=0.1) for name in FRAMEWORKS]

_AHEAD = [
    Ratio(
        OURS,
        name,
        wanted={"10 children": 0.1, "100 children": 0.1, f"{_LARGEST:,} children": 0.25},
    )
    for name in FRAMEWORKS
]


@dataclass(frozen=True)
class Made:
    """What it took to make a conversation."""

    milliseconds: float
    most_memory: float


Makes = list[Made | None]
"""What each round took, None when the contender had given up: some do, of a thousand children."""


def measure(rounds: int, fans: Sequence[int], largest_rounds: int) -> Iterator[Table]:
    """Yield the same conversations with every contender, in turns."""
    with _contenders() as loops:
        own = {name: loop for name, loop in loops.items() if name not in ON_AIOHTTP}
        turns = make_in_turns(own, f"turns-{_TURNS}", rounds)
        yield _turn_table(turns)
        by_fan = {fan: make_in_turns(loops, f"fan-{fan}", rounds) for fan in fans if fan < _LARGEST}
        if _LARGEST in fans:
            by_fan[_LARGEST] = _largest_fan(loops, largest_rounds)
        yield _fan_table(by_fan)
        yield _memory_table(by_fan)


def _largest_fan(loops: Mapping[str, Process], rounds: int) -> dict[str, Makes]:
    """Once by each framework, which takes ten seconds and more."""
    model = f"fan-{_LARGEST}"
    slow = (*FRAMEWORKS, *ON_AIOHTTP)
    others = {name: loop for name, loop in loops.items() if name not in slow}
    frameworks = {name: loops[name] for name in slow}
    return {
        **make_in_turns(others, model, rounds),
        **make_in_turns(frameworks, model, rounds=1, warm_up=0),
    }


def _turn_table(made: Mapping[str, Makes]) -> Table:
    per_turn = sample(made, lambda each: each.milliseconds / _TURNS)
    return Table(
        title="Turns",
        note=f"The time of one of the {_TURNS} turns of a conversation. Each turn has one tool call, and "
        "the provider, on the same machine, answers at once. `axe-lsp` is a run in the run host, as "
        "for an editor: each event is sent over a pipe, read, and written to the history. `axe-lsp, "
        "editor` is a whole run that an editor starts in the language server and whose events it "
        "reads. The bare loops are minimal programs with aiohttp, with httpx on aiohttp's "
        "connections, and with httpx2, which has the same transport as axe-lsp.",
        unit="ms",
        contenders=CONTENDERS,
        ratios=[
            Ratio(OURS, BARE_LOOP, wanted=1.5),
            Ratio(IN_EDITOR, BARE_AIOHTTP, wanted=3),
            *_TENTH,
        ],
        rows=[Row("a turn", per_turn)],
    )


def _fan_table(by_fan: Mapping[int, Mapping[str, Makes]]) -> Table:
    return Table(
        title="Children at once",
        note="The time of a run from the order to its end. An agent calls many agents in one answer, and "
        "each of them sends a request to a provider that takes 50 ms to answer. The frameworks are "
        "measured with their default HTTP client, and again with aiohttp. Target: 1,000 children in "
        "a quarter of the time of each framework with its default client.",
        unit="ms",
        contenders=(*CONTENDERS, *ON_AIOHTTP),
        ratios=[
            Ratio(OURS, BARE_LOOP),
            Ratio(IN_EDITOR, BARE_AIOHTTP, wanted={f"{_LARGEST:,} children": 4}),
            Ratio(BARE_AIOHTTP, BARE_LOOP),
            Ratio(BARE_LOOP, BARE_HTTPX2),
            *_AHEAD,
            *(Ratio(OURS, name) for name in ON_AIOHTTP),
        ],
        rows=[
            Row(f"{fan:,} children", sample(made, lambda each: each.milliseconds))
            for fan, made in by_fan.items()
        ],
    )


def _memory_table(by_fan: Mapping[int, Mapping[str, Makes]]) -> Table:
    return Table(
        title="Memory of runs",
        note="The highest resident memory of the process that makes the runs of the previous tables; for "
        "axe-lsp this is the run host. Target: at most 120 MB.",
        unit="MB",
        contenders=CONTENDERS,
        ratios=[Ratio(OURS, BARE_LOOP), *(Ratio(OURS, name) for name in FRAMEWORKS)],
        rows=[
            Row(
                f"{fan:,} children",
                sample({name: each[-1:] for name, each in made.items()}, _memory),
            )
            for fan, made in by_fan.items()
        ],
    )


def _memory(made: Made) -> float:
    return made.most_memory


def sample(made: Mapping[str, Makes], value: Callable[[Made], float]) -> dict[str, Sample | None]:
    """Return a value of what each contender has made; None for one that has given up."""
    return {name: _values(each, value) for name, each in made.items()}


def _values(makes: Makes, value: Callable[[Made], float]) -> Sample | None:
    values = tuple(value(each) for each in makes if each is not None)
    return Sample(values) if len(values) == len(makes) else None


Process = subprocess.Popen[str]


def make_in_turns(
    loops: Mapping[str, Process], model: str, rounds: int, warm_up: int = 1
) -> dict[str, Makes]:
    """Return what the contenders needed for the conversations of a model, in rounds."""
    makers = {name: _maker(loop, model) for name, loop in loops.items()}
    return take_turns(makers, rounds, warm_up)


def _maker(loop: Process, model: str) -> Callable[[], Made | None]:
    def make() -> Made | None:
        assert loop.stdin is not None
        if loop.poll() is not None:
            return None
        loop.stdin.write(f"{model}\n")
        loop.stdin.flush()
        numbers = _line(loop).split()
        return Made(*map(float, numbers)) if numbers else None

    return make


@contextmanager
def provider() -> Iterator[str]:
    """Provide the address of a provider, `peers/scripted_provider.py`."""
    with process([PYTHON, PEERS / "scripted_provider.py"]) as started:
        yield f"http://127.0.0.1:{_line(started)}"


@contextmanager
def _contenders() -> Iterator[Mapping[str, Process]]:
    """Provide every contender as a process that makes conversations with one provider."""
    with ExitStack() as stack:
        address = stack.enter_context(provider())
        commands: dict[str, list[str | Path]] = {
            OURS: [PYTHON, PEERS / "axe_loop.py", address],
            IN_EDITOR: [PYTHON, PEERS / "editor_loop.py", address],
            BARE_AIOHTTP: [PEERS_PYTHON, PEERS / "bare_aiohttp_loop.py", address],
            BARE_LOOP: [PEERS_PYTHON, PEERS / "bare_loop.py", address],
            BARE_HTTPX2: [PEERS_PYTHON, PEERS / "bare_httpx2_loop.py", address],
        }
        for name in FRAMEWORKS:
            program = PEERS / f"{name.replace('-', '_')}_loop.py"
            commands[name] = [PEERS_PYTHON, program, address]
        for name, framework in ON_AIOHTTP.items():
            commands[name] = [*commands[framework], "aiohttp"]
        yield {name: stack.enter_context(process(each)) for name, each in commands.items()}


@contextmanager
def process(command: Sequence[str | Path]) -> Iterator[Process]:
    """Provide a contender at work, or the provider."""
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def _line(process: Process) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()
