"""Thoughts that a server leaves in the text of an answer, between tags, because it has no parser for them.

vLLM does so without `--reasoning-parser`, llama.cpp with `--reasoning-format none`, and some hosted services
always. The thoughts come first. Where the template of the model has written the opening tag into the prompt, the
answer has the closing tag alone (model card of Qwen3-Thinking-2507, vLLM's `BaseThinkingReasoningParser`).

Others read such answers alike: LiteLLM an opening tag at the very beginning that has a closing one, aider also what
stands before a closing tag alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec.structs import replace

from axe_lsp.runtime.messages import Delta, Response

_CLOSING: Mapping[str, str] = {
    "<think>": "</think>",  # DeepSeek, Qwen, GLM, MiniMax M2
    "<thought>": "</thought>",  # EXAONE Deep, and Gemini on Google's OpenAI endpoint
    "<seed:think>": "</seed:think>",  # Seed-OSS
    "<mm:think>": "</mm:think>",  # MiniMax M3
    "[THINK]": "[/THINK]",  # Magistral
}
"""The closing tags by the opening ones, as vLLM's reasoning parsers have them, and Google's."""

_ALONE = r"""(?<![ \t`"'\\])(?<!\\[nrt])(?:{})(?![ \t`"'.,;:!?)\]\\])""".format(
    "|".join(map(re.escape, _CLOSING.values()))
)
"""A closing tag as a model ends its thoughts. A text about tags has it between spaces, quotes or escapes."""

_THINKS_AT_ONCE = (
    r"(?i)(?<![a-z])(?:qwq|deepseek-r1|r1-\d+|(?<!no[-_])(?<!non[-_])thinking)(?![a-z])"
)
"""The names of models that always think, and whose templates write the opening tag into the prompt."""

_MAY_THINK_AT_ONCE = (
    _THINKS_AT_ONCE
    + r"|(?<![a-z])(?:qwen(?:-?3\.[5-9]|[4-9])|deepseek-v(?:3\.[1-9]|[4-9])|seed-oss)"
)
"""These and the models whose templates do so if they shall think (vLLM's `Qwen3ReasoningParser`, llama.cpp's
`common_chat_params_init_seed_oss`). Of others, a closing tag alone is left: it is better to show thoughts than to
lose a part of an answer."""

_JSON = ("{", "[")
"""The beginnings of an answer that is no prose, as of one in a response format."""

_FENCE = "```"


def has_tags(text: str) -> bool:
    """Return whether there may be thoughts in a text."""
    return any(tag in text for tag in _CLOSING.values())


def without_tagged_thoughts(response: Response, model: str) -> Response:
    """Return the answer of a model without the thoughts that stand in its text."""
    text = response.content
    splitter = TagSplitter("" if response.thoughts else model)
    thought, answer = _split(text, splitter, model, is_whole=is_whole(response))
    if answer == text:
        return response
    return replace(response, content=answer, thoughts=response.thoughts or thought)


def is_whole(response: Response) -> bool:
    """Return whether the text must be an answer, since the model neither calls a tool nor was cut off."""
    return not response.tool_calls and response.incomplete is None


def _split(text: str, splitter: TagSplitter, model: str, *, is_whole: bool) -> tuple[str, str]:
    """Return the thoughts in a text and the answer."""
    parts = splitter.feed(text), splitter.rest(is_whole=is_whole)
    thought, answer = "".join(part.thought for part in parts), "".join(part.text for part in parts)
    may_end = answer == text and has_tags(text) and not text.lstrip().startswith(_JSON)
    end = re.search(_ALONE, text) if may_end and re.search(_MAY_THINK_AT_ONCE, model) else None
    if end is None:
        return thought, answer
    before, after = text[: end.start()], text[end.end() :].lstrip()
    is_quoted = before.count(_FENCE) % 2 or any(tag in before for tag in _CLOSING)
    return (thought, answer) if is_quoted or (is_whole and not after) else (before.strip(), after)


class TagSplitter:
    """Tells the thoughts in the text of one answer from the rest, piece by piece.

    A closing tag without an opening one is read of a model that always thinks, whose text is held back until the
    tag comes: without one it is the answer. Of others it is left, as what stands before it has been shown.
    """

    def __init__(self, model: str = "") -> None:
        self._model = model
        self.is_behind = False
        """Whether all that follows is the answer."""
        self._begun: list[str] = []
        """All that came before the answer, as it came."""
        self._held: list[str] = []
        """The end of it: space, or what may be a part of a tag."""
        self._guessed: list[str] | None = None
        """What are thoughts if a closing tag comes; None if an opening one says so."""
        self._closing = ""
        self._is_closed = self._has_thought = False

    def expect_tags(self) -> None:
        """Take note that the thoughts come elsewhere, so a text without an opening tag has none."""
        self._model = ""

    def feed(self, text: str) -> Delta:
        """Take a piece of the text; returns what is known to be of the answer or of the thoughts."""
        if self.is_behind:
            return Delta(text)
        if self._is_closed:
            return Delta(self._answer(text))
        self._begun.append(text)
        self._held.append(text)
        if text.isspace():
            return Delta()  # It is looked at once, with what follows.
        return self._inside() if self._closing else self._before()

    def rest(self, *, is_whole: bool) -> Delta:
        """Return what was held back at the end of the text.

        A text `is_whole` that has no closing tag is an answer about the tag, or the model has forgotten to
        close it: all of it is the answer, as for LiteLLM. So is any text without a tag.
        """
        if self._is_closed or self.is_behind:
            return Delta()
        if not self._closing or is_whole or self._guessed is not None:
            return Delta("".join(self._begun))
        return Delta(thought="".join(self._held).rstrip())

    def _before(self) -> Delta:
        held = "".join(self._held)
        begun = held.lstrip()
        opening = next(filter(begun.startswith, _CLOSING), None)
        if opening is not None:
            self._closing, self._held = _CLOSING[opening], [begun.removeprefix(opening)]
            return self._inside()
        if any(tag.startswith(begun) for tag in _CLOSING):
            return Delta()
        if re.search(_THINKS_AT_ONCE, self._model) and not begun.startswith(_JSON):
            self._closing, self._guessed = _CLOSING["<think>"], []
            return self._inside()
        self.is_behind = True
        return Delta(held)

    def _inside(self) -> Delta:
        """Return the thoughts without the space around them: models that do not think write empty tags."""
        thought, closing, answer = "".join(self._held).partition(self._closing)
        if not self._has_thought:
            thought = thought.lstrip()
        kept = 0 if closing else _overlap(thought, self._closing)
        shown = thought[: len(thought) - kept].rstrip()
        self._held = [thought[len(shown) :]]
        self._has_thought = self._has_thought or bool(shown)
        self._is_closed = bool(closing)
        if self._guessed is not None:
            self._guessed.append(shown)
            shown = "".join(self._guessed) if closing else ""
        return Delta(self._answer(answer) if closing else "", shown)

    def _answer(self, text: str) -> str:
        """Return a piece behind the closing tag, without the blank lines between."""
        answer = text.lstrip()
        self.is_behind = bool(answer)
        return answer


def _overlap(text: str, tag: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    return next((n for n in range(len(tag) - 1, 0, -1) if text.endswith(tag[:n])), 0)
