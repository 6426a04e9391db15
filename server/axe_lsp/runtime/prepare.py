"""From an order to everything that its first request needs. Nothing is sent.

The same for roots and children, and what `--dry-run` and previews show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from axe_lsp.agentfile.agent_definition import AgentDefinition, BudgetConfig
from axe_lsp.agentfile.lookup_order import Caller
from axe_lsp.agentfile.schema.models import MODELS
from axe_lsp.agentfile.schema.providers import (
    WIRES,
    ModelName,
    ModelNameError,
    Wire,
    WireTraits,
    parse_model_name,
)
from axe_lsp.agentfile.text.ranges import quoted
from axe_lsp.runtime.children.delegation import delegation_tools
from axe_lsp.runtime.children.typed_tools import TypedTools, typed_tools
from axe_lsp.runtime.errors import AgentError, ConfigError
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.files.agent_files import base_of, caller_of
from axe_lsp.runtime.files.folders import Environment
from axe_lsp.runtime.files.regular_files import is_file, is_folder
from axe_lsp.runtime.files.user_config import load_user_config, wire_of
from axe_lsp.runtime.messages import Message, Request, ResponseFormat, Tool
from axe_lsp.runtime.plain_text import escaped, shown_path
from axe_lsp.runtime.prompt import Prompt, build_prompt
from axe_lsp.runtime.runs import Order, Resolve, RunRequest, model_of, new_run_id
from axe_lsp.runtime.safety.reach import Admitted
from axe_lsp.runtime.tools.tool_table import ordinary_tools

if TYPE_CHECKING:
    from axe_lsp.runtime.structured.output import Output


class Prepared(Struct, frozen=True):
    """An agent, ready to be sent on `wire`. `timeout` is its own limit in seconds, None if it has none.

    `typed` are the tools for its typed children, which are among those of the request. `output` is
    what it has to answer with, if that is declared. Names in its file are looked up as from `caller`.
    """

    order: Order
    definition: AgentDefinition
    model: ModelName
    wire: Wire
    prompt: Prompt
    request: Request
    max_depth: int
    timeout: float | None
    typed: TypedTools
    output: Output | None = None
    caller: Caller = Caller()

    def with_tools(self, more: tuple[Tool, ...], instructions: str = "") -> Prepared:
        """Return the same agent with further tools, and with the instructions for them of MCP servers."""
        if not (more or instructions):
            return self
        tools = (*self.request.tools, *more)
        request = replace(self.request, tools=tools, server_instructions=instructions)
        return replace(self, request=request)

    @property
    def budget(self) -> BudgetConfig:
        """The limits of the run: from the order, else from the file."""
        budget, order = self.definition.budget, self.order
        return replace(
            budget,
            max_tokens=order.max_tokens or budget.max_tokens,
            max_cost=order.max_cost or budget.max_cost,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The notes for the user before anything is sent."""
        return (
            *_format_warnings(WIRES[self.wire], self.request.response_format),
            *self.typed.warnings,
            *self.prompt.warnings,
        )


