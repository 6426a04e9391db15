"""Every key of config.toml, the user's own settings, one row each.

axe and axe-lsp share the file. What is set in the environment wins over it.
"""

from __future__ import annotations

from axe_lsp.agentfile.schema.key_spec import (
    EXTENSION,
    RETRY_KEYS,
    KeyType,
    Names,
    Schema,
    count,
    row,
    table,
)
from axe_lsp.agentfile.schema.providers import AUTH_NAMES, WIRE_NAMES

ENGINES = ("here", "ssh", "dask")
"""Where the copies of agents with `[isolation] mode = "copy"` are."""

AFTER_EDIT = ("errors", "warnings", "off")
"""The problems that results of edits show."""

RUN_SOURCES = ("axe", "codex", "claude", "opencode")
"""The programs whose runs of agents can be read."""

_S = KeyType.STRING

CONFIG = Schema(
    "config.toml",
    (
        row("providers", KeyType.TABLE, "Settings for providers, one table each."),
        *table(
            "providers.*",
            "Settings for one provider; its name is the part of `model` before the slash.",
            row(
                "api_key",
                _S,
                "The API key. `<PROVIDER>_API_KEY` in the environment overrides it "
                "(for google `GEMINI_API_KEY`).",
                default='""',
                is_secret=True,
            ),
            row(
                "base_url",
                _S,
                "The address of the service. `AXE_<PROVIDER>_BASE_URL` in the environment overrides it. Empty: "
                "the provider's usual address.",
                default='""',
                names=Names.ADDRESS,
            ),
            row(
                "wire",
                _S,
                "The wire format of the service. A provider that is not built in needs it, and can then be used "
                "as `NAME/model`. Built-in providers have a default.",
                since=EXTENSION,
                choices=WIRE_NAMES,
            ),
            row(
                "api_key_env",
                _S,
                "The environment variable that holds the key, in place of `<PROVIDER>_API_KEY`.",
                since=EXTENSION,
            ),
            row(
                "auth",
                _S,
                "How requests send the key: `bearer` in the header `Authorization`, in the header of that name, "
                "as a signature (`sigv4`), or not at all. The default depends on the wire.",
                since=EXTENSION,
                choices=AUTH_NAMES,
            ),
            row(
                "headers",
                KeyType.STRING_TABLE,
                "Additional headers of each request; `${VAR}` takes a value from the environment. They "
                "do not replace the key's header unless `auth` is `none`.",
                since=EXTENSION,
            ),
            row(
                "query",
                KeyType.STRING_TABLE,
                "Parameters that are appended to the address, such as Azure's `api-version`; `${VAR}` takes "
                "a value from the environment.",
                since=EXTENSION,
            ),
            count(
                "max_concurrent",
                "Maximum number of requests to this provider at the same time. 0 means no limit.",
                default="0",
                since=EXTENSION,
            ),
            row(
                "region",
                _S,
                "The region of AWS (axe, for bedrock). `AWS_REGION` and `AWS_DEFAULT_REGION` override that of "
                "`bedrock`, not those of providers with names of your own.",
                default='""',
            ),
            row(
                "referer",
                _S,
                "The address of your program, for the provider (axe, for openrouter and requesty).",
                default='""',
            ),
            row(
                "title",
                _S,
                "The name of your program, which the provider shows (axe, for openrouter and requesty).",
                default='""',
            ),
            row("categories", _S, "Categories of the program (axe, for openrouter).", default='""'),
            names=Names.PROVIDER,
        ),
        *table(
            "retry",
            "Retries after temporary failures of a provider, for all agents whose files have no `[retry]`.",
            *RETRY_KEYS,
            since=EXTENSION,
        ),
        *table(
            "tools",
            "Tools of agents that you allow in advance.",
            row(
                "allow",
                KeyType.STRINGS,
                "Rules for tool calls that need no approval, such as `run_command(pytest *)`, with the words of the setting "
                "`axe.tools.allow`. They hold in all folders, for the command line and all clients.",
                default="[]",
            ),
            since=EXTENSION,
        ),
        *table(
            "editor",
            "Runs in an editor that answers questions about code.",
            row(
                "diagnostics_after_edit",
                _S,
                "The problems that the editor reports after `edit_file` or `write_file`, in the result of the call: `errors`, "
                "`warnings` (and errors), or none with `off`.",
                default='"errors"',
                choices=AFTER_EDIT,
            ),
            since=EXTENSION,
        ),
        *table(
            "execution",
            'Where agents with `[isolation] mode = "copy"` work.',
            row(
                "engine",
                _S,
                "`here`: in copies on this machine. `ssh`: in copies on the machines of `execution.ssh.hosts`. `dask`: on "
                "the workers of `execution.dask.scheduler`. The setting `axe.execution.engine` and `axe-lsp run --on` override it.",
                default='"here"',
                choices=ENGINES,
            ),
            count(
                "slots",
                "Maximum number of commands that agents run at the same time on one other machine.",
                default="4",
                minimum=1,
            ),
            count(
                "keep_copies",
                "Seconds for which another machine keeps the files of a project, so that the next copy is made faster. 0: "
                "until the last copy is closed.",
                default="3600",
            ),
            count(
                "wait",
                "Seconds to wait for a machine that can be reached, before the agent fails.",
                default="60",
            ),
            *table(
                "ssh",
                "Machines that are reached by ssh.",
                row(
                    "hosts",
                    KeyType.STRINGS,
                    "The machines: names as `ssh` knows them, `USER@HOST`, or `ssh://USER@HOST:PORT`.",
                    default="[]",
                ),
                row(
                    "ssh",
                    _S,
                    "The ssh program with its options, such as `ssh -i ~/.ssh/build`.",
                    default='"ssh"',
                ),
                row(
                    "axe",
                    _S,
                    "The program axe-lsp on these machines, as the shell there finds it.",
                    default='"axe-lsp"',
                ),
            ),
            *table(
                "dask",
                "The workers of a cluster of Dask.",
                row(
                    "scheduler",
                    _S,
                    "The address of the scheduler: `tls://HOST:PORT`.",
                    default='""',
                ),
                row(
                    "ca",
                    _S,
                    "The certificate of your own authority, which has signed those of the scheduler and of all workers: a file "
                    "in PEM format. No other authority is trusted.",
                    default='""',
                ),
                row("cert", _S, "Your certificate, signed by this authority.", default='""'),
                row("key", _S, "The key of your certificate, without a passphrase.", default='""'),
                row(
                    "insecure",
                    KeyType.BOOLEAN,
                    "Allow `tcp://`, without TLS: everybody who reaches such a cluster can execute commands there.",
                    default="false",
                ),
            ),
            since=EXTENSION,
        ),
        *table(
            "run_log",
            "The runs from which `axe-lsp agents stats` and editors make statistics.",
            row(
                "sources",
                KeyType.STRINGS,
                "The programs whose runs are read: `axe`, and if you allow it `codex`, `claude` and `opencode`, whose logs "
                "contain your conversations with them. No text of those is stored. `--source` and the setting `axe.runLog.sources` "
                "override it. `[]`: none. Without this key, the programs count that you have allowed at a lens, too.",
                default='["axe"]',
            ),
            count(
                "days",
                "Days to look back, at most 365. `--days` and the setting `axe.runLog.days` override it.",
                default="30",
                minimum=1,
            ),
            since=EXTENSION,
        ),
    ),
)
