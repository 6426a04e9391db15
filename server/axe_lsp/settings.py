"""Every setting once: its name, type, default and documentation.

Editors send them in section `axe`; docs/settings.md and the VS Code extension's package.json are
generated from `SETTINGS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

SEVERITIES = ("error", "warning", "information", "hint", "off")


class Setting(Struct, frozen=True):
    """One row. `schema` is the JSON Schema of the value, `name` is dotted below `axe`.

    A `personal` setting comes only from the user's settings, never from a workspace.
    """

    name: str
    schema: Mapping[str, Any]
    default: Any
    doc: str
    personal: bool = False


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "agentPaths",
        {"type": "array", "items": {"type": "string"}},
        [],
        "More folders with agent files, in addition to `axe/agents` and `.axe/agents` in the workspace and the "
        "user's own folder. A relative path is resolved in each workspace folder; `~` is the home folder.",
    ),
    Setting(
        "diagnostics",
        {"type": "object", "additionalProperties": {"enum": list(SEVERITIES)}},
        {},
        "Severity by diagnostic code: changes a rule's severity, or switches the rule off or on, such as "
        '`{"name-mismatch": "off", "not-axe": "hint"}`.',
    ),
    Setting(
        "history.keepDays",
        {"type": "integer", "minimum": 0},
        30,
        "Days to keep runs started from the editor. 0 keeps none. Runs already stored are not affected by a "
        "change.",
    ),
    Setting(
        "inlayHints",
        {"type": "boolean"},
        True,
        "Show effective values for keys that a table omits, the meaning of 0, the number of files that a glob "
        "matches, and the length of the prompt.",
    ),
    Setting(
        "runLog.sources",
        {
            "type": ["array", "null"],
            "items": {"enum": ["axe", "codex", "claude", "opencode"]},
        },
        None,
        "Programs whose runs are shown at their agents: `axe`, and if you allow it `codex`, `claude` and `opencode`, "
        "whose logs contain your conversations with them. No text of those is stored. `[]`: none. `null`: what "
        "`run_log.sources` of `config.toml` says, else `axe` and what you have allowed at the lens *Show its runs*.",
        personal=True,
    ),
    Setting(
        "runLog.days",
        {"type": "integer", "minimum": 0, "maximum": 365},
        0,
        "Days to look back for runs of agents. 0: what `run_log.days` of `config.toml` says, else 30.",
        personal=True,
    ),
    Setting(
        "run.timeout",
        {"type": "integer", "minimum": 0},
        0,
        "Timeout in seconds of runs started from the editor. 0: the agent's `timeout` applies.",
    ),
    Setting(
        "run.goOn",
        {"type": "boolean"},
        True,
        "Continue a run automatically, once, if the process that executes it dies. Runs that the history does not keep "
        "end instead.",
    ),
    Setting(
        "run.onWindowClose",
        {"type": "string", "enum": ["stop", "reload", "continue"]},
        "stop",
        "The fate of runs when the window is closed or reloaded, or when the server dies. `stop`: they end, and can be "
        "resumed. `reload`: they go on for `axe.run.grace` seconds, in which the next window of their folder takes them over. "
        "`continue`: they go on to their end, and cost money unseen. "
        "Only Linux has other values than `stop`.",
    ),
    Setting(
        "run.grace",
        {"type": "integer", "minimum": 1},
        60,
        "Seconds for which runs go on without a window, with `reload`.",
    ),
    Setting(
        "openTelemetry",
        {"type": "boolean"},
        False,
        "Send spans of runs to the collector that OpenTelemetry's environment variables configure, such as "
        "`$OTEL_EXPORTER_OTLP_ENDPOINT`. Needs the extra `otel`: `pip install 'CLONE[otel]'`.",
    ),
    Setting(
        "run.maxConcurrent",
        {"type": "integer", "minimum": 0},
        0,
        "Maximum number of runs at a time, each including its sub-agents. Others are queued in order. 0: no limit.",
    ),
    Setting(
        "tools.allow",
        {"type": "array", "items": {"type": "string"}},
        [],
        "Tools that agents may use without approval: names or globs, such as `write_file` and `*_file`. A tool of an "
        "MCP server has the server's address, such as `https://host/path#tool` or `https://host/path#*`; `*#*` allows "
        "all of them. `run_mcp(uvx mcp-server-git)` allows starting this server, and `run_mcp(uvx mcp-server-git)#*` "
        "its tools. `run_command(git diff)` allows this command, word for word or with plain arguments; "
        "`run_command(git diff *)` also allows options. `write_file(docs/**)` and `edit_file(docs/**)` allow changes of "
        "the files that a glob matches. The section *Allow rules* says which options and files rules allow. A rule "
        "without effect causes a warning.",
        personal=True,
    ),
    Setting(
        "execution.engine",
        {"type": "string", "enum": ["", "here", "ssh", "dask"]},
        "",
        'Where agents with `[isolation] mode = "copy"` work: `here`, or with `ssh` or `dask` on the machines that `config.toml` '
        "names. Empty: what `execution.engine` of `config.toml` says.",
        personal=True,
    ),
    Setting(
        "approvalTimeout",
        {"type": "integer", "minimum": 0},
        120,
        "Seconds to answer an approval request before it is denied, or a question of an agent before it stays "
        "without an answer. 0: no limit. The run's timeout is paused while it waits.",
    ),
)


class Settings(Struct, frozen=True):
    """The values in force."""

    agent_paths: tuple[str, ...] = ()
    diagnostics: Mapping[str, str] = field(default_factory=dict)
    history_keep_days: int = 30
    inlay_hints: bool = True
    run_log_sources: tuple[str, ...] | None = None
    run_log_days: int = 0
    run_timeout: int = 0
    run_go_on: bool = True
    run_on_window_close: str = "stop"
    run_grace: int = 60
    run_max_concurrent: int = 0
    open_telemetry: bool = False
    tools_allow: tuple[str, ...] = ()
    execution_engine: str = ""
    approval_timeout: int = 120


def read_settings(section: Any) -> tuple[Settings, list[str]]:
    """Return the settings in a client's JSON, and a message about each invalid value.

    An absent, null or invalid value gets its default; of an object only the invalid members are dropped.
    """
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for setting in SETTINGS:
        value = _at(section, setting.name)
        find = _not_among if "enum" in setting.schema else _fault
        reason = None if value is None else find(setting, value)
        if reason is not None:
            complaints.append(f"the setting axe.{setting.name} {reason}; it is ignored")
        fits = value is not None and reason is None
        values[setting.name] = value if fits else _usable(setting, value)
    settings = Settings(
        agent_paths=tuple(values["agentPaths"]),
        diagnostics=values["diagnostics"],
        history_keep_days=values["history.keepDays"],
        inlay_hints=values["inlayHints"],
        run_log_sources=_tuple(values["runLog.sources"]),
        run_log_days=min(values["runLog.days"], 365),
        run_timeout=values["run.timeout"],
        run_go_on=values["run.goOn"],
        run_on_window_close=values["run.onWindowClose"],
        run_grace=values["run.grace"],
        run_max_concurrent=values["run.maxConcurrent"],
        open_telemetry=values["openTelemetry"],
        tools_allow=tuple(values["tools.allow"]),
        execution_engine=values["execution.engine"],
        approval_timeout=values["approvalTimeout"],
    )
    return settings, complaints


def _at(section: Any, dotted: str) -> Any:
    """Return the value at a dotted name; clients nest the parts, or write the name as it is."""
    if not isinstance(section, Mapping):
        return None
    if dotted in section:
        return section[dotted]
    value: Any = section
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _usable(setting: Setting, value: Any) -> Any:
    """Return the default for an invalid value; of an object its valid members."""
    if _type_of(setting) == "object" and isinstance(value, Mapping):
        return {code: severity for code, severity in value.items() if severity in SEVERITIES}
    return setting.default


def _not_among(setting: Setting, value: Any) -> str | None:
    words = setting.schema["enum"]
    shown = ", ".join(f'"{each}"' for each in words)
    return None if value in words else f"must be one of {shown}, not {value!r}"


def _fault(setting: Setting, value: Any) -> str | None:
    match _type_of(setting):
        case "array":
            return _fault_of_list(setting, value)
        case "boolean":
            if not isinstance(value, bool):
                return f"must be true or false, not {value!r}"
        case "integer":
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                return f"must be a whole number from 0, not {value!r}"
        case "object":
            if not isinstance(value, Mapping):
                return "must be an object"
            wrong = [f"{each!r} for {at}" for at, each in value.items() if each not in SEVERITIES]
            if wrong:
                return f"knows the severities {', '.join(SEVERITIES)}, not {', '.join(wrong)}"
    return None


def _fault_of_list(setting: Setting, value: Any) -> str | None:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        return "must be a list of strings"
    words = setting.schema["items"].get("enum", value)
    unknown = next((each for each in value if each not in words), None)
    return f"has no {unknown!r}; there are {', '.join(words)}" if unknown is not None else None


def _type_of(setting: Setting) -> str:
    """Return the type of a setting's values besides null."""
    kind = setting.schema["type"]
    return kind if isinstance(kind, str) else str(kind[0])


def _tuple(value: list[str] | None) -> tuple[str, ...] | None:
    return tuple(value) if value is not None else None