def prepare(
    order: Order,
    definition: AgentDefinition,
    resolve: Resolve,
    workspace: Path,
    environment: Environment,
    *,
    admitted: Admitted | None = None,
    asks_editor: bool = False,
) -> Prepared:
    """Read what the agent needs. Raises ConfigError or AgentError.

    Outside of the workspace, it may read what it was `admitted` to; anything if that is None. It gets the tools that
    ask the editor if it `asks_editor`.
    """
    if order.effort:
        definition = replace(definition, params=replace(definition.params, effort=order.effort))
    model = _model(order, definition)
    wire = wire_of(model, environment)
    if definition.input is not None or order.input is not None:
        from axe_lsp.runtime.structured.typed_input import with_input

        order = with_input(order, definition)
    prompt = build_prompt(order, definition, workspace, environment, admitted=admitted)
    require_folder(prompt.folder)
    max_depth = definition.max_depth if order.max_depth is None else order.max_depth
    caller = caller_of(definition, order.workdir, workspace, environment)
    tools, typed = offered_tools(
        definition,
        order.ids.depth,
        max_depth,
        lambda agent: resolve(agent, caller),
        asks_editor=asks_editor,
    )
    output: Output | None = None
    wanted: ResponseFormat | None = None
    if definition.output is not None or definition.params.response_format is not None:
        from axe_lsp.runtime.structured.output import form_of_answer

        output, wanted, told = form_of_answer(definition, WIRES[wire], bool(tools))
        prompt = replace(prompt, system=prompt.system + told)
    request = Request(
        model=model.name,
        messages=(Message("user", prompt.user_message, images=(*prompt.images, *order.images)),),
        system=prompt.system,
        temperature=definition.params.temperature,
        max_tokens=definition.params.max_tokens,
        response_format=wanted,
        tools=tools,
        params=definition.params,
        session=order.ids.run_id,
    )
    timeout = own_timeout(order, definition)
    return Prepared(
        order, definition, model, wire, prompt, request, max_depth, timeout, typed, output, caller
    )


def _format_warnings(traits: WireTraits, wanted: ResponseFormat | None) -> tuple[str, ...]:
    """Return the reason why a provider can't get the format that the file wants, if so."""
    if wanted is None or traits.json_object or wanted.type != "json_object":
        return ()
    return (
        "params.response_format is ignored: the model's API knows no json_object; "
        "give a json_schema, or ask for JSON in the system prompt",
    )


def offered_tools(
    definition: AgentDefinition,
    depth: int,
    max_depth: int,
    load: Callable[[str], AgentDefinition],
    *,
    asks_editor: bool,
) -> tuple[tuple[Tool, ...], TypedTools]:
    """Return the tools of an agent at `depth` without those of its MCP servers, and the typed ones among them.

    `load` finds a child; it may raise ConfigError. Tools that ask the editor are for an agent that `asks_editor`.
    """
    typed = typed_tools(definition, load) if depth < max_depth else TypedTools()
    tools = (
        *ordinary_tools(definition, asks_editor=asks_editor),
        *delegation_tools(definition, depth, max_depth),
        *typed.tools,
    )
    if definition.task is not None:
        from axe_lsp.runtime.children.task import task_tools

        tools = (*tools, *task_tools(definition, depth, max_depth, load))
    return tools, typed


def reads_much(definition: AgentDefinition) -> bool:
    """Return whether preparing the agent may take a while: a walk through a workspace, files, schemas."""
    reads_agents = definition.sub_agents or definition.task
    return bool(definition.files or reads_agents or definition.input or definition.output)


def root_order(
    request: RunRequest, workspace: Path, environment: Environment, run_id: str | None = None
) -> Order:
    """Return the order for the root of a tree. Its agent is looked for where it is told to work, as in axe.

    Raises ConfigError for a `~` that nobody knows.
    """
    run_id = run_id or new_run_id()
    task = request.task or ""
    if request.input is not None:
        from axe_lsp.runtime.structured.schemas import canonical_json

        task = canonical_json(request.input)
    return Order(
        ids=RunIds(run_id=run_id, root_run_id=run_id, agent=request.agent),
        caller=Caller(base=base_of(request.workdir, workspace, environment)),
        task=task,
        message=task,
        input=request.input,
        reads_task=True,
        model=request.model,
        effort=request.effort,
        images=request.images,
        skill=request.skill,
        workdir=request.workdir,
        timeout=request.timeout,
        max_tokens=request.max_tokens,
        max_cost=request.max_cost,
        more_folders=request.more_folders,
    )


def prepare_request(
    request: RunRequest,
    resolve: Resolve,
    workspace: Path,
    environment: Environment,
    *,
    asks_editor: bool = False,
) -> Prepared:
    """Return the first request of a root run. Needs no key. Raises ConfigError or AgentError."""
    order = root_order(request, workspace, environment)
    definition = resolve(request.agent, order.caller)
    load_user_config(environment)
    return prepare(order, definition, resolve, workspace, environment, asks_editor=asks_editor)


