"""A project whose `lead` works while its side run `lint-1` does, for clients that send messages to both."""

from __future__ import annotations

from pathlib import Path

from support.bodies import messages_of, text_of
from support.engines import agent
from support.scripted_provider import Answer, Hold, Says, ScriptedProvider, calls_agent


def side_project(project: Path, provider: ScriptedProvider) -> Path:
    """Make it; the answers to the first messages are broken off by later ones. Returns the file of `lead`."""
    folder = project / "axe" / "agents"
    folder.mkdir(parents=True)
    agents = agent("lead", sub_agents=["lint"], sub_agents_config={"background": "always"})
    for name, text in (agents | agent("lint")).items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
    provider.script("m-lint", Answer(Says("Linting"), hold=Hold()), Says("Clean."))
    provider.script(
        "m-lead",
        Says(calls=[calls_agent("lint", "Lint")]),
        Answer(Says("Meanwhile, I look at all the files."), hold=Hold(chunk=4)),
        Says("Looked at c."),
        Says("All done."),
    )
    return folder / "lead.toml"


def user_texts(provider: ScriptedProvider, model: str) -> list[str]:
    """Return what the last request to a model has from the user."""
    messages = messages_of(provider.asked(model)[-1].body)
    return [text_of(each) for each in messages if each["role"] == "user"]
