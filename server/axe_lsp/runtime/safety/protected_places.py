"""Protected places: files that a program executes, or that decide what an agent may do, without being asked to.

Who writes such a file makes the user's own tools run something later: git by its hooks, a shell by its start-up
file, an editor by its settings, a service by its workflows. A change there is asked about each time, unless a rule
names the place. What the user starts knowingly is not protected: tests, the fixtures of pytest, a `Makefile` and the scripts of
`package.json` belong to the code that agents are there to write, and run with the tests that the user allows.
"""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec import Struct

from axe_lsp.agentfile.text.globs import BadPatternError, matches, segments_of
from axe_lsp.runtime.files.opening import opened_file

PROTECTED_NAMES = frozenset(
    " ".join(
        (
            # git: hooks, and configuration that names programs
            ".git .gitconfig .githooks .husky .lefthook lefthook.yml lefthook.yaml .lefthook.yml .lefthook.yaml",
            "lefthook-local.yml .pre-commit-config.yaml .pre-commit-config.yml .overcommit.yml",
            # other version control: hooks as well
            ".hg .hgrc .jj",
            # services that run what is pushed
            ".github .gitlab-ci.yml .circleci .gitea .forgejo .woodpecker .woodpecker.yml .buildkite .travis.yml",
            ".drone.yml azure-pipelines.yml jenkinsfile",
            # editors
            ".vscode .idea .zed .helix .fleet .run .vs .nvim .nvim.lua .nvimrc .exrc .vimrc .gvimrc .emacs .emacs.d",
            ".dir-locals.el .dir-locals-2.el .devcontainer .devcontainer.json",
            # agents
            ".axe .claude .codex .vibe .opencode .gemini .cursor .cursorrules .kiro .windsurf .roo .continue .qwen",
            ".amazonq .aider.conf.yml .mcp.json opencode.json opencode.jsonc",
            # shells, and programs that they start
            ".envrc .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile",
            ".zlogin .zlogout .kshrc .cshrc .tcshrc .login .logout .inputrc .config .local .tmux.conf .screenrc",
            ".xinitrc .xprofile .xsession .ssh .gnupg .netrc .pam_environment .mise.toml mise.toml .mise .direnv",
            # interpreters, debuggers and package managers
            "sitecustomize.py usercustomize.py .pythonrc .pythonrc.py .pythonstartup .pdbrc .gdbinit .lldbinit",
            ".irbrc .pryrc .rprofile .npmrc .yarnrc .yarnrc.yml .yarn .pnpmfile.cjs .pnpmfile.mjs .pypirc",
            ".curlrc .wgetrc .psqlrc .sqliterc .mavenrc .mvn .bazelrc .cargo",
        )
    ).split()
)
"""Names of files and folders, in lower case, at any depth."""

PROTECTED_ENDINGS = (".pth", ".code-workspace")
"""Endings of names: Python executes lines of `.pth` files at each start, VS Code tasks of a `.code-workspace`."""

_SHORT_NAME = r"\.?git~\d+"
"""`.git` as Windows shortens it."""

_AGENT_FOLDER, _AGENTS = "axe", "agents"


class ChangedFile(Struct, frozen=True):
    """A file that a call would change, as rules see it.

    `paths` lead to it from the workspace, or from the root of the disk if it is outside: first the one without links.
    `protected` are the segments of them that make it a protected place.
    """

    paths: tuple[tuple[str, ...], ...]
    protected: tuple[str, ...] = ()

    def told(self, as_shown: Callable[[str], str]) -> ChangedFile:
        """Return the same file with each segment as it is shown."""
        paths = tuple(tuple(map(as_shown, path)) for path in self.paths)
        return ChangedFile(paths, tuple(map(as_shown, self.protected)))


def changed_file_of(place: Path, roots: Iterable[Path], spoken: Path | None = None) -> ChangedFile:
    """Return the file at `place`, an absolute path without links, in the first of the `roots` that contains it.

    They are the workspace and the folders of the tools. `spoken` is the absolute path that the model has given, in
    which a link may have a protected name.
    """
    tops = (Path(os.path.realpath(root)) for root in roots)
    top = next((each for each in tops if place.is_relative_to(each)), Path(place.anchor))
    paths = [_segments(place, top), *_paths_by_link(place, top)]
    if spoken is not None:
        paths.append(_segments(Path(os.path.normpath(spoken)), top))
    protected = (name for path in paths for name in protected_segments(path))
    return ChangedFile(tuple(dict.fromkeys(paths)), tuple(dict.fromkeys(protected)))


def protected_segments(path: Sequence[str]) -> Iterator[str]:
    """Yield the segments of a path from the workspace that are protected names."""
    for number, segment in enumerate(path):
        if is_protected_name(segment):
            yield segment
            continue
        # Elsewhere than in the top folder, the name alone is too common.
        is_of_agents = number == 0 or _plain("".join(path[number + 1 : number + 2])) == _AGENTS
        if is_of_agents and _plain(segment) == _AGENT_FOLDER:
            yield segment


