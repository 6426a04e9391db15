"""Every key of a Mistral Vibe agent file, one row each.

Facts are those of mistral-vibe 3.0.3: `AgentProfile.from_toml`, and `VibeConfigSchema`, whose keys an agent
overrides. Vibe takes a text for a number or a switch if it reads as one (`"1"`, `"yes"`).
"""

from __future__ import annotations

from msgspec.structs import replace

from axe_lsp.agentfile.schema.key_spec import KeySpec, KeyType, Schema

_S, _I, _F, _B = KeyType.STRING, KeyType.INTEGER, KeyType.FLOAT, KeyType.BOOLEAN
_SS, _T, _TT = KeyType.STRINGS, KeyType.TABLE, KeyType.TABLES
_MAP, _OPEN, _ANY = KeyType.STRING_TABLE, KeyType.ANY_TABLE, KeyType.ANY

_LIKE: dict[KeyType, tuple[KeyType, ...]] = {_I: (_F, _B, _S), _F: (_B, _S), _B: (_I, _F, _S)}
"""Types that Vibe takes for another one, if the value reads as one; `check/vibe.py` looks at that."""

THINKING = ("off", "low", "medium", "high", "xhigh", "max")
SAFETY = ("safe", "neutral", "destructive", "smart", "yolo")
AGENT_TYPES = ("agent", "subagent")
BUILT_IN_AGENTS = ("ask", "accept-edits", "smart-approve", "auto-approve", "explore", "lean")
RESERVED_NAME = "main"
"""A name that no agent file may have, in any case."""

_PATTERNS = "Names, globs, or expressions after `re:`."
_STRIPPED = "Vibe ignores it in an agent, since it says where keys are sent."
_RETIRED = "Vibe does not use it any more."


def _key(dotted: str, type_: KeyType, doc: str, **columns: object) -> KeySpec:
    columns = {"since": "Vibe", "also": _LIKE.get(type_, ()), **columns}
    return KeySpec(tuple(dotted.split(".")), type_, doc, **columns)  # type: ignore[arg-type]


def _flags(docs: dict[str, str], default: str, **columns: object) -> tuple[KeySpec, ...]:
    return tuple(_key(name, _B, doc, default=default, **columns) for name, doc in docs.items())


def _texts(docs: dict[str, str], **columns: object) -> tuple[KeySpec, ...]:
    return tuple(_key(name, _S, doc, **columns) for name, doc in docs.items())


def _lists(docs: dict[str, str]) -> tuple[KeySpec, ...]:
    return tuple(_key(name, _SS, doc) for name, doc in docs.items())


def _seconds(docs: dict[str, str]) -> tuple[KeySpec, ...]:
    return tuple(_key(name, _F, doc) for name, doc in docs.items())


_AGENT_KEYS = (
    _key("display_name", _S, "The name that is shown.", also=(_ANY,), default="from the file name"),
    _key(
        "description",
        _S,
        "The purpose of the agent. Vibe offers a subagent to other agents only if it has one.",
        also=(_ANY,),
    ),
    _key(
        "safety",
        _S,
        "How the agent is marked. It gives and takes no permissions.",
        choices=SAFETY,
        default='"neutral"',
    ),
    _key(
        "agent_type",
        _S,
        "`agent` for a mode that a person chooses, `subagent` for an agent that other agents call.",
        choices=AGENT_TYPES,
        default='"agent"',
    ),
    _key("instructions", _S, "The instructions of the agent: its system prompt.", also=(_ANY,)),
)

_MODEL_TABLE = (
    *_texts(
        {
            "name": "The model, as the provider names it.",
            "provider": "The provider, by its name in `providers`.",
            "alias": "The name by which `active_model` means the model.",
            "display_name": "The name that is shown.",
        }
    ),
    _key("temperature", _F, "The sampling temperature.", default="0.2"),
    _key("top_p", _F, "Nucleus sampling."),
    _key("max_output_tokens", _I, "The most tokens of an answer.", minimum=1),
    _key("input_price", _F, "Dollars for a million tokens that are sent.", default="0"),
    _key("output_price", _F, "Dollars for a million tokens of answers.", default="0"),
    _key("cached_input_price", _F, "Dollars for a million tokens from the cache."),
    _key(
        "thinking",
        _S,
        "How much the model thinks. Another word is left out.",
        suggestions=THINKING,
        also=(_ANY,),
        default='"off"',
    ),
    _key("thinking_levels", _SS, "The levels that the model offers.", also=(_ANY,)),
    _key("supports_images", _B, "Whether the model reads pictures."),
    _key("max_context_length", _I, "The size of the context window, in tokens.", minimum=1),
    _key(
        "auto_compact_threshold",
        _I,
        "The number of tokens at which the conversation is compacted.",
        minimum=1,
    ),
)


