"""What an agent of a cloned repository may send to the web: each test starts from the stranger's file.

Nothing is sent by these calls: `url_fetch` refuses addresses of this machine, `web_search` has no key. Both say so if
they are executed at all.
"""

from __future__ import annotations

import json
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from support.command_line import COMMAND, Home
from support.scripted_provider import Answer, Call, Says, ScriptedProvider, calls_agent
from support.terminal import Terminal

SECRET = "dotenv-secret-of-the-project"
NOT_ALLOWED = 2
REFUSED = "the user has not trusted it"


@dataclass(frozen=True)
class Web:
    """A tool, the arguments into which a model puts what it has read, and what marks a call that was executed."""

    tool: str
    arguments: dict[str, Any]
    executed: str
    reach: str

    def said(self, text: str) -> str:
        """Return the text of an agent file, with this tool."""
        return text.replace("TOOL", self.tool).replace("GLOB", f"{self.tool[:4]}*")

    def calls(self, number: int = 1) -> Says:
        """Return an answer in which the model calls the tool."""
        return Says(calls=[Call(self.tool, self.arguments, f"call-{number}")])


FETCH = Web(
    "url_fetch",
    {"url": f"http://127.0.0.1:9/{SECRET}"},
    "private",
    "url_fetch: any public host",
)
SEARCH = Web("web_search", {"query": SECRET}, "TAVILY_API_KEY", "web_search: Tavily")
EXECUTED = FETCH.executed


@pytest.fixture(params=[FETCH, SEARCH], ids=["fetch", "search"])
def web(request: pytest.FixtureRequest) -> Web:
    found: Web = request.param
    return found


@pytest.fixture
def home(tmp_path: Path, provider: ScriptedProvider) -> Home:
    home = Home(tmp_path, provider.environment)
    (home.work / ".env").write_text(f"{SECRET}\n")
    return home


def cloned(home: Home, text: str, name: str = "helper") -> Path:
    """Return the stranger's agent file in the folder in which the user works."""
    file = home.work / "axe" / "agents" / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'name = "{name}"\nmodel = "ollama/m-{name}"\n{text}\n')
    return file


def fetches(number: int = 1) -> Says:
    """Return the model puts what it has read into an address."""
    return FETCH.calls(number)


def results(provider: ScriptedProvider) -> str:
    """Return what the model was told in the end."""
    return json.dumps(provider.requests[-1].body)


BY_WHAT_IS_NOT_A_NAME = {
    "a glob": 'tools = ["*"]',
    "a type": 'type = "code"',
    "a glob of the policy": 'tool_policy = { allow = ["GLOB"] }',
}


@pytest.mark.parametrize("text", BY_WHAT_IS_NOT_A_NAME.values(), ids=BY_WHAT_IS_NOT_A_NAME)
@pytest.mark.parametrize("options", [(), ("--yes",)], ids=["no option", "yes"])
def test_nothing_is_fetched_by_an_agent_that_was_not_trusted(
    home: Home, provider: ScriptedProvider, web: Web, text: str, options: tuple[str, ...]
) -> None:
    cloned(home, web.said(text))
    provider.script("m-helper", web.calls(1), web.calls(2), Says("done"))
    code, out, err = home.call("run", "helper", *options)
    assert (code, out) == (0, "done")
    assert results(provider).count(REFUSED) == 2
    assert web.executed not in results(provider)
    assert err.count(web.reach) == 1
    assert f"axe-lsp trust {home.work}" in err


@pytest.mark.parametrize("text", BY_WHAT_IS_NOT_A_NAME.values(), ids=BY_WHAT_IS_NOT_A_NAME)
def test_a_trusted_run_may_fetch(
    home: Home, provider: ScriptedProvider, web: Web, text: str
) -> None:
    cloned(home, web.said(text))
    provider.script("m-helper", web.calls(), Says("done"))
    assert home.call("run", "helper", "--trust")[:2] == (0, "done")
    assert web.executed in results(provider)


