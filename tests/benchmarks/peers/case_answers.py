"""What the model says in the compared tests of agents: for each task its turns, as expected and deviating.

The cases themselves are in the folder agent_tests, once for each contender.
"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]
Call = tuple[str, Json]


def turns(task: str, *, deviates: bool) -> list[str | list[Call]]:
    """Return the turns of the agent whose first message ends with a task of the table."""
    for known, (expected, deviating) in _TURNS.items():
        if task.endswith(known):
            return deviating if deviates else expected
    raise KeyError(task)


def _read(*paths: str) -> list[Call]:
    return [("read_file", {"path": path}) for path in paths]


def _ask(agent: str, task: str) -> list[Call]:
    return [("call_agent", {"agent": agent, "task": task})]


_README, _CHANGELOG, _SETUP = _read("README.md"), _read("CHANGELOG.md"), _read("setup.py")
_WRITE: list[Call] = [("write_file", {"path": "README.md", "content": "Changed."})]

_TURNS: dict[str, tuple[list[str | list[Call]], list[str | list[Call]]]] = {
    # Answers.
    "Which version is next?": (["The next version is 1.2."], ["I can't say."]),
    "Is it ready?": (["It is ready."], ["Sorry, I can't say."]),
    "Name the version only.": (["1.2"], ["It is 1.2"]),
    "Is it tagged? Yes or no.": (["no"], ["No."]),
    "Count the failures as JSON.": (['{"failed": 0}'], ['{"failed": "none"}']),
    # Tool calls.
    "Read the changelog.": ([_CHANGELOG, "Done."], [_README, "Done."]),
    "Read a Python file.": ([_SETUP, "Done."], [_README, "Done."]),
    "Read the readme before the changelog.": (
        [_README, _SETUP, _CHANGELOG, "Done."],
        [_CHANGELOG, _SETUP, _README, "Done."],
    ),
    "Read nothing but the readme and the changelog.": (
        [_README, _CHANGELOG, "Done."],
        [_README, _SETUP, _CHANGELOG, "Done."],
    ),
    "Read the readme and the changelog in any order.": (
        [_CHANGELOG, _README, "Done."],
        [_CHANGELOG, _CHANGELOG, "Done."],
    ),
    "Use few tools.": ([_README, "Done."], [_README, _SETUP, _CHANGELOG, "Done."]),
    "Read a file that is not there.": ([_read("absent.md"), "Done."], [_README, "Done."]),
    # Called agents.
    "Let the tests agent look.": ([_ask("tests", "Look at all."), "Done."], ["Done."]),
    "Let the tests agent look at the units.": (
        [_ask("tests", "Look at the units."), "Done."],
        [_ask("tests", "Look at all."), "Done."],
    ),
    "Let the docs agent say how it is.": ([_ask("docs", "How is it?"), "Done."],) * 2,
    "Let the docs agent read.": ([_ask("docs", "Read for yourself."), "Done."],) * 2,
    "Let the docs agent ask the links agent.": ([_ask("docs", "Ask about links."), "Done."],) * 2,
    "Change nothing.": ([_ask("docs", "Look and don't change."), "Done."],) * 2,
    "Look at all.": (["All passed."],) * 2,
    "Look at the units.": (["Units passed."],) * 2,
    "How is it?": (["All fine."], ["A link is broken."]),
    "Read for yourself.": ([_README, "I did."], ["I did not."]),
    "Ask about links.": ([_ask("links", "Are they fine?"), "Yes."], ["I did not ask."]),
    "Are they fine?": (["Yes."],) * 2,
    "Look and don't change.": ([_README, "Fine."], [_WRITE, "Fine."]),
    # Measures.
    "Be quick.": ([_README, "Done."], [_README, _SETUP, "Done."]),
    "Be cheap.": (["Done."], [_README, "Done."]),
}
