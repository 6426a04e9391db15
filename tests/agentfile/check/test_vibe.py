"""Vibe's agent files are judged as Vibe does it.

The verdicts were recorded with mistral-vibe 3.0.3: `AgentProfile.from_toml`, then `VibeConfigSchema`.
"""

from __future__ import annotations

import pytest

from axe_lsp.agentfile.check.check import Judge, check
from axe_lsp.agentfile.check.problem import Problem
from axe_lsp.agentfile.check.vibe import vibe_agent, vibe_config
from axe_lsp.agentfile.dialects import VIBE
from axe_lsp.agentfile.schema.lookup import Lookup
from axe_lsp.agentfile.schema.vibe_keys import VIBE_AGENT
from axe_lsp.agentfile.text.parse import Parse

TAKEN = {
    "nothing": "",
    "own keys": 'display_name = "D"\ndescription = "d"\nsafety = "safe"\nagent_type = "subagent"\ninstructions = "i"\n',
    "safety smart": 'safety = "smart"\n',
    "safety yolo": 'safety = "yolo"\n',
    "texts untyped": 'display_name = 3\ndescription = ["x"]\ninstructions = true\n',
    "bool text": 'enable_telemetry = "no"\n',
    "bool 1": "enable_telemetry = 1\n",
    "bool 0.0": "enable_telemetry = 0.0\n",
    "bool text upper": 'enable_telemetry = "YES"\n',
    "int text": 'max_subagents = "4"\n',
    "int text sign": 'max_subagents = "+4"\n',
    "int text float": 'max_subagents = "4.0"\n',
    "int underscore": 'max_subagents = "1_000"\n',
    "int float": "max_subagents = 4.0\n",
    "int bool": "max_subagents = true\n",
    "int space": 'max_subagents = " 4 "\n',
    "float int": "api_timeout = 3\n",
    "float text": 'api_timeout = "3.5"\n',
    "float bool": "api_timeout = true\n",
    "str missing model": 'active_model = "nope"\n',
    "list": 'enabled_tools = ["bash", "re:x", "a_*"]\n',
    "list empty": "enabled_tools = []\n",
    "paths": 'skill_paths = ["~/x"]\n',
    "agent paths": 'agent_paths = ["x"]\n',
    "tools": '[tools.bash]\npermission = "always"\nallowlist = ["x"]\n',
    "tools odd": "tools = 3\n",
    "tools not table": "[tools]\nbash = 3\n",
    "tools custom": "[tools.my_thing]\nx = 1\n",
    "tools permission": '[tools.bash]\npermission = "sometimes"\n',
    "timeouts": "[tools.bash]\ndefault_timeout = 3\nmax_timeout_seconds = 5\n",
    "models": '[[models]]\nname = "x"\nprovider = "mistral"\nalias = "a"\ntemperature = 1\nthinking = "high"\n',
    "models map": '[models.a]\nname = "x"\nprovider = "mistral"\n',
    "models map orphan": "[models.a]\ntemperature = 1\n",
    "models orphan": '[[models]]\nalias = "x"\n',
    "models thinking": '[[models]]\nname = "x"\nprovider = "mistral"\nthinking = "hard"\n',
    "providers": '[[providers]]\nname = "p"\napi_base = "x"\n',
    "providers style": '[[providers]]\nname = "p"\napi_base = "x"\napi_style = "y"\n',
    "mcp stdio": '[[mcp_servers]]\nname = "s"\ntransport = "stdio"\ncommand = "x"\nargs = ["a"]\nenv = {A = "b"}\n',
    "mcp stdio list": '[[mcp_servers]]\nname = "s"\ntransport = "stdio"\ncommand = ["x"]\n',
    "mcp http": '[[mcp_servers]]\nname = "s"\ntransport = "http"\nurl = "http://x"\nheaders = {A = "b"}\n',
    "mcp unknown": '[[mcp_servers]]\nname = "s"\ntransport = "http"\nurl = "x"\nurls = "y"\n',
    "mcp auth": '[[mcp_servers]]\nname = "s"\ntransport = "http"\nurl = "x"\n[mcp_servers.auth]\ntype = "oauth"\nscopes = []\n',
    "connectors": '[[connectors]]\nname = "c"\ndisabled = true\n',
    "outside": 'outside_workdir = "deny"\n',
    "log level": 'log_level = "debug"\n',
    "compact": "auto_compact_threshold = 5\n",
    "compaction model": '[compaction_model]\nname = "x"\nprovider = "mistral"\n',
    "utility": '[utility_models]\ntitle = "active"\n',
    "utility unknown": '[utility_models]\ntitel = "active"\n',
    "unknown": 'theem = "x"\n',
    "stripped": 'vibe_base_url = "http://x"\n',
    "stripped type": "vibe_base_url = 3\n",
    "retired default": "context_warnings = false\n",
    "former": "auto_approve = false\n",
    "base disabled": 'base_disabled = ["x"]\n',
    "groups": "[session_logging]\nenabled = false\n[project_context]\ntimeout_seconds = 1\n[experiments]\nenable = false\n",
    "speech ok": '[[transcribe_models]]\nname = "x"\nprovider = "mistral"\n',
    "model key": 'model = "x"\n',
}
"""Files that Vibe takes."""

