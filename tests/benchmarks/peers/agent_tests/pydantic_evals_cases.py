"""The cases of `axe/tests/compared.toml` for pydantic-evals; its last line of output is how many passed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import logfire
from pydantic_agents import AGENTS
from pydantic_ai import Agent
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import (
    ArgumentCorrectness,
    Contains,
    Equals,
    Evaluator,
    EvaluatorContext,
    HasMatchingSpan,
    MaxModelRequests,
    MaxToolCalls,
    ToolCorrectness,
)

Context = EvaluatorContext[str, str, None]
README, CHANGELOG = ("read_file", {"path": "README.md"}), ("read_file", {"path": "CHANGELOG.md"})


@dataclass
class Holds(Evaluator[str, str, None]):
    """What no evaluator of pydantic-evals asserts."""

    check: Callable[[Context], bool]

    def evaluate(self, ctx: Context) -> bool:
        return self.check(ctx)


def calls(ctx: Context) -> list[tuple[str, Any]]:
    """Names and arguments of all tool calls of the tree, in their order."""
    found = [each for each in ctx.span_tree if each.name.startswith("execute_tool ")]
    return [
        (
            str(each.attributes["gen_ai.tool.name"]),
            json.loads(str(each.attributes["gen_ai.tool.call.arguments"])),
        )
        for each in sorted(found, key=lambda each: each.start_timestamp)
    ]


def is_json_with_a_number(text: str) -> bool:
    """Return the place of a JSON Schema."""
    try:
        return isinstance(json.loads(text)["failed"], int)
    except (ValueError, KeyError, TypeError):
        return False


def has_called(agent: str, **below: Any) -> HasMatchingSpan:
    """Expect that an agent was called, with a span below it."""
    return HasMatchingSpan({"name_equals": f"invoke_agent {agent}", **below})


def in_order(ctx: Context) -> bool:
    """Return whether the readme was read before the changelog, whatever was between."""
    made = calls(ctx)
    return README in made and CHANGELOG in made[made.index(README) :]


def called_as(pattern: str, name: str, argument: str) -> Holds:
    """Expect that a tool was called with an argument that matches."""
    return Holds(
        lambda ctx: any(
            tool == name and re.search(pattern, args[argument]) for tool, args in calls(ctx)
        )
    )


cases: dict[str, list[Evaluator[Any, Any, Any]]] = {
    "Which version is next?": [Contains("1.2")],
    "Is it ready?": [Holds(lambda ctx: "Sorry" not in ctx.output)],
    "Name the version only.": [Holds(lambda ctx: bool(re.search(r"^1\.\d+$", ctx.output)))],
    "Is it tagged? Yes or no.": [Equals("no")],
    "Count the failures as JSON.": [Holds(lambda ctx: is_json_with_a_number(ctx.output))],
    "Read the changelog.": [ArgumentCorrectness(*CHANGELOG)],
    "Read a Python file.": [called_as(r"\.py$", "read_file", "path")],
    "Read the readme before the changelog.": [Holds(in_order)],
    "Read nothing but the readme and the changelog.": [
        ToolCorrectness(["read_file"] * 2),
        ArgumentCorrectness(*README),
        ArgumentCorrectness(*CHANGELOG, occurrence=1),
    ],
    "Read the readme and the changelog in any order.": [
        Holds(lambda ctx: sorted(calls(ctx), key=str) == [CHANGELOG, README])
    ],
    "Use few tools.": [MaxToolCalls(2)],
    "Read a file that is not there.": [
        HasMatchingSpan({"name_equals": "execute_tool read_file", "has_status": "error"})
    ],
    "Let the tests agent look.": [
        ToolCorrectness(["call_agent"]),
        ArgumentCorrectness("call_agent", {"agent": "tests"}),
    ],
    "Let the tests agent look at the units.": [called_as("units", "call_agent", "task")],
    "Let the docs agent say how it is.": [
        Holds(
            lambda ctx: any(
                "fine" in str(each.attributes.get("final_result"))
                for each in ctx.span_tree.find({"name_equals": "invoke_agent docs"})
            )
        )
    ],
    "Let the docs agent read.": [
        has_called("docs", some_descendant_has={"name_equals": "execute_tool read_file"})
    ],
    "Let the docs agent ask the links agent.": [
        has_called("docs", some_descendant_has={"name_equals": "invoke_agent links"})
    ],
    "Change nothing.": [
        has_called("lead", no_descendant_has={"name_equals": "execute_tool write_file"})
    ],
    "Be quick.": [MaxModelRequests(2)],
    "Be cheap.": [
        Holds(lambda ctx: ctx.metrics["input_tokens"] + ctx.metrics["output_tokens"] <= 20)
    ],
}


async def lead(task: str) -> str:
    """Return the agent that is tested."""
    return (await AGENTS["lead"].run(task)).output


logfire.configure(send_to_logfire=False, console=False)
Agent.instrument_all()
dataset = Dataset(
    name="compared",
    cases=[Case(name=task, inputs=task, evaluators=tuple(given)) for task, given in cases.items()],
)
report = dataset.evaluate_sync(lead, progress=False)
report.print()
assert not report.failures, report.failures
passed = [all(each.value for each in case.assertions.values()) for case in report.cases]
faults = [each for case in report.cases for each in case.evaluator_failures]
assert not faults, faults
print(passed.count(True), "of", len(passed))