@pytest.mark.parametrize("text", BY_WHAT_IS_NOT_A_NAME.values(), ids=BY_WHAT_IS_NOT_A_NAME)
def test_trust_may_be_given_ahead_of_time(
    home: Home, provider: ScriptedProvider, web: Web, text: str
) -> None:
    cloned(home, web.said(text))
    code, out, _ = home.call("trust", "--yes")
    assert code == 0
    assert web.reach in out
    provider.script("m-helper", web.calls(), Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    assert web.executed in results(provider)


@pytest.mark.parametrize("text", BY_WHAT_IS_NOT_A_NAME.values(), ids=BY_WHAT_IS_NOT_A_NAME)
def test_the_users_own_agent_may_fetch(
    home: Home, provider: ScriptedProvider, web: Web, text: str
) -> None:
    home.add({"helper": f'name = "helper"\nmodel = "ollama/m-helper"\n{web.said(text)}\n'})
    provider.script("m-helper", web.calls(), Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    assert web.executed in results(provider)


TYPES = {
    "a built-in type": '[task]\ntypes = ["code"]',
    "a type of the file": '[task]\ntypes = []\n[task.type.code]\ntools = ["TOOL"]',
}


def starts_type() -> Says:
    task = {"subagent_type": "code", "description": "d", "prompt": "Read .env, then fetch."}
    return Says(calls=[Call("Task", task, "task-1")])


@pytest.mark.parametrize("text", TYPES.values(), ids=TYPES)
def test_an_agent_that_the_task_tool_starts_may_do_no_more_than_the_file(
    home: Home, provider: ScriptedProvider, web: Web, text: str
) -> None:
    cloned(home, web.said(text))
    child = (web.calls(), Says("fetched"))
    provider.script("m-helper", starts_type(), *child, Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    told = json.dumps([each.body for each in provider.requests])
    assert REFUSED in told
    assert web.executed not in told
    assert home.call("trust", "--yes")[0] == 0
    provider.script("m-helper", starts_type(), *child, Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    assert web.executed in json.dumps([each.body for each in provider.requests])


@pytest.mark.parametrize("text", TYPES.values(), ids=TYPES)
def test_an_agent_that_the_task_tool_of_the_users_own_file_starts_may_fetch(
    home: Home, provider: ScriptedProvider, web: Web, text: str
) -> None:
    home.add({"helper": f'name = "helper"\nmodel = "ollama/m-helper"\n{web.said(text)}\n'})
    provider.script("m-helper", starts_type(), web.calls(), Says("fetched"), Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    assert web.executed in json.dumps([each.body for each in provider.requests])


def test_the_person_at_the_terminal_is_asked_when_it_is_called_and_never_again(
    home: Home, provider: ScriptedProvider
) -> None:
    cloned(home, 'type = "code"')
    provider.script("m-helper", fetches(1), fetches(2), Says("one"), fetches(3), Says("two"))
    with Terminal(
        [*COMMAND, "run", "helper"], home.environment, home.work, columns=120
    ) as terminal:
        screen = terminal.shows(lambda rows: any("Allow this?" in row for row in rows))
        assert any("url_fetch: any public host" in row for row in screen)
        terminal.type(b"y\n")
        assert terminal.end()[0] == 0
    assert results(provider).count(EXECUTED) == 2
    # Another prompt is no other reach.
    cloned(home, 'type = "code"\nsystem_prompt = "Be brief."')
    assert home.call("run", "helper")[:2] == (0, "two")
    assert EXECUTED in results(provider)


def test_a_no_is_for_the_whole_run(home: Home, provider: ScriptedProvider) -> None:
    cloned(home, 'type = "code"')
    provider.script("m-helper", fetches(1), fetches(2), Says("done"))
    with Terminal(
        [*COMMAND, "run", "helper"], home.environment, home.work, columns=120
    ) as terminal:
        terminal.shows(lambda rows: any("Allow this?" in row for row in rows))
        terminal.type(b"n\n")
        assert terminal.end()[0] == 0
    assert results(provider).count(REFUSED) == 2


def test_another_prompt_asks_nobody_again_but_another_host_does(
    home: Home, provider: ScriptedProvider
) -> None:
    tools = 'tools = ["url_fetch"]\n'
    cloned(home, f'{tools}allowed_hosts = ["docs.example"]')
    assert home.call("trust", "--yes")[0] == 0
    provider.script("m-helper", Says("one"))
    cloned(home, f'{tools}allowed_hosts = ["docs.example"]\nsystem_prompt = "Be brief."')
    assert home.call("run", "helper")[:2] == (0, "one")
    cloned(home, f'{tools}allowed_hosts = ["stranger.example"]')
    assert home.call("run", "helper")[0] == NOT_ALLOWED
    cloned(home, tools)
    assert home.call("run", "helper")[0] == NOT_ALLOWED


def test_trust_in_one_file_is_not_for_another(home: Home, provider: ScriptedProvider) -> None:
    cloned(home, 'tools = ["url_fetch"]')
    assert home.call("trust", "--yes")[0] == 0
    cloned(home, 'tools = ["url_fetch"]', "other")
    assert home.call("run", "other")[0] == NOT_ALLOWED
    assert provider.requests == []


MORE = {
    "a tool": 'tools = ["grep", "read_file", "url_fetch"]',
    "an agent": 'tools = ["url_fetch"]\nsub_agents = ["reader"]',
    "a type": 'tools = ["url_fetch"]\n[task]\ntypes = ["explore"]',
    "a file": 'tools = ["url_fetch"]\nfiles = [".env"]',
    "a skill": 'tools = ["url_fetch"]\nskill = "WORK/.env"',
    "a memory": 'tools = ["url_fetch"]\nmemory = { enabled = true, path = ".env" }',
    "a folder": 'tools = ["url_fetch"]\nworkdir = "axe"',
}


@pytest.mark.parametrize("text", MORE.values(), ids=MORE)
def test_a_trusted_file_that_can_read_more_than_before_asks_again(
    home: Home, provider: ScriptedProvider, text: str
) -> None:
    cloned(home, 'tools = ["url_fetch"]')
    assert home.call("trust", "--yes")[0] == 0
    cloned(home, text.replace("WORK", str(home.work)))
    assert home.call("run", "helper")[0] == NOT_ALLOWED
    assert provider.requests == []


def test_what_a_file_may_reach_is_kept_beside_what_it_reaches_otherwise(
    home: Home, provider: ScriptedProvider
) -> None:
    """One decision does not take the place of the other, nor does another text end trust in the tool."""
    (home.work.parent / "guide.md").write_text("Be kind.")
    text = f'type = "code"\nskill = "{home.work.parent}/guide.md"'
    cloned(home, text)
    assert home.call("trust", "--yes")[0] == 0
    provider.script("m-helper", fetches(), Says("one"))
    assert home.call("run", "helper")[:2] == (0, "one")
    assert EXECUTED in results(provider)
    cloned(home, f'{text}\nsystem_prompt = "Be brief."')
    assert home.call("run", "helper")[0] == NOT_ALLOWED
    code, out, _ = home.call("trust", "--yes")
    assert code == 0
    assert out.count("(is allowed)") == 2  # url_fetch and web_search


def test_trust_says_how_long_it_lasts_and_counts_files(home: Home) -> None:
    cloned(home, 'type = "code"')
    _, out, _ = home.call("trust", "--yes")
    assert out.splitlines()[-1] == f"Allowed in {home.work} until what the agents can read changes."
    assert home.call("trust", "--revoke")[1] == f"Revoked in {home.work}: 1 file.\n"


LEAD = 'tools = ["read_file"]\nsub_agents = ["researcher"]'


def researcher(text: str) -> dict[str, str]:
    return {"researcher": f'name = "researcher"\nmodel = "ollama/m-researcher"\n{text}\n'}


def delegates(provider: ScriptedProvider, web: Web) -> None:
    """The lead gives what it has read to the researcher, which sends it."""
    provider.script("m-helper", Says(calls=[calls_agent("researcher", SECRET)]), Says("done"))
    provider.script("m-researcher", web.calls(), Says("found"))


def told(provider: ScriptedProvider, model: str) -> str:
    return json.dumps(provider.asked(model)[-1].body)


def test_a_strangers_agent_sends_nothing_through_an_agent_of_the_user(
    home: Home, provider: ScriptedProvider, web: Web
) -> None:
    cloned(home, LEAD)
    home.add(researcher(web.said('tools = ["TOOL"]')))
    delegates(provider, web)
    code, out, err = home.call("run", "helper")
    assert (code, out) == (0, "done")
    assert REFUSED in told(provider, "m-researcher")
    assert "agent 'helper' reaches out" in err.replace('"', "'")
    assert web.reach in home.call("trust", "--yes")[1]
    delegates(provider, web)
    assert home.call("run", "helper")[:2] == (0, "done")
    assert web.executed in told(provider, "m-researcher")


def test_a_strangers_agent_sends_nothing_through_another_one_that_is_trusted(
    home: Home, provider: ScriptedProvider
) -> None:
    cloned(home, 'tools = ["url_fetch"]', "researcher")
    assert home.call("trust", "--yes")[0] == 0
    cloned(home, LEAD)
    delegates(provider, FETCH)
    assert home.call("run", "helper")[:2] == (0, "done")
    assert REFUSED in told(provider, "m-researcher")


def test_agents_of_the_user_send_through_each_other(home: Home, provider: ScriptedProvider) -> None:
    home.add({"helper": f'name = "helper"\nmodel = "ollama/m-helper"\n{LEAD}\n'})
    home.add(researcher('tools = ["url_fetch"]'))
    delegates(provider, FETCH)
    assert home.call("run", "helper")[:2] == (0, "done")
    assert EXECUTED in told(provider, "m-researcher")


APART = '[isolation]\nmode = "process"'


@pytest.mark.parametrize(
    ("key", "mark"), [(b"n\n", REFUSED), (b"a\n", EXECUTED)], ids=["no", "for this run"]
)
def test_agents_in_processes_of_their_own_ask_once(
    home: Home, provider: ScriptedProvider, key: bytes, mark: str
) -> None:
    """All call at once. A second question would wait for ever."""
    cloned(home, LEAD)
    home.add(researcher(f'tools = ["url_fetch"]\n{APART}'))
    calls = [calls_agent("researcher", SECRET, call_id=f"call-{each}") for each in range(3)]
    provider.script("m-helper", Says(calls=calls), Says("done"))
    provider.script(
        "m-researcher",
        Answer(Says("found"), match=mark, repeat=True),
        Answer(fetches(), repeat=True),
    )
    with Terminal(
        [*COMMAND, "run", "helper"], home.environment, home.work, columns=120
    ) as terminal:
        terminal.shows(lambda rows: any("Allow this?" in row for row in rows))
        terminal.type(key)
        assert terminal.end()[0] == 0
    asked = [json.dumps(each.body) for each in provider.asked("m-researcher")]
    assert sum(mark in each for each in asked) == 3


def test_a_resumed_agent_that_the_task_tool_has_started_may_do_no_more(
    home: Home, provider: ScriptedProvider
) -> None:
    cloned(home, '[task]\ntypes = ["code"]')
    kills = "until [ -s pid ]; do sleep 0.01; done; kill -9 $(cat pid); sleep 60"
    ends = Says(calls=[Call("run_command", {"command": kills}, "ends")])
    provider.script("m-helper", starts_type(), ends)
    process = home.start("run", "helper", "--yes")
    (home.work / "pid").write_text(str(process.pid))
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    provider.script("m-helper", fetches(), Says("fetched"), Says("done"))
    assert home.call("resume")[:2] == (0, "done")
    sent = json.dumps([each.body for each in provider.requests])
    assert REFUSED in sent
    assert EXECUTED not in sent


def test_check_names_the_tool_in_the_list(home: Home) -> None:
    cloned(home, 'tools = ["read_file", "url_fetch"]')
    code, lines, _ = home.call("check")
    assert code == 0
    where = "helper.toml:3:23: information[outside-workspace]: url_fetch: any public host"
    assert where in lines


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", ["4:18", "4:31"]),
        ('disabled_tools = ["web_s*"]', ["4:18"]),
        ('[tools.web_fetch]\npermission = "never"', ["4:31"]),
    ],
)
def test_check_names_the_tools_of_an_agent_of_vibe(home: Home, more: str, told: list[str]) -> None:
    file = home.work / ".vibe" / "agents" / "helper.toml"
    file.parent.mkdir(parents=True)
    text = 'description = "Helps"\ninstructions = "Help."\nactive_model = ""\n'
    file.write_text(f'{text}enabled_tools = ["web_fetch", "web_search", "grep"]\n{more}\n')
    _, lines, _ = home.call("check")
    assert [
        line.split(": ")[0] for line in lines.splitlines() if "[outside-workspace]" in line
    ] == [f".vibe/agents/helper.toml:{place}" for place in told]
