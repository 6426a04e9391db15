"""Every key of a file of tests, `axe/tests/*.toml`, one row each. docs/testing.md describes them."""

from __future__ import annotations

from msgspec.structs import replace

from axe_lsp.agentfile.schema.key_spec import (
    EXTENSION,
    KeyPath,
    KeySpec,
    KeyType,
    Names,
    Schema,
    count,
    row,
    table,
)

_S, _B, _F = KeyType.STRING, KeyType.BOOLEAN, KeyType.FLOAT
_SS, _T, _TT = KeyType.STRINGS, KeyType.TABLE, KeyType.TABLES
_SCHEMA, _OPEN, _ANY = KeyType.JSON_SCHEMA, KeyType.ANY_TABLE, KeyType.ANY

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

ARGUMENT_WORDS = (
    row("equals", _S, "The whole argument."),
    row("contains", _SS, "Texts that must occur in it."),
    row("lacks", _SS, "Texts that must not occur in it."),
    row("matches", _S, "A regular expression (Python's) found in it."),
    row("schema", _SCHEMA, "A JSON Schema that it fits."),
    row("any", _B, "It is there, whatever it is."),
)
"""The checks of one argument of a call."""

_MAX_DEPTH = 5
"""Deeper than this no agent is called."""

FORBIDDEN: KeyPath = ("case", "expect", "forbidden")


def _text(name: str, doc: str) -> tuple[KeySpec, ...]:
    """Return a table of checks of a text."""
    return table(
        name,
        doc,
        row("contains", _SS, "Texts that must occur in it.", also=(_S,)),
        row("lacks", _SS, "Texts that must not occur in it.", also=(_S,)),
        row("matches", _S, "A regular expression (Python's) found in it."),
        row("equals", _ANY, "The whole text; for a value of another type, its JSON."),
        row("schema", _SCHEMA, "A JSON Schema that it fits as JSON."),
    )


def _number(name: str, type_: KeyType, doc: str) -> tuple[KeySpec, ...]:
    """Return a table of checks of a number."""
    words = (("min", "At least"), ("max", "At most"), ("equals", "Exactly"))
    return table(
        name, doc, *(row(word, type_, f"{meaning} this.", minimum=0) for word, meaning in words)
    )


_CALL = (
    row(
        "name",
        _S,
        "The tool; a glob such as `issues/*` means several.",
        names=Names.TOOL,
        required=True,
    ),
    row(
        "args",
        _OPEN,
        "A part of the arguments. Each has a value, or a table of `equals`, `contains`, `lacks`, `matches`, `schema`, `any`.",
    ),
)

_RUN = (
    *_text("answer", "The last text of the run."),
    row(
        "status",
        _S,
        "How the run ends. A case that expects no `error` expects `completed`.",
        choices=STATUSES,
    ),
    row("error", _S, "A text in the message of the failed run."),
    *(key for name, doc in WHOLE_NUMBERS.items() for key in _number(name, KeyType.INTEGER, doc)),
    *(key for name, doc in NUMBERS.items() for key in _number(name, _F, doc)),
    *table(
        "tools",
        "Tool calls of the run itself.",
        row(
            "match",
            _S,
            "`ordered`: these calls in this order, others between them. `exact`: these calls and no others, in this order. "
            "`unordered`: these and no others, in any order. `subset`: at least these. `superset`: no others than these.",
            default='"ordered"',
            choices=MATCHES,
        ),
        *table(
            "calls",
            "The expected calls.",
            *_CALL,
            row("error", _B, "Whether the call fails. Default: either."),
            count("times", "How many such calls are expected.", 1, default="1"),
            type_=_TT,
            required=True,
        ),
        type_=_TT,
    ),
)
"""The expectations about one run."""


def _children(depth: int) -> tuple[KeySpec, ...]:
    """Return the expectations about the children of a run, and about theirs."""
    if depth > _MAX_DEPTH:
        return ()
    return table(
        "children",
        "Agents that the run calls.",
        row("agent", _S, "The name of the called agent.", names=Names.AGENT, required=True),
        count("times", "How often the agent is called with such a task. Default: at least once."),
        row(
            "background",
            _B,
            "Whether the run does not wait for the child, a side run; selects among its calls. Default: both.",
        ),
        *_text("task", "The task that the child gets; selects among its calls."),
        *_RUN,
        *_children(depth + 1),
        type_=_TT,
    )


_KEYS = (
    row("agent", _S, "The agent of all cases.", names=Names.AGENT, required=True),
    row(
        "workspace",
        _S,
        "A folder of the project, from the folder of this file, that is copied for each case. Default: an empty one.",
    ),
    row(
        "allow",
        _SS,
        "Rules for tools that change something or run commands, as in the setting `tools.allow`. Needs your trust; "
        "all else is denied.",
    ),
    row(
        "tools",
        _S,
        "In a replay, `run` executes tools in the copied workspace. `recorded` takes their results from the recording, "
        "also those of MCP servers, which are not connected.",
        default='"run"',
        choices=TOOLS,
    ),
    *table(
        "case",
        "The cases.",
        row("name", _S, "The name of the case.", required=True),
        row("task", _S, "The task; an array is a conversation, a message each.", also=(_SS,)),
        row("input", _OPEN, "The input of an agent with `[input]`."),
        row(
            "replay",
            _S,
            "The recording, from the folder `recordings` next to this file. Default: `FILE/NAME.toml`, named by file and case.",
        ),
        row(
            "rate",
            _F,
            "The part of the runs that have to pass with `--live`.",
            default="1.0",
            minimum=0,
            maximum=1,
        ),
        *table(
            "expect",
            "The expectations. Without any: the run completes.",
            *_RUN,
            row(
                "files",
                _OPEN,
                "Files of the copied workspace after the run: `true` (there), `false` (not there), or checks of the content.",
            ),
            *table(
                "forbidden",
                "Tools that nobody in the whole tree calls: names, globs, or tables with `name` and `args`.",
                *_CALL,
                type_=_SS,
                also=(_TT,),
            ),
            *table(
                "judge",
                "Agents of yours that judge the run, with `[output]`.",
                row(
                    "agent",
                    _S,
                    "The agent that judges. Its `[input]` has `task`, `answer`, `transcript` and `criteria`, its `[output]` "
                    "`pass` and `reason`.",
                    names=Names.AGENT,
                    required=True,
                ),
                row("criteria", _S, "The criteria that it judges by.", required=True),
                type_=_TT,
            ),
            *_children(1),
        ),
        type_=_TT,
    ),
)

TESTS = Schema(
    "tests of agents",
    tuple(replace(key, since=EXTENSION) for key in _KEYS),
    program="axe-lsp",
    rejects_unknown=True,
    empty_is_absent=False,
)
