#!/usr/bin/env python
"""Makes the pictures of docs/neovim.md, docs/emacs.md, docs/helix.md and docs/python-client.md.

They are of real sessions with the example of `axe-lsp demo`, typed by this script, which waits for what it sees
like a person.

Run it with the project's environment, with the names of pictures or for all of them. Beside that it needs the
editors that `.ci/install-*` install.
"""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

from pyte.screens import Char

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT / "tests"))

from support.editors import clean_environment, emacsen, helix, neovims, server_program  # noqa: E402 - found by the line above
from support.terminal import Terminal  # noqa: E402 - found by the line above

COLUMNS = 110
CLIENTS = PROJECT / "clients"
IMAGES = PROJECT / "docs" / "images"

WIDTH, HEIGHT = 8.43, 18
"""Of a character, in pixels, with a font of 14."""
FOREGROUND, BACKGROUND = "d8dee9", "1e222a"
COLOURS = {
    "black": "3b4252",
    "red": "e06c75",
    "green": "98c379",
    "brown": "e5c07b",
    "blue": "61afef",
    "magenta": "c678dd",
    "cyan": "56b6c2",
    "white": "d8dee9",
}


class Watched(Terminal):
    """A terminal in which a person works, and of which pictures are taken."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        super().__init__(command, environment, folder, COLUMNS)

    def sees(self, text: str) -> None:
        """Wait until the text is on the screen."""
        self.shows(lambda rows: any(text in row for row in rows))

    def watch(self, seconds: float) -> None:
        """Let the program do what it does by itself."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self._read(deadline)

    def press(self, keys: str) -> None:
        """Type, and let the program follow."""
        for key in keys:
            self.type(key.encode())
            self.watch(0.1)

    def take_picture(self, name: str) -> None:
        """Draw the screen into docs/images, once it has come to rest."""
        self.watch(1)
        rows = [[self._screen.buffer[y][x] for x in range(COLUMNS)] for y in range(40)]
        while not "".join(cell.data for cell in rows[-1]).strip():
            rows.pop()
        (IMAGES / f"{name}.svg").write_text(_drawn(rows), encoding="utf-8")


def _drawn(rows: Sequence[Sequence[Char]]) -> str:
    width, height = COLUMNS * WIDTH + 24, len(rows) * HEIGHT + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" '
        f'viewBox="0 0 {width:.0f} {height}">',
        f'<rect width="100%" height="100%" rx="8" fill="#{BACKGROUND}"/>',
        '<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" '
        'font-size="14">',
    ]
    for number, row in enumerate(rows):
        parts += _row(row, 12 + number * HEIGHT)
    return "\n".join([*parts, "</g>", "</svg>", ""])


def _row(row: Sequence[Char], top: float) -> Iterator[str]:
    column = 0
    for (front, back, bold, underlined), cells in itertools.groupby(row, _look):
        text = "".join(cell.data for cell in cells)
        left, length = 12 + column * WIDTH, len(text) * WIDTH
        column += len(text)
        if back != BACKGROUND:
            yield f'<rect x="{left:.1f}" y="{top}" width="{length:.1f}" height="{HEIGHT}" fill="#{back}"/>'
        style = ' font-weight="bold"' if bold else ""
        style += ' text-decoration="underline"' if underlined else ""
        # Several blanks in a row would become one.
        for words in re.finditer(r"\S+(?: \S+)*", text):
            x, length = left + words.start() * WIDTH, len(words[0]) * WIDTH
            yield (
                f'<text x="{x:.1f}" y="{top + 14}" textLength="{length:.1f}" fill="#{front}"{style}>'
                f"{escape(words[0])}</text>"
            )


def _look(cell: Char) -> tuple[str, str, bool, bool]:
    front, back = _colour(cell.fg, FOREGROUND), _colour(cell.bg, BACKGROUND)
    if cell.reverse:
        front, back = back, front
    return front, back, cell.bold, cell.underscore


def _colour(name: str, default: str) -> str:
    return default if name == "default" else COLOURS.get(name.removeprefix("bright"), name)


