"""The tests that ship with the examples pass, and one of them fails when its example changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from axe_lsp.cli.demo import EXAMPLES, copy_example
from support.command_line import Home


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_tests_of_an_example_pass(name: str, tmp_path: Path) -> None:
    home = Home(tmp_path)
    copy_example(EXAMPLES[name], home.work)
    code, out, err = home.call("test", "--trust")
    assert (code, err) == (0, ""), out
    assert out.splitlines()[-1].startswith("1 passed in ")
    agent = home.work / "axe" / "agents" / f"{name}.toml"
    agent.write_text(
        agent.read_text("utf-8").replace('system_prompt = """\n', 'system_prompt = """\nNow. ')
    )
    code, out, _ = home.call("test", "--trust")
    assert code == 1
    assert f'run 1 (agent "{name}"), turn 1, system differs at character 1' in out
