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

    What is `personal` is for the user to say, and no repository that somebody opens.
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
        "Further folders that hold agent files, besides `axe/agents` and `.axe/agents` in the "
        "workspace and the user's own. A relative path starts at each workspace folder; `~` is "
        "the home folder.",
    ),
    Setting(
        "diagnostics",
        {"type": "object", "additionalProperties": {"enum": list(SEVERITIES)}},
        {},
        "Severity by diagnostic code, to change a rule's own or to switch it off or on, such as "
        '`{"name-mismatch": "off", "not-axe": "hint"}`.',
    ),
    Setting(
        "history.keepDays",
        {"type": "integer", "minimum": 0},
        30,
        "For how many days a run started from the editor is remembered, with all that happened in it. 0 "
        "remembers nothing. Runs that are remembered already keep the time that they were given.",
    ),
    Setting(
        "inlayHints",
        {"type": "boolean"},
        True,
        "Show in a table what is in force for the keys that it leaves out, what a 0 stands for, how many "
        "files a glob matches, and how long the prompt is.",
    ),
    Setting(
        "run.timeout",
        {"type": "integer", "minimum": 0},
        0,
        "Seconds that a run started from the editor may take. 0 leaves it to the agent's `timeout`.",
    ),
    Setting(
        "openTelemetry",
        {"type": "boolean"},
        False,
        "Send spans of runs to the collector that OpenTelemetry's variables name, such as "
        "`$OTEL_EXPORTER_OTLP_ENDPOINT`. Needs the extra `otel`: `pip install 'CLONE[otel]'`.",
    ),
    Setting(
        "run.maxConcurrent",
        {"type": "integer", "minimum": 0},
        0,
        "How many runs started from this editor may be at work at the same time, each with all the agents that it "
        "calls. Further ones wait, and begin in the order in which they were started. 0 sets no limit.",
    ),
    Setting(
        "tools.allow",
        {"type": "array", "items": {"type": "string"}},
        [],
        "What agents may do without asking, beside reading: names of tools or globs, such as `write_file` and "
        "`*_file`. A tool of an MCP server is named by the server's address, such as `https://host/path#tool` or "
        "`https://host/path#*`; `*#*` allows all of them. `run_command(git diff)` allows this command, alone or with paths "
        "behind it; `run_command(git diff *)` also allows options. No such rule allows an option that runs a program or "
        "writes a file, such as `-c`, `-exec` or `--output`, nor anything with which a shell would do so. "
        "A rule without effect is worth a warning.",
        personal=True,
    ),
    Setting(
        "approvalTimeout",
        {"type": "integer", "minimum": 0},
        120,
        "Seconds in which to answer when an agent asks whether it may do something; then "
        "it may not. 0 sets no limit. The time of the run stands still meanwhile.",
    ),
)


class Settings(Struct, frozen=True):
    """The values in force."""

    agent_paths: tuple[str, ...] = ()
    diagnostics: Mapping[str, str] = field(default_factory=dict)
    history_keep_days: int = 30
    inlay_hints: bool = True
    run_timeout: int = 0
    run_max_concurrent: int = 0
    open_telemetry: bool = False
    tools_allow: tuple[str, ...] = ()
    approval_timeout: int = 120


def read_settings(section: Any) -> tuple[Settings, list[str]]:
    """The settings in a client's JSON, and a sentence about each value that is not usable.

    What is absent, null or wrong has its default; of an object only the wrong members are left out.
    """
    values: dict[str, Any] = {}
    complaints: list[str] = []
    for setting in SETTINGS:
        value = _at(section, setting.name)
        reason = None if value is None else _fault(setting, value)
        if reason is not None:
            complaints.append(f"the setting axe.{setting.name} {reason}; it is ignored")
        fits = value is not None and reason is None
        values[setting.name] = value if fits else _usable(setting, value)
    settings = Settings(
        agent_paths=tuple(values["agentPaths"]),
        diagnostics=values["diagnostics"],
        history_keep_days=values["history.keepDays"],
        inlay_hints=values["inlayHints"],
        run_timeout=values["run.timeout"],
        run_max_concurrent=values["run.maxConcurrent"],
        open_telemetry=values["openTelemetry"],
        tools_allow=tuple(values["tools.allow"]),
        approval_timeout=values["approvalTimeout"],
    )
    return settings, complaints


def _at(section: Any, dotted: str) -> Any:
    """The value at a dotted name; clients nest the parts, or write the name as it is."""
    if not isinstance(section, Mapping):
        return None
    if dotted in section:
        return section[dotted]
    value: Any = section
    for part in dotted.split("."):
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _usable(setting: Setting, value: Any) -> Any:
    """What there is instead of a value that does not fit."""
    if setting.schema["type"] == "object" and isinstance(value, Mapping):
        return {code: severity for code, severity in value.items() if severity in SEVERITIES}
    return setting.default


def _fault(setting: Setting, value: Any) -> str | None:
    match setting.schema["type"]:
        case "array":
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                return "must be a list of strings"
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
