"""Every key of a file of tests, `axe/tests/*.toml`, one row each. docs/testing.md describes them."""

from __future__ import annotations

from collections.abc import Iterator

from axe_lsp.agentfile.schema.key_spec import EXTENSION, KeyPath, KeySpec, KeyType, Names, Schema

STATUSES = ("completed", "failed", "timeout", "cancelled", "killed")
"""The ways in which a run can end."""

MATCHES = ("ordered", "exact", "unordered", "subset", "superset")
"""How expected tool calls are compared with those of a run. The first is the default."""

WHOLE_NUMBERS = {
    "turns": "Requests of the run itself.",
    "tool_calls": "Tool calls of the run itself.",
    "tokens": "Input and output tokens of the run with its children.",
}
NUMBERS = {
    "cost": "US dollars of the run with its children.",
    "seconds": "Duration of the run; with `--live` only.",
}

TOOLS = ("run", "recorded")
"""Where results of tools come from in a replay. The first is the default."""

ARGUMENT_WORDS = {
    "equals": (KeyType.STRING, "The whole argument."),
    "contains": (KeyType.STRINGS, "Texts that must occur in it."),
    "lacks": (KeyType.STRINGS, "Texts that must not occur in it."),
    "matches": (KeyType.STRING, "A regular expression (Python's) found in it."),
    "schema": (KeyType.JSON_SCHEMA, "A JSON Schema that it fits."),
    "any": (KeyType.BOOLEAN, "It is there, whatever it is."),
}
"""The checks of one argument of a call."""

_MAX_DEPTH = 5
"""Deeper than this no agent is called."""

_CASE: KeyPath = ("case",)
_EXPECT: KeyPath = (*_CASE, "expect")
FORBIDDEN: KeyPath = (*_EXPECT, "forbidden")


def _row(path: KeyPath, type_: KeyType, doc: str, **more: object) -> KeySpec:
    return KeySpec(path, type_, doc, since=EXTENSION, **more)  # type: ignore[arg-type] # fields of the row


def _text(path: KeyPath, doc: str) -> Iterator[KeySpec]:
    """A table of checks of a text."""
    words = (KeyType.STRING,)
    yield _row(path, KeyType.TABLE, doc)
    yield _row((*path, "contains"), KeyType.STRINGS, "Texts that must occur in it.", also=words)
    yield _row((*path, "lacks"), KeyType.STRINGS, "Texts that must not occur in it.", also=words)
    yield _row((*path, "matches"), KeyType.STRING, "A regular expression (Python's) found in it.")
    yield _row(
        (*path, "equals"), KeyType.ANY, "The whole text; for a value of another type, its JSON."
    )
    yield _row((*path, "schema"), KeyType.JSON_SCHEMA, "A JSON Schema that it fits as JSON.")


def _run(path: KeyPath) -> Iterator[KeySpec]:
    """The expectations about one run."""
    yield from _text((*path, "answer"), "The last text of the run.")
    yield _row(
        (*path, "status"),
        KeyType.STRING,
        "How the run ends. A case that expects no `error` expects `completed`.",
        choices=STATUSES,
    )
    yield _row((*path, "error"), KeyType.STRING, "A text in the message of the failed run.")
    for names, type_ in ((WHOLE_NUMBERS, KeyType.INTEGER), (NUMBERS, KeyType.FLOAT)):
        for name, doc in names.items():
            yield _row((*path, name), KeyType.TABLE, doc)
            for word, meaning in (("min", "At least"), ("max", "At most"), ("equals", "Exactly")):
                yield _row((*path, name, word), type_, f"{meaning} this.", minimum=0)
    tools = (*path, "tools")
    yield _row(tools, KeyType.TABLES, "Tool calls of the run itself.")
    yield _row(
        (*tools, "match"),
        KeyType.STRING,
        "`ordered`: these calls in this order, others between them. `exact`: these calls and no others, in this order. "
        "`unordered`: these and no others, in any order. `subset`: at least these. `superset`: no others than these.",
        default='"ordered"',
        choices=MATCHES,
    )
    yield _row((*tools, "calls"), KeyType.TABLES, "The expected calls.", required=True)
    yield from _call((*tools, "calls"))
    yield _row(
        (*tools, "calls", "error"), KeyType.BOOLEAN, "Whether the call fails. Default: either."
    )
    yield _row(
        (*tools, "calls", "times"),
        KeyType.INTEGER,
        "How many such calls are expected.",
        default="1",
        minimum=1,
    )


