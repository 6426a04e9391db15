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

_ALONE = r"""(?<![ \t`"'])(?:{})(?![ \t`"'.,;:!?)\]])""".format(
    "|".join(map(re.escape, _CLOSING.values()))
)
"""A closing tag as a model ends its thoughts. A text about tags has it between spaces or in quotes."""

_THINKS_AT_ONCE = r"(?i)(?<![a-z])(?:qwq|deepseek-r1|r1-\d+|thinking)(?![a-z])"
"""The names of models that always think, and whose templates write the opening tag into the prompt."""

_FENCE = "```"


def has_tags(text: str) -> bool:
    """Whether there may be thoughts in a text."""
    return any(tag in text for tag in _CLOSING.values())


def without_tagged_thoughts(response: Response, model: str) -> Response:
    """The answer of a model without the thoughts that stand in its text."""
    text = response.content
    splitter = TagSplitter("" if response.thoughts else model)
    thought, answer = _split(text, splitter, is_whole=is_whole(response))
    if answer == text:
        return response
    return replace(response, content=answer, thoughts=response.thoughts or thought)


def is_whole(response: Response) -> bool:
    """Whether the text must be an answer, since the model neither calls a tool nor was cut off."""
    return not response.tool_calls and response.incomplete is None


def _split(text: str, splitter: TagSplitter, *, is_whole: bool) -> tuple[str, str]:
    """The thoughts in a text and the answer."""
    parts = splitter.feed(text), splitter.rest(is_whole=is_whole)
    thought, answer = "".join(part.thought for part in parts), "".join(part.text for part in parts)
    end = re.search(_ALONE, text) if answer == text and has_tags(text) else None
    if end is None:
        return thought, answer
    before, after = text[: end.start()], text[end.end() :].lstrip()
    is_quoted = before.count(_FENCE) % 2 or any(tag in before for tag in _CLOSING)
    return (thought, answer) if is_quoted or (is_whole and not after) else (before.strip(), after)


class TagSplitter:
    """Tells the thoughts in the text of one answer from the rest, piece by piece.

    A closing tag without an opening one is read of a model that always thinks. Of others it is left, as what
    stands before it has been shown when it comes.
    """

    def __init__(self, model: str = "") -> None:
        self._model = model
        self.is_behind = False
        """Whether all that follows is the answer."""
        self._begun: list[str] = []
        """All that came before the answer, as it came."""
        self._held = ""
        """The end of it, which may be a part of a tag."""
        self._closing = ""
        self._is_closed = self._has_thought = False

    def expect_tags(self) -> None:
        """The thoughts come elsewhere, so a text without an opening tag has none."""
        self._model = ""

    def feed(self, text: str) -> Delta:
        """Take a piece of the text; returns what is known to be of the answer or of the thoughts."""
        if self.is_behind:
            return Delta(text)
        if self._is_closed:
            return Delta(self._answer(text))
        self._begun.append(text)
        self._held += text
        return self._inside() if self._closing else self._before()

    def rest(self, *, is_whole: bool) -> Delta:
        """What was held back at the end of the text.

        A text `is_whole` that has no closing tag is an answer about the tag, or the model has forgotten to
        close it: all of it is the answer, as for LiteLLM.
        """
        if self._is_closed or self.is_behind:
            return Delta()
        if not self._closing or is_whole:
            return Delta("".join(self._begun))
        return Delta(thought=self._held.rstrip())

    def _before(self) -> Delta:
        begun = self._held.lstrip()
        opening = next(filter(begun.startswith, _CLOSING), None)
        if opening is not None:
            self._closing, self._held = _CLOSING[opening], begun.removeprefix(opening)
            return self._inside()
        if any(tag.startswith(begun) for tag in _CLOSING):
            return Delta()
        if re.search(_THINKS_AT_ONCE, self._model):
            self._closing = _CLOSING["<think>"]
            return self._inside()
        self.is_behind = True
        return Delta(self._held)

    def _inside(self) -> Delta:
        """The space around thoughts is none of them: models that do not think write empty tags."""
        thought, closing, answer = self._held.partition(self._closing)
        if not self._has_thought:
            thought = thought.lstrip()
        kept = 0 if closing else _overlap(thought, self._closing)
        shown = thought[: len(thought) - kept].rstrip()
        self._held = thought[len(shown) :]
        self._has_thought = self._has_thought or bool(shown)
        self._is_closed = bool(closing)
        return Delta(self._answer(answer) if closing else "", shown)

    def _answer(self, text: str) -> str:
        """A piece behind the closing tag, without the blank lines between."""
        answer = text.lstrip()
        self.is_behind = bool(answer)
        return answer


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of a text may be the beginning of a tag."""
    return next((n for n in range(len(tag) - 1, 0, -1) if text.endswith(tag[:n])), 0)
