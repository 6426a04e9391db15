"""The sources of an answer: pages and files that the provider has searched and the model cites.

Providers name them in citations, annotations, grounding metadata and search results; a wire format collects these
entries, and `sources_of` reads them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

from axe_lsp.runtime.json_data import Json, JsonStruct

MAX_SOURCES = 100
"""Sources of one answer that are kept."""

_LONGEST = 2000
"""Characters of an address or a title that are kept."""

_URL_KEYS = ("url", "uri", "link", "retrievedUrl", "source")
_TITLE_KEYS = ("title", "document_title", "filename", "displayName", "fileSearchStore", "domain")
"""The members that hold an address and a title, by their names at OpenAI, Google, Anthropic, Bedrock and Z.ai."""


class Source(JsonStruct, frozen=True):
    """A page or a file that an answer is based on. `url` is "" for a file, `title` for a page without one."""

    url: str = ""
    title: str = ""

    @property
    def text(self) -> str:
        """The source on one line."""
        return f"{self.title} {self.url}" if self.url and self.title else self.url or self.title

    @property
    def markdown(self) -> str:
        """The source as a link, or as plain text."""
        title = "".join(f"\\{c}" if c in _MARKDOWN else c for c in self.title or self.url)
        target = self.url.replace("(", "%28").replace(")", "%29").replace(">", "%3E")
        return f"[{title}]({target})" if self.url else title


_MARKDOWN = frozenset("\\`*_[]<>!|#")
"""Characters that Markdown would not show as they are."""


def sources_of(entries: Iterable[Json]) -> tuple[Source, ...]:
    """Return the sources that entries of any provider name, each once, in their order.

    An entry is an address, or an object with an address or a title. Addresses other than of web pages
    (`javascript:`, `file:`) are kept as text, so that no client makes a link of them.
    """
    return _unique(filter(None, map(_source, entries)))


def merged_sources(first: tuple[Source, ...], second: tuple[Source, ...]) -> tuple[Source, ...]:
    """Return the sources of an answer that came in two parts."""
    return _unique((*first, *second)) if first and second else first or second


def redacted_sources(sources: Iterable[Source], redact: Callable[[str], str]) -> tuple[Source, ...]:
    """Return sources whose addresses and titles `redact` has gone over."""
    return tuple(Source(redact(source.url), redact(source.title)) for source in sources)


def _unique(sources: Iterable[Source]) -> tuple[Source, ...]:
    unique: dict[str, Source] = {}
    for source in sources:
        unique.setdefault(source.url or source.title, source)
    return tuple(islice(unique.values(), MAX_SOURCES))


def _source(entry: Json) -> Source | None:
    members: Mapping[str, Json] = entry if isinstance(entry, dict) else {"url": entry}
    url, title = _member(members, _URL_KEYS), _member(members, _TITLE_KEYS)
    if not url.lower().startswith(("http://", "https://")) or " " in url:
        url, title = "", title or url
    return Source(url, title) if url or title else None


def _member(members: Mapping[str, Json], names: Iterable[str]) -> str:
    """Return the first of the members that has a text, on one line."""
    texts = (
        " ".join(value.split()) for name in names if isinstance(value := members.get(name), str)
    )
    return next(filter(None, texts), "")[:_LONGEST]


def sources_text(sources: Iterable[Source]) -> str:
    """Return sources as numbered lines below a heading, "" for none."""
    lines = [f"{number}. {source.text}" for number, source in enumerate(sources, 1)]
    return "\n".join(["Sources:", *lines]) if lines else ""


def sources_markdown(sources: Iterable[Source]) -> str:
    """Return sources as a numbered list of links below a heading, "" for none."""
    lines = [f"{number}. {source.markdown}" for number, source in enumerate(sources, 1)]
    return "\n".join(["**Sources**", "", *lines]) if lines else ""