def _call(path: KeyPath) -> Iterator[KeySpec]:
    yield _row(
        (*path, "name"),
        KeyType.STRING,
        "The tool; a glob such as `issues/*` means several.",
        names=Names.TOOL,
        required=True,
    )
    yield _row(
        (*path, "args"),
        KeyType.ANY_TABLE,
        "A part of the arguments. Each has a value, or a table of `equals`, `contains`, `lacks`, `matches`, `schema`, `any`.",
    )


def _children(path: KeyPath, depth: int) -> Iterator[KeySpec]:
    """The expectations about the children of a run, and about theirs."""
    if depth > _MAX_DEPTH:
        return
    here = (*path, "children")
    yield _row(here, KeyType.TABLES, "Agents that the run calls.")
    yield _row(
        (*here, "agent"),
        KeyType.STRING,
        "The name of the called agent.",
        names=Names.AGENT,
        required=True,
    )
    yield _row(
        (*here, "times"),
        KeyType.INTEGER,
        "How often the agent is called with such a task. Default: at least once.",
        minimum=0,
    )
    yield from _text((*here, "task"), "The task that the child gets; selects among its calls.")
    yield from _run(here)
    yield from _children(here, depth + 1)


def _rows() -> Iterator[KeySpec]:
    yield _row(
        ("agent",), KeyType.STRING, "The agent of all cases.", names=Names.AGENT, required=True
    )
    yield _row(
        ("workspace",),
        KeyType.STRING,
        "A folder of the project, from the folder of this file, that is copied for each case. Default: an empty one.",
    )
    yield _row(
        ("allow",),
        KeyType.STRINGS,
        "Rules for tools that change something or run commands, as in the setting `tools.allow`. Needs your trust; "
        "all else is denied.",
    )
    yield _row(
        ("tools",),
        KeyType.STRING,
        "In a replay, `run` executes tools in the copied workspace. `recorded` takes their results from the recording, "
        "also those of MCP servers, which are not connected.",
        default='"run"',
        choices=TOOLS,
    )
    yield _row(_CASE, KeyType.TABLES, "The cases.")
    yield _row((*_CASE, "name"), KeyType.STRING, "The name of the case.", required=True)
    yield _row(
        (*_CASE, "task"),
        KeyType.STRING,
        "The task; an array is a conversation, a message each.",
        also=(KeyType.STRINGS,),
    )
    yield _row((*_CASE, "input"), KeyType.ANY_TABLE, "The input of an agent with `[input]`.")
    yield _row(
        (*_CASE, "replay"),
        KeyType.STRING,
        "The recording, from the folder `recordings` next to this file. Default: `FILE/NAME.toml`, named by file and case.",
    )
    yield _row(
        (*_CASE, "rate"),
        KeyType.FLOAT,
        "The part of the runs that have to pass with `--live`.",
        default="1.0",
        minimum=0,
        maximum=1,
    )
    yield _row(_EXPECT, KeyType.TABLE, "The expectations. Without any: the run completes.")
    yield from _run(_EXPECT)
    yield _row(
        (*_EXPECT, "files"),
        KeyType.ANY_TABLE,
        "Files of the copied workspace after the run: `true` (there), `false` (not there), or checks of the content.",
    )
    yield _row(
        FORBIDDEN,
        KeyType.STRINGS,
        "Tools that nobody in the whole tree calls: names, globs, or tables with `name` and `args`.",
        also=(KeyType.TABLES,),
    )
    yield from _call(FORBIDDEN)
    yield _row(
        (*_EXPECT, "judge"), KeyType.TABLES, "Agents of yours that judge the run, with `[output]`."
    )
    yield _row(
        (*_EXPECT, "judge", "agent"),
        KeyType.STRING,
        "The agent that judges. Its `[input]` has `task`, `answer`, `transcript` and `criteria`, its `[output]` "
        "`pass` and `reason`.",
        names=Names.AGENT,
        required=True,
    )
    yield _row(
        (*_EXPECT, "judge", "criteria"),
        KeyType.STRING,
        "The criteria that it judges by.",
        required=True,
    )
    yield from _children(_EXPECT, 1)


TESTS = Schema(
    "tests of agents",
    tuple(_rows()),
    program="axe-lsp",
    rejects_unknown=True,
    empty_is_absent=False,
)