def neovim(folder: Path, environment: dict[str, str], picture: str) -> None:
    """Picture an editor in which a quick fix mended a misspelt agent; the run has ended, and its first child is folded."""
    settings = f"set runtimepath^={CLIENTS / 'neovim'} termguicolors noshowcmd noruler shortmess+=I"
    look = "lua vim.diagnostic.config({ virtual_text = true })"
    program, socket = str(neovims()[-1]), str(folder.parent / "nvim.sock")
    command = [program, "--clean", "--headless", "--listen", socket, "--cmd", settings]
    command += ["--cmd", look, "axe/agents/release-check.toml", "+17", "+hi Normal guibg=NONE"]
    # A Neovim at a terminal starts itself as its server, which one that needs its own loader can't.
    shown = ["/bin/sh", "-c", f'exec "{program}" --remote-ui --server "{socket}" </dev/tty']
    with (
        _background(command, environment, folder, Path(socket)),
        Watched(shown, environment, folder) as terminal,
    ):
        terminal.sees("no agent file defines")
        terminal.press("f[lgra")
        terminal.sees("Replace by")
        terminal.press("1\r")
        terminal.sees('"api-reviewer"')
        terminal.press(":AxeRun Can this be released?\r")
        terminal.sees("asks for either.")
        terminal.press("\x17j:resize 24\rgg]]zc")
        terminal.take_picture(picture)


@contextmanager
def _background(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, socket: Path
) -> Iterator[None]:
    server = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    try:
        while not socket.exists():
            time.sleep(0.05)
        yield
    finally:
        server.terminate()
        server.wait()


def emacs(folder: Path, environment: dict[str, str], picture: str) -> None:
    """Picture an editor in which a run has ended; its first child is folded."""
    start = folder.parent / "init.el"
    start.write_text(
        f"(add-to-list 'load-path \"{CLIENTS / 'emacs'}\")\n(require 'axe-lsp)\n"
        "(add-hook 'axe-agent-mode-hook #'eglot-ensure)\n"
        "(setq frame-background-mode 'dark)\n(mapc #'frame-set-background-mode (frame-list))\n"
        "(setq split-width-threshold nil eldoc-echo-area-use-multiline-p 3)\n(menu-bar-mode -1)\n",
        encoding="utf-8",
    )
    shell = f'exec "{emacsen()[-1]}" -Q -nw -l {start} axe/agents/release-check.toml </dev/tty'
    with Watched(["/bin/sh", "-c", shell], environment, folder) as terminal:
        terminal.sees("[eglot:")
        terminal.press("\x03\x03")
        terminal.sees("Task (empty")
        terminal.press("Can this be released?\r")
        terminal.sees("asks for either.")
        terminal.press("\x18o\x158\x18^\x1b<n\t")
        terminal.take_picture(picture)


def helix_session(folder: Path, environment: dict[str, str], picture: str) -> None:
    """Picture an editor in which a quick fix mended a misspelt agent; the run has ended with an answer."""
    shutil.copytree(CLIENTS / "helix", Path(environment["XDG_CONFIG_HOME"]) / "helix")
    command = [str(helix()), "axe/agents/release-check.toml:17:15"]
    with Watched(command, environment, folder) as terminal:
        terminal.sees("no agent file defines")
        terminal.press(" a")
        terminal.sees("Replace by")
        terminal.press("\r")
        terminal.sees('"api-reviewer"')
        terminal.press(" xr")
        terminal.sees("Not ready")
        terminal.take_picture(picture)


def python_session(folder: Path, environment: dict[str, str], picture: str) -> None:
    """Picture a program that runs the agent and prints what happens."""
    program = folder / "check_release.py"
    program.write_text(_short_example(), encoding="utf-8")
    script = (
        "printf '$ cat check_release.py\n'; cat check_release.py; "
        f"printf '\n$ python check_release.py\n'; {sys.executable} check_release.py; sleep 30"
    )
    with_library = {**environment, "PYTHONPATH": str(CLIENTS / "python")}
    with Watched(["/bin/sh", "-c", script], with_library, folder) as terminal:
        terminal.sees("Not ready.")
        terminal.take_picture(picture)


def _short_example() -> str:
    page = (PROJECT / "docs" / "python-client.md").read_text(encoding="utf-8")
    return page.partition("```python\n")[2].partition("```")[0]


SESSIONS: Mapping[str, Callable[[Path, dict[str, str], str], None]] = {
    "neovim": neovim,
    "emacs": emacs,
    "helix": helix_session,
    "python-client": python_session,
}


def make(name: str) -> None:
    """Make a picture, in a folder of its own."""
    with tempfile.TemporaryDirectory() as home:
        folder = Path(home) / "duro"
        subprocess.run(
            [server_program(), "demo", "--copy", folder], check=True, capture_output=True
        )
        (folder / ".git").mkdir()
        if name in ("neovim", "helix"):
            agent = folder / "axe" / "agents" / "release-check.toml"
            agent.write_text(agent.read_text("utf-8").replace('"api-reviewer"', '"api-reviwer"'))
        environment = clean_environment(Path(home) / "home", COLORTERM="truecolor", LANG="C.UTF-8")
        environment["PATH"] = f"{server_program().parent}:{environment['PATH']}"
        SESSIONS[name](folder, environment, name)


if __name__ == "__main__":
    for each in sys.argv[1:] or SESSIONS:
        make(each)
