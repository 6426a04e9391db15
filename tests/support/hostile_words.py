"""An agent of a stranger, and answers of a model, with characters that a terminal or an editor would obey."""

from __future__ import annotations

from support.scripted_provider import Call, Says, ScriptedProvider

OBEYED = "\x1b]0;title\x07\x08\x9b2J\u202egnp\u2066\u200f"


HOSTILE_AGENT = 'name = "hostile"\nmodel = "anthropic/hostile"\ntools = ["write_file"]\n'
"""Its name is that of its file."""


def script_hostile_answers(provider: ScriptedProvider) -> None:
    """Have the model call a tool that there is not, write a file, and answer, with these characters everywhere."""
    unknown = Call(f"x{OBEYED}\n", {f"name{OBEYED}": f"value{OBEYED}"})
    write = Call("write_file", {"path": f"{'long' * 50}.txt", "content": OBEYED})
    provider.script(
        "hostile",
        Says(f"one{OBEYED}", calls=[unknown]),
        Says(f"two{OBEYED}", calls=[write]),
        Says(f"{OBEYED} the end"),
    )
