"""Every key of an agent file, one row each.

Validation, completion, hover, the generated documentation, the published JSON Schema and
`check --strict-axe` read these rows; nothing else in axe_lsp knows a key by name in order to judge
it. The order of the rows is the order in which axe checks a file, so the first problem is the one
that axe reports. `config_keys.py` has the rows of the other kind of file, config.toml.
"""

from __future__ import annotations

from axe_lsp.agentfile.schema.agent_types import BUILT_IN_TYPES
from axe_lsp.agentfile.schema.key_spec import (
    EXTENSION,
    RETRY_KEYS,
    KeySpec,
    KeyType,
    Names,
    Schema,
    below,
    choice,
    count,
    row,
    table,
)
from axe_lsp.agentfile.schema.providers import EFFORTS

_S, _I, _F, _B = KeyType.STRING, KeyType.INTEGER, KeyType.FLOAT, KeyType.BOOLEAN
_SS, _T, _TT = KeyType.STRINGS, KeyType.TABLE, KeyType.TABLES

KEYS: tuple[KeySpec, ...] = (
    # -- who the agent is
    row(
        "name",
        _S,
        "The agent's name in lists. References use the *file name*, so the name should be the file name "
        "without `.toml`.",
        required=True,
        names=Names.STEM,
    ),
    row(
        "model",
        _S,
        "The model, as `provider/model-name`, split at the first slash.",
        required=True,
        names=Names.MODEL,
    ),
    row("description", _S, "One line about the agent, for lists and for people.", default='""'),
    row(
        "type",
        _S,
        "A preset: it provides `tools` and `description` if the file omits them, and the beginning of the "
        "prompt. An agent of type `explore` or `plan`, and its sub-agents, can't change the workspace.",
        since=EXTENSION,
        choices=tuple(BUILT_IN_TYPES),
        names=Names.PRESET,
    ),
    row(
        "system_prompt",
        _S,
        "The instructions that every conversation of this agent starts with. The skill, the "
        "context files and the memory are appended to it.",
        default='""',
    ),
    row(
        "skill",
        _S,
        "A SKILL.md whose text is appended to the system prompt. A relative path starts at the "
        "user's axe configuration folder; `--skill` overrides it.",
        default='""',
        names=Names.SKILL,
    ),
    row(
        "files",
        _SS,
        "Globs, relative to the working directory, of text files for the prompt. `**` crosses folders. "
        "Pictures are sent with the first message. Other binary files, and links that lead outside, are left "
        "out.",
        default="[]",
        names=Names.GLOB,
    ),
    row(
        "workdir",
        _S,
        "The working directory of globs and tools; it must exist. `--workdir` overrides it; the default is "
        "the folder in which the run was started. `~` and `$VAR` are expanded.",
        default='""',
        names=Names.FOLDER,
    ),
    # -- delegation
    row(
        "sub_agents",
        _SS,
        "The agents that this agent may call. Each is an agent file. The model gets "
        "a tool `call_agent` that takes one of these names and a task.",
        default="[]",
        names=Names.AGENT,
    ),
    *table(
        "sub_agents_config",
        "How this agent delegates.",
        count(
            "max_depth",
            "Maximum depth of calls. The value of the root agent applies to the whole tree. 0 means 3.",
            default="3",
            maximum=5,
            code="max-depth",
        ),
        count(
            "timeout",
            "Timeout in seconds of each call of a sub-agent. 0 means the sub-agent's own `timeout`, and at most "
            "the rest of this agent's time.",
            default="0",
            code="negative-timeout",
        ),
        row(
            "parallel",
            _B,
            "Whether several calls in one answer run in parallel. Results keep their order. Tools that change "
            "something always run in sequence; sub-agents start at once.",
            default="true",
        ),
        count(
            "max_concurrent",
            "Maximum number of sub-agents of one run that work at the same time, side runs among them. 0 means no "
            "limit for calls that wait, and 8 for side runs.",
            default="0",
            since=EXTENSION,
        ),
        row(
            "background",
            _S,
            "Whether calls of sub-agents are side runs, for which this agent does not wait: `never`; `optional`, the "
            "model chooses for each call; `always`. The answer is given to the model when the side run has ended.",
            default='"never"',
            since=EXTENSION,
            choices=("never", "optional", "always"),
        ),
        row(
            "at_end",
            _S,
            "The fate of side runs that still work when the model has no more calls: `wait` until they have "
            "ended and give their answers to the model, or `cancel` them.",
            default='"wait"',
            since=EXTENSION,
            choices=("wait", "cancel"),
        ),
        row(
            "pass_context",
            _B,
            "Whether `call_agent` has a `context` parameter. Without it, sub-agents collect their context "
            "themselves.",
            default="true",
            since=EXTENSION,
        ),
    ),
    count(
        "timeout",
        "Total timeout of a run in seconds. `--timeout` overrides it; for a called agent, the shorter of "
        "this and the caller's `sub_agents_config.timeout` counts. 0: no total limit; the run ends after 120 "
        "seconds without progress.",
        default="0",
        since="axe 1.7",
        code="negative-timeout",
    ),
    row(
        "stream",
        _B,
        "Print the answer as it streams (only without tools and without `--json`).",
        default="false",
        since="axe 1.7",
    ),
    # -- memory
    *table(
        "memory",
        "A log of past runs in the agent's prompt.",
        row(
            "enabled",
            _B,
            "Append each successful run to a file and load that file into the prompt.",
            default="false",
        ),
        row(
            "path",
            _S,
            "The file to use instead of `<data folder>/axe/memory/<agent>.md`. It has no effect if `scope` is "
            "`run`.",
            default='""',
        ),
        count("last_n", "Number of newest entries that are loaded. 0 means all.", default="0"),
        count(
            "max_entries",
            "A run warns if the file has at least this number of entries. 0 means never.",
            default="0",
        ),
        choice(
            "scope",
            "agent workspace run",
            "The owner of the log: the agent; the workspace (shared by all its agents with this scope, in the "
            "data folder); or the run (shared by its agents, deleted at its end).",
            default='"agent"',
            since=EXTENSION,
        ),
    ),
    # -- tools
    row(
        "tools",
        _SS,
        "The tools that the model may call, in addition to the tools for delegation. Never inherited.",
        default="[]",
        since="axe 1.0",
        names=Names.TOOL,
    ),
    row(
        "allowed_hosts",
        _SS,
        "The hosts that `url_fetch` may contact. Absent: the caller's list, or all.",
        since="axe 1.5",
    ),
    *table(
        "tool_policy",
        "Globs that extend and restrict `tools`.",
        row("allow", _SS, "Tools to add, by name or glob.", default="[]", names=Names.TOOL),
        row(
            "deny",
            _SS,
            "Tools to remove, by name or glob. It takes precedence over `allow`.",
            default="[]",
            names=Names.TOOL,
        ),
        since=EXTENSION,
    ),
    *table(
        "mcp_servers",
        "Servers whose MCP tools the model may call.",
        row("name", _S, "The server's name in logs.", required=True),
        row(
            "url",
            _S,
            "Its http or https address. A server has either this or a `command`.",
            names=Names.ADDRESS,
        ),
        choice(
            "transport",
            "sse streamable-http stdio",
            "The transport of the protocol. Required with `url`; a `command` has `stdio`, also without this key.",
        ),
        row(
            "headers",
            KeyType.STRING_TABLE,
            "Headers to send; `${VAR}` takes a value from the environment.",
        ),
        type_=_TT,
        since="axe 1.1",
    ),
    *below(
        "mcp_servers",
        row(
            "command",
            _S,
            "The program that is started as the server, without a shell: a name on the PATH, or an absolute "
            "path. The user is asked before it starts.",
        ),
        row("args", _SS, "Its arguments, passed unchanged.", default="[]"),
        row(
            "env",
            KeyType.STRING_TABLE,
            "Environment variables that it gets; `${VAR}` takes a value from the environment.",
        ),
        row(
            "pass_env",
            _SS,
            "Names of environment variables that it gets, in addition to HOME, LOGNAME, PATH, SHELL, TERM and USER.",
            default="[]",
        ),
        row(
            "cwd",
            _S,
            "The folder in which it starts, relative to the working directory and below it.",
            default='"."',
        ),
        row(
            "required",
            KeyType.BOOLEAN,
            "Whether a run ends if the server can't be reached or started. `false`: the run goes on without its "
            "tools, with a warning.",
            default="true",
        ),
        count(
            "startup_timeout",
            "Seconds within which the server has to start and to list its tools.",
            default="30",
            minimum=1,
        ),
        since=EXTENSION,
    ),
    # -- the provider, and limits
    *table(
        "retry", "Retries after temporary failures of the provider.", *RETRY_KEYS, since="axe 1.4"
    ),
    *table(
        "budget",
        "Limits of a run; it ends when one is used up.",
        count(
            "max_tokens",
            "Input and output tokens of the run and its sub-agents. `--max-tokens` overrides it, and always counts sub-agents. 0 means no limit.",
            default="0",
            since="axe 1.5",
        ),
        choice(
            "scope",
            "tree self",
            "Whether tokens and tool calls of sub-agents count as well (`tree`), or only those of the run itself (`self`).",
            default='"tree"',
            since=EXTENSION,
        ),
        count(
            "max_tool_calls",
            "Tool calls of the run and, with the scope `tree`, of its sub-agents. 0 means no limit.",
            default="0",
            since=EXTENSION,
        ),
        count(
            "max_turns",
            "Requests of the run to its provider. At most 50.",
            default="50",
            since=EXTENSION,
            maximum=50,
        ),
        count(
            "max_wall_time",
            "Duration of the run in seconds. 0 means no limit except the timeouts.",
            default="0",
            since=EXTENSION,
        ),
        row(
            "max_cost",
            _F,
            "Cost of the run and its sub-agents in US dollars, by the prices of the [table](models.md). "
            "`--max-cost` overrides it, and always counts sub-agents. 0 means no limit.",
            default="0",
            since=EXTENSION,
            minimum=0,
        ),
        since="axe 1.5",
    ),
    *table(
        "params",
        "Parameters of the model.",
        row("temperature", _F, "Sampling temperature. Absent: not sent, so the provider decides."),
        row(
            "max_tokens",
            _I,
            "Maximum number of tokens of one answer. 0 means not sent. Anthropic requires a number and gets 16384 for "
            "models of the [table](models.md), else 4096, as axe sends.",
            default="0",
        ),
    ),
    *below(
        "params",
        row(
            "effort",
            _S,
            "The model's reasoning effort. Absent: not sent, so the provider decides. Each provider has its own "
            "form; [providers](providers.md) has the table.",
            choices=EFFORTS,
            says_value=True,
        ),
        count(
            "thinking_budget",
            "Tokens that the model may use to think, for providers that count them. 0 turns thinking off.",
        ),
        row(
            "top_p",
            _F,
            "Nucleus sampling: the share of probability that the next token is taken from.",
            minimum=0,
            maximum=1,
        ),
        count("top_k", "The number of most likely tokens that the next token is taken from."),
        row(
            "seed",
            _I,
            "A seed for sampling: the same request gets the same answer, as far as the provider can.",
        ),
        row("stop", _SS, "Texts at which the answer ends.", default="[]"),
        row(
            "num_ctx",
            _I,
            "Size of the context window in tokens, for Ollama, which otherwise cuts long prompts silently.",
            minimum=1,
        ),
        row(
            "extra",
            KeyType.ANY_TABLE,
            "Fields that are merged into the top level of each request unchanged; they override the fields of "
            "axe-lsp.",
        ),
        since=EXTENSION,
    ),
    *table(
        "params.response_format",
        "The format of the answer. A string in place of the table is its `type`. Anthropic's API has only "
        "schemas, not `json_object`.",
        choice(
            "type",
            "text json_object json_schema",
            "Free text, any JSON object, or JSON that fits `schema`.",
            says_value=True,
        ),
        row(
            "schema",
            KeyType.JSON_SCHEMA,
            "The JSON Schema of the answer; `name` inside it names the schema.",
        ),
        since="axe 1.8",
        shorthand="type",
    ),
    *table(
        "artifacts",
        "Files that a run produces. axe-lsp does not support them yet; a run warns about it.",
        row("enabled", _B, "Offer artifacts to the tools.", default="false"),
        row("dir", _S, "Folder of the artifacts. Empty: a new folder in the cache.", default='""'),
        row("default_write", _B, "Write new files as artifacts by default.", default="false"),
        since="axe 1.6",
    ),
    # -- extensions of axe-lsp
    row(
        "task",
        _T,
        "If present, the model gets a tool `Task` that starts an agent of a type. That agent gets only a "
        "prompt; a type uses the caller's model, parameters and folder.",
        since=EXTENSION,
    ),
    row(
        "task.types",
        _SS,
        "Built-in types or agents that `Task` may start, in addition to the inline types. Inline types take "
        "precedence over built-in types, and these over agents.",
        default='["explore", "plan", "code"]',
        since=EXTENSION,
        names=Names.TASK_TYPE,
    ),
    row(
        "task.recursive",
        _B,
        "Whether agents that `Task` starts may delegate again, up to `max_depth`: types by the same "
        "`[task]`, agents by their own files.",
        default="false",
        since=EXTENSION,
    ),
    row("task.type", _T, "Inline types, one table each.", since=EXTENSION),
    *table(
        "task.type.*",
        "An inline type for `Task`.",
        row("description", _S, "The purpose of the type.", default='""'),
        row("tools", _SS, "The tools of the type.", default="[]", names=Names.TOOL),
        row(
            "prompt",
            _S,
            "Its instructions, which follow the sentence `You are a <name> subagent.`",
            default='""',
        ),
        since=EXTENSION,
    ),
    *table(
        "context",
        "The handling of a conversation that is too long for its model.",
        row(
            "compaction",
            _B,
            "Whether the model is asked for a summary, which takes the place of all but the task and the last "
            "step. Without it, or if the model gives none, old results of tools are shortened. The summary costs "
            "a request, whose tokens count like all others.",
            default="false",
        ),
        since=EXTENSION,
    ),
    *table(
        "isolation",
        "The process and the folder in which this agent works as a sub-agent.",
        choice(
            "mode",
            "inline process copy",
            "With `process`, a call of this agent runs in a separate operating-system process. If it crashes, "
            "another process goes on with the call; if that crashes too, the caller gets an error text. All other "
            "runs go on. With `copy`, its tools work in a copy of the folder, which begins with all files as they "
            "are and is deleted at the end of the call.",
            default='"inline"',
        ),
        choice(
            "changes",
            "ask apply keep",
            'How the changes in a copy (`mode = "copy"`) are applied. `ask`: you are asked about each file. '
            "`apply`: without a question where `write_file` needs none. "
            "`keep`: not at all; they stay a commit, `refs/axe/<run id>`. [More](copies.md).",
            default='"ask"',
        ),
        since=EXTENSION,
    ),
    row(
        "input",
        KeyType.JSON_SCHEMA,
        'JSON Schema of the object that the agent is called with (`type = "object"` may be left '
        "out).",
        since=EXTENSION,
    ),
    row(
        "output",
        KeyType.JSON_SCHEMA,
        "JSON Schema of the result. The answer is validated against it.",
        since=EXTENSION,
    ),
)

AGENT = Schema("agent file", KEYS)

find, key, keys_of, is_open = AGENT.find, AGENT.key, AGENT.keys_of, AGENT.is_open