def is_protected_name(name: str) -> bool:
    """Return whether a file or folder of this name is protected at any depth, on any file system."""
    plain = _plain(name)
    if plain in PROTECTED_NAMES or plain.endswith(PROTECTED_ENDINGS):
        return True
    return re.fullmatch(_SHORT_NAME, plain) is not None


def names_place(pattern: str, file: ChangedFile) -> bool:
    """Return whether a glob of a rule matches a file and, if the file is protected, names each protected segment.

    `.github/**` names `.github`, and `**` names nothing.
    """
    try:
        segments = segments_of(pattern)
    except BadPatternError:
        return False
    if not any(matches(segments, path) for path in file.paths):
        return False
    named = {_plain(re.sub(r"\\(.)", r"\1", each)) for each in segments}
    has_ending = any(each.endswith(PROTECTED_ENDINGS) for each in segments)
    return all(
        _plain(each) in named or (has_ending and each.endswith(PROTECTED_ENDINGS))
        for each in file.protected
    )


def glob_of(file: ChangedFile) -> str:
    """Return the glob that matches this file and no other one, and names what is protected about it; "" if there is none."""
    globs = (re.sub(r"([*?\[\\])", r"\\\1", "/".join(path)) for path in file.paths)
    return next((glob for glob in globs if names_place(glob, file)), "")


def _plain(name: str) -> str:
    """Return a name as the most tolerant file system compares it.

    Case, width and accents in one or two characters make no difference on macOS, which also skips invisible
    characters; Windows drops trailing dots and spaces, and what follows a colon.
    """
    if name.isascii():
        return name.lower().partition(":")[0].strip().rstrip(". ")
    visible = "".join(each for each in name if unicodedata.category(each) not in ("Cf", "Mn"))
    folded = unicodedata.normalize("NFKC", visible).casefold()
    return folded.partition(":")[0].strip().rstrip(". ")


def _segments(place: Path, top: Path) -> tuple[str, ...]:
    inside = (
        place.relative_to(top) if place.is_relative_to(top) else place.relative_to(place.anchor)
    )
    return inside.parts


def _paths_by_link(place: Path, top: Path) -> Iterator[tuple[str, ...]]:
    """Yield the protected paths to a place that begin in the workspace's top folder with a link, or as git's settings say."""
    for path, target in _links(top):
        if place.is_relative_to(target):
            yield (*path, *place.relative_to(target).parts)


def _links(top: Path) -> Iterator[tuple[tuple[str, ...], Path]]:
    """Yield protected paths in the top folder that lead elsewhere, and the places to which they lead."""
    git = top / ".git"
    with suppress(OSError), os.scandir(top) as entries:
        for entry in entries:
            if next(protected_segments([entry.name]), None) is None:
                continue
            if entry.is_symlink():
                place = Path(os.path.realpath(entry.path))
                git = place if entry.name == ".git" else git
                yield (entry.name,), place
            elif entry.name == ".git" and entry.is_file() and (path := _setting(git, r"gitdir:")):
                git = Path(os.path.realpath(top / path))
                yield (entry.name,), git
    if path := _setting(git / "config", r"[ \t]*hookspath[ \t]*="):
        yield (".git", "hooks"), Path(os.path.realpath(top / path))


_MOST_OF_SETTINGS = 64 * 1024
"""Bytes of a file of git that are read."""


def _setting(file: Path, key: str) -> str:
    """Return the path behind a key, a regular expression, in a file of git; "" if there is none."""
    try:
        with opened_file(file) as opened:
            text = os.fsdecode(opened.read(_MOST_OF_SETTINGS))
    except (OSError, ValueError):
        return ""
    found = re.search(rf"^{key}[ \t]*\"?([^\n\"]+)", text, re.IGNORECASE | re.MULTILINE)
    return found[1].strip() if found is not None else ""


def protected_in_words(words: Iterable[str], folder: Path | None) -> str:
    """Return the first word of a command that names a protected place, or ""."""
    for word in words:
        pieces = (word, *re.split("[=:,]", word)[1:], re.sub(r"^-\w", "", word))
        if any(_is_protected_path(piece, folder) for piece in pieces if piece):
            return word
    return ""


def _is_protected_path(path: str, folder: Path | None) -> bool:
    segments = tuple(part for part in re.split(r"[/\\]", os.path.normpath(path)) if part)
    if any(protected_segments(segments)):
        return True
    if folder is None:
        return False
    with suppress(OSError, ValueError):
        place = Path(os.path.realpath(folder / path))
        top = Path(os.path.realpath(folder))
        return bool(changed_file_of(place, [top]).protected)
    return False
