"""The program that searches where ripgrep is not installed: prints what `rg` would print, more slowly.

It is started as a script of its own with one argument, a JSON object (`Query` of `search.py`), in the folder that is
searched: so a regular expression that never ends is ended with the process, and nothing of a workspace is imported.

The rules are those of ripgrep 14 (`rg --hidden --sort=path`): ignore files (`.gitignore` in repositories, `.ignore`,
`.rgignore`, `.git/info/exclude`, also those of the folders above), globs that override them, links that are not
followed, and files that are binary. Regular expressions are those of Python, with the few words of Rust's syntax
that differ; a byte that is not UTF-8 counts as a character.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

LONGEST_LINE = 500
"""Bytes of a line that is shown whole, and characters of a longer one that are."""

_BUFFER = 65536
"""Bytes that ripgrep reads at once. Nothing in a piece with a NUL is searched."""

_LARGEST = 256 * 1024 * 1024
"""Bytes of a file that are searched, since it is read as a whole."""

_FAILED = 2

_IGNORE_FILES = (".rgignore", ".ignore")
_GIT_IGNORE = ".gitignore"
_GIT = ".git"


class GlobError(ValueError):
    """A glob that is not valid."""


class Rule(NamedTuple):
    """A line of an ignore file, or a glob. `is_negated`: begins with `!`. `only_folders`: ends with a slash."""

    regex: re.Pattern[str]
    is_negated: bool
    only_folders: bool


class Rules(NamedTuple):
    """The rules of one ignore file, for paths relative to its `folder`, which is absolute."""

    folder: str
    rules: tuple[Rule, ...]

    def decision(self, path: str, is_folder: bool) -> bool | None:
        """Return whether a path is ignored; None if no rule says so. The last rule wins."""
        below = self.folder.rstrip("/") + "/"
        if not path.startswith(below):
            return None
        relative = path[len(below) :]
        for rule in reversed(self.rules):
            if (is_folder or not rule.only_folders) and rule.regex.fullmatch(relative):
                return not rule.is_negated
        return None


def rule_of(line: str) -> Rule | None:
    """Return the rule of a line of an ignore file; None for a comment or an empty line. Raise GlobError."""
    if line.startswith("#"):
        return None
    if not line.endswith("\\ "):
        line = line.rstrip()
    is_negated = line.startswith("!")
    line = line[1:] if is_negated else line
    if line.startswith(("\\#", "\\!")):
        line = line[1:]
    only_folders = line.endswith("/")
    line = line[:-1] if only_folders else line
    if not line:
        return None
    is_anchored = "/" in line
    glob = line.lstrip("/") if line.startswith("/") else line
    if not is_anchored and not glob.startswith("**/"):
        glob = f"**/{glob}"
    if glob.endswith("/**"):
        glob += "/*"
    return Rule(_compiled(glob), is_negated, only_folders)


@lru_cache(maxsize=4096)
def _compiled(glob: str) -> re.Pattern[str]:
    return re.compile(_Translation(glob).regex(), re.DOTALL)


class _Translation:
    """A glob as a regular expression. `*` and `?` match no slash."""

    def __init__(self, glob: str) -> None:
        self._glob = glob
        self._at = 0
        self._depth = 0

    def regex(self) -> str:
        pieces: list[str] = []
        while self._at < len(self._glob):
            pieces.append(self._piece())
        if self._depth:
            raise GlobError("unclosed alternate group; missing '}' (maybe escape '{' with '[{]'?)")
        return "".join(pieces)

    def _piece(self) -> str:
        glob, at = self._glob, self._at
        character = glob[at]
        self._at += 1
        special = {"*": self._stars, "?": _no_slash, "[": self._class, "\\": self._escape}
        if character in special:
            return special[character](at)
        if character in "{}":
            return self._group(character)
        return "|" if character == "," and self._depth else re.escape(character)

    def _group(self, brace: str) -> str:
        """Return the beginning or the end of alternatives, as in `{a,b}`."""
        self._depth += 1 if brace == "{" else -1
        if self._depth < 0:
            raise GlobError("unopened alternate group; missing '{' (maybe escape '}' with '[}]'?)")
        return "(?:" if brace == "{" else ")"

    def _escape(self, _at: int) -> str:
        if self._at >= len(self._glob):
            raise GlobError("dangling '\\'")
        self._at += 1
        return re.escape(self._glob[self._at - 1])

    def _stars(self, at: int) -> str:
        glob = self._glob
        end = at
        while end < len(glob) and glob[end] == "*":
            end += 1
        begins = at == 0 or glob[at - 1] == "/"
        if end - at == 2 and begins and glob[end : end + 1] == "/":
            self._at = end + 1
            return "(?:.*/)?"
        if end - at == 2 and begins and end == len(glob):
            self._at = end
            return ".*"
        self._at = end
        return "[^/]*"

    def _class(self, _at: int) -> str:
        glob, at = self._glob, self._at
        is_negated = glob[at : at + 1] in ("!", "^") and glob[at : at + 1] != ""
        at += is_negated
        end = glob.find("]", at + 1)
        if end < 0:
            raise GlobError("unclosed character class; missing ']'")
        self._at = end + 1
        inside = re.sub(r"([\\\[\]^&~|])", r"\\\1", glob[at:end])
        for low, high in re.findall(r"(.)-(.)", glob[at:end]):
            if low > high:
                raise GlobError(f"invalid range; '{low}' > '{high}'")
        return f"(?!/)[{'^' if is_negated else ''}{inside}]"


def _no_slash(_at: int) -> str:
    return "[^/]"


class Folder:
    """A folder with its ignore files, and the one above it."""

    def __init__(self, path: str, above: Folder | None) -> None:
        self.path = path
        self.above = above
        self.has_git = os.path.exists(os.path.join(path, _GIT))
        self.is_in_repository: bool = self.has_git or (above is not None and above.is_in_repository)
        self._own = {name: self._read(name) for name in (*_IGNORE_FILES, _GIT_IGNORE)}
        exclude = os.path.join(_GIT, "info", "exclude")
        self._exclude = self._read(exclude) if self.has_git else None

    def _read(self, name: str) -> Rules | None:
        try:
            with open(os.path.join(self.path, name), encoding="utf-8", errors="replace") as file:
                lines = file.read().removeprefix("\ufeff").splitlines()
        except (OSError, ValueError):
            return None
        rules = []
        for line in lines:
            try:
                rule = rule_of(line)
            except (GlobError, re.error):
                continue  # As git and ripgrep skip it.
            if rule is not None:
                rules.append(rule)
        return Rules(self.path, tuple(rules))

    def is_ignored(self, path: str, is_folder: bool) -> bool:
        """Return whether the ignore files of this folder and those above leave out a path."""
        for name in _IGNORE_FILES:
            for folder in self._upwards():
                decision = _decision(folder._own[name], path, is_folder)
                if decision is not None:
                    return decision
        if not self.is_in_repository:
            return False
        decisions: list[bool | None] = [None, None]
        for folder in self._upwards():
            for index, rules in enumerate((folder._own[_GIT_IGNORE], folder._exclude)):
                if decisions[index] is None:
                    decisions[index] = _decision(rules, path, is_folder)
            if folder.has_git:
                break
        return next((each for each in decisions if each is not None), False)

    def _upwards(self) -> Iterator[Folder]:
        folder: Folder | None = self
        while folder is not None:
            yield folder
            folder = folder.above


def _decision(rules: Rules | None, path: str, is_folder: bool) -> bool | None:
    return rules.decision(path, is_folder) if rules is not None else None


class Walk:
    """The files below a path, in the order of their names, as ripgrep finds them."""

    def __init__(self, globs: list[str]) -> None:
        """Raise GlobError for a glob that is not valid, with the glob."""
        self._here = os.getcwd()
        rules = []
        for glob in globs:
            try:
                rule = rule_of(glob)
            except (GlobError, re.error) as error:
                raise GlobError(f"'{glob}': {error}") from error
            if rule is not None:
                rules.append(rule)
        self._globs = Rules(self._here, tuple(rules))
        self._needs_glob = any(not rule.is_negated for rule in rules)

    def files(self, path: str) -> Iterator[str]:
        """Yield the paths of files, which begin with `path`."""
        if not os.path.isdir(path):
            yield path
            return
        yield from self._below(path, self._folder(os.path.abspath(path)))

    def _folder(self, path: str) -> Folder:
        parent = os.path.dirname(path)
        return Folder(path, self._folder(parent) if parent != path else None)

    def _below(self, path: str, folder: Folder) -> Iterator[str]:
        """Yield the files of a tree, without recursion: a tree may be deeper than Python's stack."""
        stack = [self._entries(path, folder)]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
            elif isinstance(entry, str):
                yield entry
            else:
                stack.append(self._entries(entry[0], Folder(os.path.abspath(entry[0]), entry[1])))

    def _entries(self, path: str, folder: Folder) -> Iterator[str | tuple[str, Folder]]:
        try:
            with os.scandir(path) as found:
                entries = sorted(found, key=lambda each: os.fsencode(each.name))
        except OSError:
            return
        for entry in entries:
            name = os.path.join(path, entry.name)
            try:
                mode = entry.stat(follow_symlinks=False).st_mode
            except OSError:
                continue
            is_folder = stat.S_ISDIR(mode)
            if not (is_folder or stat.S_ISREG(mode)):
                continue
            if self._is_left_out(os.path.abspath(name), is_folder, folder):
                continue
            yield (name, folder) if is_folder else name

    def _is_left_out(self, path: str, is_folder: bool, folder: Folder) -> bool:
        decision = self._globs.decision(path, is_folder)
        if decision is not None:
            return not decision  # A glob says what to take, an ignore file what to leave out.
        if self._needs_glob and not is_folder:
            return True
        return folder.is_ignored(path, is_folder)


_POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


def python_pattern(pattern: str) -> str:
    """Return a pattern of Rust's syntax in the words of Python."""
    pattern = re.sub(r"\[:(\w+):\]", lambda match: _POSIX_CLASSES.get(match[1], match[0]), pattern)
    pattern = re.sub(r"\\x\{([0-9A-Fa-f]{1,6})\}", lambda m: re.escape(chr(int(m[1], 16))), pattern)
    return (
        re.sub(r"(?<!\\)((?:\\\\)*)\\z", r"\1\\Z", pattern)
        .replace("(?<", "(?P<")
        .replace("(?P<=", "(?<=")
        .replace("(?P<!", "(?<!")
    )


def lines_of(path: str, regex: re.Pattern[str], is_named: bool) -> Iterator[bytes]:
    """Yield the lines of a file that match, as `path:number:text`.

    Of a binary file that was found those are searched that ripgrep has read before it comes to the first NUL. Of
    one that was named it says only that it matches, if the NUL is at its beginning or in the line.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(_LARGEST)
    except OSError:
        return
    name = os.fsencode(path)
    text, nul = _decoded(data)
    if nul >= 0 and not is_named:
        text, _ = _decoded(data[: _searched_before(data)])
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    has_matched = False
    for number, line in enumerate(lines, 1):
        if regex.search(line):
            if is_named and (0 <= nul < _BUFFER or "\0" in line):
                yield b"%s: binary file matches (%s)" % (name, _about_nul(nul))
                return
            has_matched = True
            yield b"%s:%d:%s" % (name, number, _shown(line))
    if has_matched and nul >= 0 and not is_named:
        why = b"stopped searching binary file after match"
        yield b"%s: WARNING: %s (%s)" % (name, why, _about_nul(nul))


def _about_nul(offset: int) -> bytes:
    return b'found "\\0" byte around offset %d' % offset


def _searched_before(data: bytes) -> int:
    """Return up to where ripgrep has searched a file when it reads the first NUL. It reads whole lines, in pieces."""
    start, size = 0, _BUFFER
    while b"\0" not in (piece := data[start : start + size]):
        end = piece.rfind(b"\n")
        start, size = (start + end + 1, _BUFFER) if end >= 0 else (start, 2 * size)
    return start


def _decoded(data: bytes) -> tuple[str, int]:
    """Return the text of a file, and where its first NUL is, -1 for none. A mark at its beginning tells its encoding."""
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if data.startswith(mark):
            return data[2:].decode(encoding, "replace"), -1
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape"), data.find(b"\0")


def _shown(line: str) -> bytes:
    data = line.encode("utf-8", "surrogateescape")
    if len(data) <= LONGEST_LINE:
        return data
    cut = line[:LONGEST_LINE].encode("utf-8", "surrogateescape")
    return cut + b" [... omitted end of long line]"


def main(query: dict[str, Any]) -> int:
    """Print the files or lines of a query; returns the exit code of ripgrep."""
    pattern, path = query["pattern"], query["path"]
    regex = None
    try:
        if pattern is not None:  # Before the globs: ripgrep names the first fault in this order.
            regex = re.compile(
                python_pattern(pattern), re.IGNORECASE if query["ignore_case"] else 0
            )
        walk = Walk(query["globs"])
    except GlobError as error:
        sys.stdout.write(f"error parsing glob {error}\n")
        return _FAILED
    except (re.error, OverflowError, RecursionError) as error:
        sys.stdout.write(f"regex parse error: {error}\n")
        return _FAILED
    out = sys.stdout.buffer
    if regex is None:
        for name in walk.files(path):
            out.write(os.fsencode(name) + b"\n")
        return 0
    is_named = not os.path.isdir(path)
    for found in walk.files(path):
        for line in lines_of(found, regex, is_named):
            out.write(line + b"\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