REJECTED = {
    "safety bad": 'safety = "dangerous"\n',
    "safety case": 'safety = "Safe"\n',
    "safety number": "safety = 3\n",
    "safety empty": 'safety = ""\n',
    "type bad": 'agent_type = "main"\n',
    "toml": "safety = \n",
    "bool text bad": 'enable_telemetry = "maybe"\n',
    "bool 2": "enable_telemetry = 2\n",
    "bool 1.5": "enable_telemetry = 1.5\n",
    "bool text space": 'enable_telemetry = " yes "\n',
    "int text bad": 'max_subagents = "four"\n',
    "int fraction": "max_subagents = 4.5\n",
    "int zero": "max_subagents = 0\n",
    "int array": "max_subagents = [1]\n",
    "float bad": 'api_timeout = "soon"\n',
    "float ge": "api_stream_idle_timeout = -1\n",
    "str int": "active_model = 3\n",
    "str bool": "theme = true\n",
    "str date": "theme = 2024-01-01\n",
    "list text": 'enabled_tools = "bash"\n',
    "list int": "enabled_tools = [3]\n",
    "models bare": "[[models]]\ntemperature = 1\n",
    "models tokens": '[[models]]\nname = "x"\nprovider = "mistral"\nmax_output_tokens = 0\n',
    "models type": '[[models]]\nname = "x"\nprovider = 3\n',
    "models empty": "models = []\n",
    "models table": "[models]\n",
    "providers no base": '[[providers]]\nname = "p"\n',
    "providers no name": '[[providers]]\napi_base = "x"\n',
    "providers backend": '[[providers]]\nname = "p"\napi_base = "x"\nbackend = "openai"\n',
    "providers headers": '[[providers]]\nname = "p"\napi_base = "x"\nextra_headers = {a = 1}\n',
    "providers table": '[providers]\nname = "p"\n',
    "mcp stdio none": '[[mcp_servers]]\nname = "s"\ntransport = "stdio"\n',
    "mcp http none": '[[mcp_servers]]\nname = "s"\ntransport = "http"\n',
    "mcp transport": '[[mcp_servers]]\nname = "s"\ntransport = "sse"\nurl = "x"\n',
    "mcp no transport": '[[mcp_servers]]\nname = "s"\nurl = "x"\n',
    "mcp no name": '[[mcp_servers]]\ntransport = "http"\nurl = "x"\n',
    "outside bad": 'outside_workdir = "allow"\n',
    "otel": 'otel_redaction = "some"\n',
    "log level bad": 'log_level = "loud"\n',
    "log level number": "log_level = 3\n",
    "worktree": "worktree_limit = 101\n",
    "compact zero": "auto_compact_threshold = 0\n",
    "group type": '[session_logging]\nenabled = "perhaps"\n',
    "speech": '[[tts_models]]\nname = "x"\nprovider = "mistral"\nresponse_format = "ogg"\n',
}
"""Files that Vibe drops, or whose agents can not be chosen."""


