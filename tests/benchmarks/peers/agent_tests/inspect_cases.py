"""The cases of `axe/tests/compared.toml` for inspect-ai; its last line of output is how many passed."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from inspect_agents import made
from inspect_ai import Task
from inspect_ai import eval as evaluate
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageTool, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState
from inspect_ai.util import store

# -- what happened in a run


@dataclass
class Seen:
    """A run: its calls (name, arguments, whether it failed) and the agents that it called."""

    answer: str
    task: str = ""
    agent: str = "lead"
    calls: list[tuple[str, Any, bool]] = field(default_factory=list)
    children: list[Seen] = field(default_factory=list)
    turns: int = 0
    tokens: int = 0

    def called(self, name: str, fits: Callable[[Any], bool] = lambda _: True) -> bool:
        return any(tool == name and fits(arguments) for tool, arguments, _ in self.calls)

    def child(self, agent: str, fits: Callable[[Seen], bool] = lambda _: True) -> bool:
        return any(each.agent == agent and fits(each) for each in self.children)


def seen(state: TaskState) -> Seen:
    """Return the run and all below it."""
    root = Seen(state.output.completion, tokens=state.token_usage)
    _messages(root, state.messages)
    below = store().get("children", [])
    _children(root, below)
    return root


def _messages(into: Seen, messages: list[ChatMessage]) -> None:
    failed = {
        each.tool_call_id for each in messages if isinstance(each, ChatMessageTool) and each.error
    }
    turns = [each for each in messages if isinstance(each, ChatMessageAssistant)]
    into.turns = len(turns)
    for turn in turns:
        for call in turn.tool_calls or []:
            into.calls.append((call.function, call.arguments, call.id in failed))


def _children(into: Seen, below: list[dict[str, Any]]) -> None:
    for each in below:
        if each["caller"] == into.agent:
            child = Seen(each["answer"], each["task"], each["agent"])
            _messages(child, each["messages"])
            _children(child, below)
            into.children.append(child)


def tree(run: Seen) -> list[Seen]:
    return [run, *(each for child in run.children for each in tree(child))]


# -- the cases


def is_json_with_a_number(text: str) -> bool:
    """Return the place of a JSON Schema."""
    try:
        return isinstance(json.loads(text)["failed"], int)
    except (ValueError, KeyError, TypeError):
        return False


def paths(run: Seen) -> list[str]:
    return [arguments["path"] for _, arguments, _ in run.calls]


def in_order(run: Seen) -> bool:
    read = paths(run)
    return "README.md" in read and "CHANGELOG.md" in read[read.index("README.md") :]


BOTH = ["README.md", "CHANGELOG.md"]

CASES: dict[str, Callable[[Seen], bool]] = {
    "Which version is next?": lambda run: "1.2" in run.answer,
    "Is it ready?": lambda run: "Sorry" not in run.answer,
    "Name the version only.": lambda run: bool(re.search(r"^1\.\d+$", run.answer)),
    "Is it tagged? Yes or no.": lambda run: run.answer == "no",
    "Count the failures as JSON.": lambda run: is_json_with_a_number(run.answer),
    "Read the changelog.": lambda run: run.called(
        "read_file", lambda given: given["path"] == "CHANGELOG.md"
    ),
    "Read a Python file.": lambda run: run.called(
        "read_file", lambda given: bool(re.search(r"\.py$", given["path"]))
    ),
    "Read the readme before the changelog.": in_order,
    "Read nothing but the readme and the changelog.": lambda run: paths(run) == BOTH,
    "Read the readme and the changelog in any order.": lambda run: (
        sorted(paths(run)) == sorted(BOTH)
    ),
    "Use few tools.": lambda run: len(run.calls) <= 2,
    "Read a file that is not there.": lambda run: any(
        name == "read_file" and is_error for name, _, is_error in run.calls
    ),
    "Let the tests agent look.": lambda run: [each.agent for each in run.children] == ["tests"],
    "Let the tests agent look at the units.": lambda run: run.child(
        "tests", lambda child: "units" in child.task
    ),
    "Let the docs agent say how it is.": lambda run: run.child(
        "docs", lambda child: "fine" in child.answer
    ),
    "Let the docs agent read.": lambda run: run.child(
        "docs", lambda child: child.called("read_file")
    ),
    "Let the docs agent ask the links agent.": lambda run: run.child(
        "docs", lambda child: child.child("links")
    ),
    "Change nothing.": lambda run: not any(each.called("write_file") for each in tree(run)),
    "Be quick.": lambda run: run.turns <= 2,
    "Be cheap.": lambda run: run.tokens <= 20,
}


@scorer(metrics=[accuracy()])
def as_expected() -> Scorer:
    async def score(state: TaskState, target: Target) -> Score:
        is_met = CASES[state.input_text](seen(state))
        return Score(value=CORRECT if is_met else INCORRECT, answer=state.output.completion)

    return score


# -- running

os.environ.update(SCRIPTED_BASE_URL=f"{os.environ['PROVIDER']}/v1", SCRIPTED_API_KEY="key")
log = evaluate(
    Task(
        dataset=[Sample(input=task, target="") for task in CASES],
        solver=made("lead"),
        scorer=as_expected(),
    ),
    model=get_model("openai-api/scripted/case-0"),
    display="none",
    log_dir="inspect-logs",
)[0]
assert log.status == "success", log.error
scores = [sample.scores["as_expected"] for sample in log.samples or [] if sample.scores]
print(sum(each.value == CORRECT for each in scores), "of", len(scores))
