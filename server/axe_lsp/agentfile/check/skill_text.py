"""What is wrong with the text of a SKILL.md. A run appends it to the prompt as it is, whatever it says.

A skill may begin with front matter, lines of YAML between two lines `---`, which other programs read. Of
these no more is understood here than a `name` on a line of its own. Alone such a line is a rule of Markdown; it
begins front matter where a key follows at once, in small letters as all that skills have.
"""

from __future__ import annotations

import re

from axe_lsp.agentfile.text.ranges import quoted

_FRONT = re.compile(r"---[ \t]*\r?\n")
_KEY = re.compile(r"(?:#.*\n)*[a-z][\w-]*:\s")
_END = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_NAME = re.compile(r"""^name:[ \t]*(["']?)([^\r\n#]*?)\1[ \t]*(?:#.*)?\r?$""", re.MULTILINE)


def skill_fault(text: str, name: str) -> str:
    """The first thing that is wrong with a skill, or "". It is found by its `name`, if that isn't ""."""
    if not text.strip():
        return "it is empty, so it adds nothing to the prompt"
    front = _FRONT.match(text)
    if front is None:
        return ""
    end = _END.search(text, front.end())
    if end is None:
        is_begun = _KEY.match(text, front.end()) is not None
        return "its front matter is not closed: a second line `---` is missing" if is_begun else ""
    called = _NAME.search(text, front.end(), end.start())
    if name and called is not None and called.group(2) not in ("", name):
        return f"its front matter calls it {quoted(called.group(2))}, but it is found as {quoted(name)}"
    return ""