def found(text: str) -> tuple[Problem, ...]:
    parse = Parse(text)
    return check(parse, Lookup(parse, VIBE.agent.schema), VIBE.agent.judge)


@pytest.mark.parametrize("text", TAKEN.values(), ids=TAKEN)
def test_a_file_that_vibe_takes_has_no_error(text: str) -> None:
    assert not Parse(text).problems
    assert [each.message for each in found(text) if each.fatal] == []


@pytest.mark.parametrize("text", REJECTED.values(), ids=REJECTED)
def test_a_file_that_vibe_rejects_has_one_or_two_errors(text: str) -> None:
    faults = [each for each in found(text) if each.fatal]
    assert 1 <= len(faults) + len(Parse(text).problems) <= 2


def test_a_key_that_vibe_ignores_is_a_warning() -> None:
    (unknown,) = found('theem = "x"\n')
    assert (unknown.code, unknown.fatal) == ("unknown-key", False)
    (stripped,) = found('vibe_base_url = "http://x"\n')
    assert (stripped.code, stripped.is_warning) == ("no-effect", True)


def test_subagent_that_no_agent_can_call_is_a_warning() -> None:
    (warned,) = found('agent_type = "subagent"\n')
    assert warned.is_warning
    assert found('agent_type = "subagent"\ndescription = "d"\n') == ()


def test_settings_are_checked_like_agents_except_for_agent_keys() -> None:
    parse = Parse('vibe_base_url = "http://x"\nenable_telemetry = "maybe"\nsafety = "safe"\n')
    problems = check(parse, Lookup(parse, VIBE.config.schema), VIBE.config.judge)
    assert [each.code for each in problems] == ["wrong-type", "unknown-key"]


UNUSED = [
    ("auto_approve = true", "no-effect"),
    ("vim_keybindings = true", "no-effect"),
    ("vibe_code_enabled = false", "no-effect"),
    ('vibe_code_api_key_env_var = "X"', "no-effect"),
    ("context_warnings = true", "no-effect"),
    ("include_prompt_detail = false", "no-effect"),
    ("[experiment_overrides]\na = 1", "no-effect"),
    ("[tools.bash]\nenabled = true", "no-effect"),
    ('[tools.grep]\npermission = "ask"', "no-effect"),
    ("[tools.read_file]\nmax_read_bytes = 1", "no-effect"),
    ('enabled_tools = ["search_replace"]', "out-of-range"),
    ('disabled_tools = ["read_fil"]', "out-of-range"),
]

USED = [
    "auto_approve = false",
    "vibe_code_enabled = true",
    "include_prompt_detail = true",
    "context_warnings = false",
    "[experiment_overrides]",
    '[tools.bash]\npermission = "ask"',
    "[tools.read_file]\nmax_read_bytes = 51200",
    "[tools.mine]\nanything = 1",
    'enabled_tools = ["edit", "tracker_find", "re:web_.*", "read_*"]',
]


@pytest.mark.parametrize("judge", [vibe_agent, vibe_config])
@pytest.mark.parametrize(("text", "code"), UNUSED)
def test_setting_that_vibe_does_not_use_is_a_warning(text: str, code: str, judge: Judge) -> None:
    (problem,) = judge(Lookup(Parse(f"{text}\n"), VIBE_AGENT))
    assert (problem.code, problem.is_warning) == (code, True)


@pytest.mark.parametrize("text", USED)
def test_setting_with_its_former_default_or_of_another_tool_is_no_problem(text: str) -> None:
    assert list(vibe_config(Lookup(Parse(f"{text}\n"), VIBE_AGENT))) == []
