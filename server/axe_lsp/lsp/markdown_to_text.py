"""Our Markdown as plain text, for clients that show nothing else.

It takes away what the descriptions in `features` put in; what stands in code spans, such as a glob with its
stars, stays as it is.
"""

from __future__ import annotations

import re

_MARKS = re.compile(
    r"\*\*(?P<bold>(?:`[^`\n]*`|[^`*\n])+)\*\*"
    r"|`(?P<code>[^`\n]*)`"
    r"|(?<![*\w])\*(?P<italic>[^*\s][^*\n]*)\*(?![*\w])"
)
_FENCE = re.compile(r"^```.*(?:\n|\Z)", re.MULTILINE)


def plain_text(markdown: str) -> str:
    """The same without emphasis, code spans and fences."""
    return _MARKS.sub(_inside, _FENCE.sub("", markdown))


def _inside(match: re.Match[str]) -> str:
    code = match["code"]
    return code if code is not None else _MARKS.sub(_inside, match["bold"] or match["italic"])