def model_of_root(
    request: RunRequest, resolve: Resolve, workspace: Path, environment: Environment
) -> ModelName:
    """Return the model that answers whatever the task is. Raises ConfigError or AgentError."""
    order = root_order(request, workspace, environment)
    return _model(order, resolve(request.agent, order.caller))


def own_timeout(order: Order, definition: AgentDefinition) -> float | None:
    """Return how long the run may take, if anybody has said so.

    At the root that is what was asked for, or what the file says; for a called agent it is the shorter of
    what its caller's file and its own say.
    """
    if order.ids.depth == 0 and order.timeout is not None:
        return order.timeout
    stated = (each for each in (order.timeout, definition.timeout) if each)
    return min(stated, default=None)


def require_folder(folder: Path) -> None:
    """Require the working directory to exist, as in axe. Raises ConfigError.

    An agent would find no files, or its tools would create the misspelt folder.
    """
    if is_folder(folder):
        return
    shown = shown_path(folder)
    if is_file(folder):
        raise ConfigError(f"the working directory {shown} is a file")
    hint = "Create it, or name another one."
    raise ConfigError(f"the working directory {shown} does not exist", hint=hint)


def _model(order: Order, definition: AgentDefinition) -> ModelName:
    """Return the model that answers. Raises AgentError, or ConfigError if neither the request nor the file names one."""
    text = model_of(order, definition)
    if not text and definition.source is not None and definition.source.dialect:
        name = quoted(order.ids.agent)
        message = f"agent {name} names no model; give one, such as --model openai/gpt-5.6"
        raise ConfigError(
            message, hint=next((note for note in definition.notes if "model" in note), "")
        )
    try:
        return parse_model_name(text)
    except ModelNameError as error:
        known = next((str(model) for model in MODELS if model.name == text), "")
        hint = f"Did you mean {known}?" if known else ""
        raise AgentError(str(error), step="invalid model for agent", hint=hint) from error


_TABLES = ("artifacts",)


def unsupported_warning(agent: str, definition: AgentDefinition) -> str:
    """Return a sentence about what the agent runs without, or ""."""
    if definition.notes:
        return f"agent {quoted(agent)}: {'; '.join(definition.notes)}"
    missing = [f"[{name}]" for name in _TABLES if _asks(definition.rest.get(name))]
    if not missing:
        return ""
    return (
        f"agent {quoted(agent)} runs without {', '.join(missing)}: "
        "this version of axe-lsp does not support that yet"
    )


def twins_warning(agent: str, definition: AgentDefinition) -> str:
    """Return a sentence about agents of the same name of other programs, which are not the one that runs, or ""."""
    source = definition.source
    if source is None or not source.twins:
        return ""
    others = ", ".join(
        f"{escaped(quoted(f'{program}:{agent}'))} ({escaped(shown_path(path))})"
        for program, path in source.twins
    )
    chosen = escaped(shown_path(source.path))
    return f"agent {quoted(agent)} is that of {source.dialect or 'axe'} ({chosen}); there is also {others}"


def _asks(value: Any) -> bool:
    """Return whether a table asks for anything. Zeros ask for nothing."""
    if isinstance(value, Mapping):
        return any(_asks(item) for item in value.values())
    return bool(value)


def sandbox_of(definition: AgentDefinition) -> str | None:
    """Return the write protection of the agent's commands: "landlock", or "none"; None if they may write."""
    if not definition.read_only or "run_command" not in definition.ordinary_tools:
        return None
    # Imported here, with all of ctypes, since hardly any agent asks.
    from axe_lsp.runtime.tools.read_only import is_enforceable

    return "landlock" if is_enforceable() else "none"


def sandbox_warning(agent: str, definition: AgentDefinition) -> str:
    """Return a sentence for the user about commands that only the agent's prompt keeps from writing, or ""."""
    if sandbox_of(definition) != "none":
        return ""
    return (
        f"agent {quoted(agent)} should only read, but this system can't keep its commands from writing: "
        "it has no Landlock, which Linux has had since 5.13"
    )