def _below(table: str, rows: tuple[KeySpec, ...], *required: str) -> tuple[KeySpec, ...]:
    """The rows of a table, of which some are required."""
    above = tuple(table.split("."))
    return tuple(
        replace(row, path=(*above, *row.path), required=row.dotted in required) for row in rows
    )


_MODEL_KEYS = (
    _key("active_model", _S, "The model, by its alias in `models`.", default="the session's"),
    _key("models", _TT, "Models, one table each; or tables by alias.", also=(_OPEN,)),
    *_below("models", _MODEL_TABLE),
    _key("models.*", _OPEN, "A model by its alias.", also=(_ANY,)),
    _key("providers", _TT, "Providers of models. One of the same name is replaced."),
    *_below(
        "providers",
        (
            *_texts(
                {
                    "name": "The name of the provider.",
                    "api_base": "The address of the service.",
                    "api_key_env_var": "The environment variable with the key.",
                    "browser_auth_base_url": "The address of the login.",
                    "browser_auth_api_base_url": "The address that the login asks.",
                    "reasoning_field_name": "The field of answers with the model's reasoning.",
                    "project_id": "The project, at Google.",
                    "region": "The region, at Google.",
                }
            ),
            _key("api_style", _S, "The wire format.", default='"openai"'),
            _key(
                "backend",
                _S,
                "The client that sends requests.",
                choices=("mistral", "generic"),
                default='"generic"',
            ),
            *_flags(
                {
                    "browser_auth_allow_origin_rewrite": "Whether a login may move to another address."
                },
                "false",
            ),
            *_flags({"emits_finish_reason": "Whether streams say how they ended."}, "true"),
            _key("extra_headers", _MAP, "Headers of each request."),
        ),
        "name",
        "api_base",
    ),
    _key("allowed_models", _SS, f"The only models that can be chosen. {_PATTERNS}"),
    _key("compaction_model", _T, "The model that compacts conversations."),
    *_below("compaction_model", _MODEL_TABLE),
    _key("vision_model", _T, "The model that describes pictures for a model that can't see them."),
    *_below("vision_model", _MODEL_TABLE),
    _key("utility_models", _T, "Models for small tasks, by alias; `active` is the agent's own."),
    *_below(
        "utility_models",
        _texts({"title": "Titles of sessions.", "smart_approve": "The approval of tool calls."}),
    ),
    _key(
        "auto_compact_threshold",
        _I,
        "The number of tokens at which a conversation is compacted, for models without their own.",
        minimum=1,
    ),
)

_SPOKEN = (
    ("transcribe", "Speech to text", ("sample_rate", "target_streaming_delay_ms"), ("language",)),
    ("tts", "Text to speech", (), ("voice",)),
)
_SPEECH_KEYS = tuple(
    row
    for kind, title, numbers, texts in _SPOKEN
    for row in (
        _key(f"active_{kind}_model", _S, f"{title}: the model, by its alias."),
        _key(f"{kind}_providers", _TT, f"{title}: providers."),
        *_below(
            f"{kind}_providers",
            (
                *_texts(
                    {
                        "name": "The name of the provider.",
                        "api_base": "The address of the service.",
                        "api_key_env_var": "The environment variable with the key.",
                    }
                ),
                _key("client", _S, "The client.", choices=("mistral",)),
            ),
            "name",
        ),
        _key(f"{kind}_models", _TT, f"{title}: models."),
        *_below(
            f"{kind}_models",
            (
                *_texts(
                    {
                        "name": "The model, as the provider names it.",
                        "provider": "The provider, by its name.",
                        "alias": "The name by which it is chosen.",
                    }
                ),
                *(_key(name, _I, "A setting of the model.") for name in numbers),
                *(_key(name, _S, "A setting of the model.") for name in texts),
                *(
                    [_key("encoding", _S, "The encoding.", choices=("pcm_s16le",))]
                    if numbers
                    else [
                        _key(
                            "response_format",
                            _S,
                            "The format of the sound.",
                            choices=("wav", "pcm", "mp3", "flac", "opus"),
                        )
                    ]
                ),
            ),
            "name",
            "provider",
        ),
    )
)

