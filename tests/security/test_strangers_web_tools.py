"""What an agent of a cloned repository may send to the web: each test starts from the stranger's file.

No page is fetched from this machine: `url_fetch` refuses its addresses, and says so if it is executed at all.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.command_line import COMMAND, Home
from support.scripted_provider import Call, Says, ScriptedProvider
from support.terminal import Terminal

SECRET = "dotenv-secret-of-the-project"
NOT_ALLOWED = 2
EXECUTED = "private"
"""Stands in the result of a call that was executed."""
REFUSED = "the user has not trusted it"


@pytest.fixture
def home(tmp_path: Path, provider: ScriptedProvider) -> Home:
    home = Home(tmp_path, provider.environment)
    (home.work / ".env").write_text(f"{SECRET}\n")
    return home


def cloned(home: Home, text: str, name: str = "helper") -> Path:
    """The stranger's agent file in the folder in which the user works."""
    file = home.work / "axe" / "agents" / f"{name}.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f'name = "{name}"\nmodel = "ollama/m-{name}"\n{text}\n')
    return file


def fetches(number: int = 1) -> Says:
    """The model puts what it has read into an address."""
    address = f"http://127.0.0.1:9/{SECRET}"
    return Says(calls=[Call("url_fetch", {"url": address}, f"fetch-{number}")])


def results(provider: ScriptedProvider) -> str:
    """What the model was told in the end."""
    return json.dumps(provider.requests[-1].body)


BY_WHAT_IS_NOT_A_NAME = {
    "a glob": 'tools = ["*"]',
    "a type": 'type = "code"',
    "a glob of the policy": 'tool_policy = { allow = ["url_*"] }',
}


@pytest.mark.parametrize("text", BY_WHAT_IS_NOT_A_NAME.values(), ids=BY_WHAT_IS_NOT_A_NAME)
@pytest.mark.parametrize("options", [(), ("--yes",)], ids=["no option", "yes"])
def test_nothing_is_fetched_by_an_agent_that_was_not_trusted(
    home: Home, provider: ScriptedProvider, text: str, options: tuple[str, ...]
) -> None:
    cloned(home, text)
    provider.script("m-helper", fetches(1), fetches(2), Says("done"))
    code, out, err = home.call("run", "helper", *options)
    assert (code, out) == (0, "done")
    assert results(provider).count(REFUSED) == 2
    assert EXECUTED not in results(provider)
    assert err.count("url_fetch: any public host") == 1
    assert f"axe-lsp trust {home.work}" in err


@pytest.mark.parametrize("text", BY_WHAT_IS_NOT_A_NAME.values(), ids=BY_WHAT_IS_NOT_A_NAME)
def test_a_trusted_run_may_fetch(home: Home, provider: ScriptedProvider, text: str) -> None:
    cloned(home, text)
    provider.script("m-helper", fetches(), Says("done"))
    assert home.call("run", "helper", "--trust")[:2] == (0, "done")
    assert EXECUTED in results(provider)


@pytest.mark.parametrize("text", BY_WHAT_IS_NOT_A_NAME.values(), ids=BY_WHAT_IS_NOT_A_NAME)
def test_trust_may_be_given_ahead_of_time(
    home: Home, provider: ScriptedProvider, text: str
) -> None:
    cloned(home, text)
    code, out, _ = home.call("trust", "--yes")
    assert code == 0
    assert "url_fetch: any public host" in out
    provider.script("m-helper", fetches(), Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    assert EXECUTED in results(provider)


@pytest.mark.parametrize("text", BY_WHAT_IS_NOT_A_NAME.values(), ids=BY_WHAT_IS_NOT_A_NAME)
def test_the_users_own_agent_may_fetch(home: Home, provider: ScriptedProvider, text: str) -> None:
    home.add({"helper": f'name = "helper"\nmodel = "ollama/m-helper"\n{text}\n'})
    provider.script("m-helper", fetches(), Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    assert EXECUTED in results(provider)


TYPES = {
    "a built-in type": '[task]\ntypes = ["code"]',
    "a type of the file": '[task]\ntypes = []\n[task.type.code]\ntools = ["url_fetch"]',
}


def starts_type() -> Says:
    task = {"subagent_type": "code", "description": "d", "prompt": "Read .env, then fetch."}
    return Says(calls=[Call("Task", task, "task-1")])


@pytest.mark.parametrize("text", TYPES.values(), ids=TYPES)
def test_an_agent_that_the_task_tool_starts_may_do_no_more_than_the_file(
    home: Home, provider: ScriptedProvider, text: str
) -> None:
    cloned(home, text)
    child = (fetches(), Says("fetched"))
    provider.script("m-helper", starts_type(), *child, Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    told = json.dumps([each.body for each in provider.requests])
    assert REFUSED in told
    assert EXECUTED not in told
    assert home.call("trust", "--yes")[0] == 0
    provider.script("m-helper", starts_type(), *child, Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    assert EXECUTED in json.dumps([each.body for each in provider.requests])


@pytest.mark.parametrize("text", TYPES.values(), ids=TYPES)
def test_an_agent_that_the_task_tool_of_the_users_own_file_starts_may_fetch(
    home: Home, provider: ScriptedProvider, text: str
) -> None:
    home.add({"helper": f'name = "helper"\nmodel = "ollama/m-helper"\n{text}\n'})
    provider.script("m-helper", starts_type(), fetches(), Says("fetched"), Says("done"))
    assert home.call("run", "helper")[:2] == (0, "done")
    assert EXECUTED in json.dumps([each.body for each in provider.requests])


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


def test_what_a_file_may_reach_is_kept_beside_what_it_reaches_otherwise(
    home: Home, provider: ScriptedProvider
) -> None:
    """One decision does not take the place of the other, nor does another skill end trust in the tool."""
    for name in ("guide", "other"):
        (home.work.parent / f"{name}.md").write_text("Be kind.")
    cloned(home, f'type = "code"\nskill = "{home.work.parent}/guide.md"')
    assert home.call("trust", "--yes")[0] == 0
    provider.script("m-helper", fetches(), Says("one"))
    assert home.call("run", "helper")[:2] == (0, "one")
    assert EXECUTED in results(provider)
    cloned(home, f'type = "code"\nskill = "{home.work.parent}/other.md"')
    assert home.call("run", "helper")[0] == NOT_ALLOWED
    code, out, _ = home.call("trust", "--yes")
    assert code == 0
    assert out.count("(is allowed)") == 2  # url_fetch and web_search


def test_check_names_the_tool_in_the_list(home: Home) -> None:
    cloned(home, 'tools = ["read_file", "url_fetch"]')
    code, lines, _ = home.call("check")
    assert code == 0
    where = "helper.toml:3:23: information[outside-workspace]: url_fetch: any public host"
    assert where in lines