_TOOL_KEYS = (
    _key("tools", _T, "Settings of tools, one table each.", also=(_ANY,)),
    _key("tools.*", _OPEN, "Settings of one tool.", also=(_ANY,)),
    _key(
        "tools.*.permission",
        _S,
        "Whether a call of the tool is asked for.",
        suggestions=("always", "ask", "never"),
        also=(_ANY,),
    ),
    _key("enabled_tools", _SS, f"The only tools of the agent. {_PATTERNS}"),
    _key("disabled_tools", _SS, f"Tools that the agent does not have. {_PATTERNS}"),
    _key(
        "bypass_tool_permissions", _B, "Whether tools are called without asking.", default="false"
    ),
    _key(
        "outside_workdir",
        _S,
        "The effect of a tool that reaches a path outside the working directory.",
        choices=("ask", "deny"),
        default='"ask"',
    ),
    _key("mcp_servers", _TT, "MCP servers. One of the same name is replaced."),
    *_below(
        "mcp_servers",
        (
            _key("name", _S, "The name, with which its tools begin."),
            _key(
                "transport",
                _S,
                "How the server is reached.",
                choices=("stdio", "http", "streamable-http"),
            ),
            _key("command", _S, "The program to start.", also=(_SS,)),
            _key("args", _SS, "The arguments of the program."),
            _key("env", _MAP, "Environment variables of the program."),
            *_texts(
                {
                    "cwd": "The working directory of the program.",
                    "prompt": "A hint for the model, added to the tools.",
                    "url": "The address of the server.",
                    "api_key_env": "The environment variable with a token.",
                    "api_key_header": "The header that has the token.",
                    "api_key_format": "The header's value, with `{token}` for the token.",
                }
            ),
            _key("headers", _MAP, "Headers of each request."),
            _key("auth", _OPEN, "How the client shows who it is."),
            _key("startup_timeout_sec", _F, "Seconds that the server has to start.", default="10"),
            _key("tool_timeout_sec", _F, "Seconds that a tool call may take.", default="60"),
            *_flags({"sampling_enabled": "Whether the server may ask the model."}, "true"),
            *_flags({"disabled": "Whether the tools of the server are hidden."}, "false"),
            _key("disabled_tools", _SS, "Tools of the server that are not offered."),
        ),
        "name",
        "transport",
    ),
    _key("connectors", _TT, "Settings of connectors."),
    *_below(
        "connectors",
        (
            _key("name", _S, "The connector."),
            *_flags({"disabled": "Whether its tools are hidden."}, "false"),
            _key("disabled_tools", _SS, "Tools that are not offered."),
        ),
        "name",
    ),
)

_LISTS = _lists(
    {
        "tool_paths": "Folders and files with further tools.",
        "agent_paths": "Folders with further agents.",
        "enabled_agents": f"The only agents that are available. {_PATTERNS}",
        "disabled_agents": f"Agents that are not available. {_PATTERNS}",
        "installed_agents": "Built-in agents that have been installed.",
        "skill_paths": "Folders with further skills.",
        "enabled_skills": f"The only skills that are available. {_PATTERNS}",
        "disabled_skills": f"Skills that are not available. {_PATTERNS}",
        "applied_migrations": "Changes that Vibe has made to the file.",
    }
)

_SWITCHES = (
    *_flags(
        {
            "enable_connectors": "Whether connectors are used.",
            "enable_mcp": "Whether MCP servers are used.",
            "enable_auto_approve": "Whether the mode that approves everything is available.",
            "enable_background_processes": "Whether commands may go on in the background.",
            "enable_subagents": "Whether the agent may call subagents.",
            "cursor_blink": "Whether the cursor blinks.",
            "show_greeting": "Whether a greeting is shown.",
            "autocopy_to_clipboard": "Whether a selection is copied.",
            "enable_mouse_capture": "Whether the mouse is used.",
            "file_watcher_for_autocomplete": "Whether files are watched for completion.",
            "ask_confirmation_on_exit": "Whether leaving is asked for.",
            "show_thinking_nodes": "Whether the model's thoughts are shown.",
            "show_subagent_status_list": "Whether the list of subagents is shown.",
            "enable_telemetry": "Whether telemetry is sent.",
            "include_commit_signature": "Whether commits are signed by Vibe.",
            "include_project_context": "Whether the prompt describes the project.",
            "enable_update_checks": "Whether updates are looked for.",
            "enable_auto_update": "Whether updates are installed.",
            "enable_notifications": "Whether notifications are shown.",
            "experimental_enable_tab_status": "Whether the tab shows the state.",
        },
        "true",
    ),
    *_flags(
        {
            "experimental_enable_document_library_connector": "Whether the document library is used.",
            "experimental_enable_registry_skills": "Whether skills of the registry are used.",
            "experimental_enable_model_catalog": "Whether the catalog of models is read.",
            "experimental_enable_pr_monitoring": "Whether pull requests are watched.",
            "experimental_enable_pr_discovery": "Whether pull requests are looked for.",
            "smart_approve_available": "Whether the mode `smart-approve` is offered.",
            "smart_approve_default": "Whether `smart-approve` is the first mode.",
            "enable_otel": "Whether traces are sent.",
            "disable_welcome_banner_animation": "Whether the banner is shown without animation.",
            "voice_mode_enabled": "Whether there is voice input.",
            "narrator_enabled": "Whether answers are spoken.",
            "managed_shell_tools_enabled": "Whether the managed shell is used.",
            "strict_config": "Whether unknown keys are refused.",
            "enable_system_trust_store": "Whether certificates of the system count.",
        },
        "false",
    ),
    *_flags(
        {
            "context_warnings": "Warnings about the context.",
            "raise_on_compaction_failure": "Errors of compaction.",
            "include_model_info": "The model in the prompt.",
            "include_prompt_detail": "Details in the prompt.",
        },
        "",
        no_effect=_RETIRED,
    ),
)

_TEXTS = (
    *_texts(
        {
            "routed_default_model": "The default model of an experiment.",
            "catalog_recommended_model": "The model that the catalog recommends.",
            "default_agent": "The mode in which a session starts.",
            "system_prompt_id": "The system prompt, by the name of its file.",
            "compaction_prompt_id": "The prompt of compaction, by the name of its file.",
            "title_prompt_id": "The prompt for titles, by the name of its file.",
            "otel_endpoint": "The address that traces are sent to.",
            "theme": "The theme.",
        }
    ),
    _key("displayed_workdir", _S, "The working directory that is shown.", no_effect=_RETIRED),
    _key(
        "otel_redaction",
        _S,
        "The data that traces leave out.",
        choices=("default", "none", "strict"),
        default='"default"',
    ),
    _key("log_level", _S, "`DEBUG`, `INFO`, `WARNING`, `ERROR` or `CRITICAL`."),
    *_texts(
        {
            "vibe_base_url": "The address of Vibe.",
            "console_base_url": "The address of the console.",
            "vibe_code_sessions_base_url": "The address of sessions.",
        },
        no_effect=_STRIPPED,
        also=(_ANY,),
    ),
)

_NUMBERS = (
    _key("worktree_limit", _I, "The most worktrees that are kept.", minimum=0, maximum=100),
    _key("max_subagents", _I, "The most subagents at once.", minimum=1, default="32"),
    _key(
        "max_concurrent_subagents",
        _I,
        "The most subagents that work at once.",
        minimum=1,
        default="32",
    ),
    _key(
        "compaction_reasoning_limit_tokens",
        _I,
        "The most tokens of reasoning in a compaction; 0 for no limit.",
        minimum=0,
    ),
    _key("output_limit_retries", _I, "How often a cut answer is asked for again.", minimum=0),
    *_seconds(
        {
            "api_timeout": "Seconds for a request.",
            "api_retry_max_elapsed_time": "Seconds in which a request is sent again.",
            "api_connect_timeout": "Seconds for a connection.",
            "api_write_timeout": "Seconds for sending.",
            "api_pool_timeout": "Seconds for a free connection.",
        }
    ),
    _key("api_stream_idle_timeout", _F, "Seconds of silence in an answer.", minimum=0),
)

_GROUPS = (
    _key("project_context", _T, "The text of the prompt about the project."),
    _key("project_context.default_commit_count", _I, "How many commits it has."),
    _key("project_context.timeout_seconds", _F, "Seconds for finding out."),
    _key("session_logging", _T, "Logs of sessions."),
    *_below(
        "session_logging",
        (
            *_texts({"save_dir": "Their folder.", "session_prefix": "How their names begin."}),
            *_flags(
                {
                    "enabled": "Whether they are kept.",
                    "generate_titles": "Whether they get titles.",
                },
                "true",
            ),
        ),
    ),
    _key("experiments", _T, "Experiments."),
    *_below(
        "experiments",
        (
            *_flags({"enable": "Whether they are on."}, "true"),
            *_texts({"api_host": "Their address.", "client_key": "Their key."}),
        ),
    ),
    _key("routed_model_config", _ANY, "The model of an experiment."),
    _key("routed_extra_models", _ANY, "Models of experiments."),
    _key("catalog_model_aliases", _OPEN, "Other names of models."),
)

_FORMER = (
    _key("base_disabled", _ANY, "Former name of `disabled_tools`; Vibe rewrites the file."),
    *(
        _key(name, _ANY, _RETIRED)
        for name in (
            "auto_approve",
            "experiment_overrides",
            "experimental_bash_tool",
            "vibe_code_api_key_env_var",
            "vibe_code_enabled",
            "vim_keybindings",
        )
    ),
)

_KEYS = (
    *_MODEL_KEYS,
    *_TOOL_KEYS,
    *_LISTS,
    *_SWITCHES,
    *_TEXTS,
    *_NUMBERS,
    *_GROUPS,
    *_SPEECH_KEYS,
    *_FORMER,
)

VIBE_AGENT = Schema(
    "Vibe agent file", (*_AGENT_KEYS, *_KEYS), program="Vibe", empty_is_absent=False
)

VIBE_CONFIG = Schema(
    "Vibe config.toml",
    tuple(replace(key, no_effect="") for key in _KEYS),
    program="Vibe",
    empty_is_absent=False,
)
