"""Makes the picture of VS Code: an agent that has just been run and is being edited meanwhile.

    PYTHONPATH=tests python docs/picture_of_vscode.py FILE.png

The editor, the extension and the server are the real ones; the run is that of `axe-lsp demo`.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from shutil import copyfile
from tempfile import TemporaryDirectory

from support.editors import PROJECT, clean_environment, code_server, server_program
from support.workbench import Workbench, workbench

AGENT = "axe/agents/release-check.toml"

SETTINGS = {
    "security.workspace.trust.enabled": False,
    "files.autoSave": "off",
    "editor.hover.above": False,
    "editor.minimap.enabled": False,
    "window.commandCenter": False,
    "workbench.activityBar.location": "hidden",
}


def main(target: Path) -> None:
    """Write the picture."""
    with TemporaryDirectory(prefix="axe-picture-") as name:
        scratch = Path(name)
        project = scratch / "duro"
        _set_up(project)
        extension = _extension(scratch)
        editor = code_server()
        assert editor is not None, "no code-server: .ci/install-code-server installs it"
        environment = clean_environment(scratch / "home")
        with workbench(editor, extension, project, environment, scratch, SETTINGS) as window:
            _play(window, (project / AGENT).read_text(encoding="utf-8"))
            copyfile(window.screenshot("vscode"), target)


def _set_up(project: Path) -> None:
    _execute(str(server_program()), "demo", "--copy", str(project))
    recording = project / "axe" / "replays" / "release-check.toml"
    recording.write_text(_slower(recording.read_text(encoding="utf-8")), encoding="utf-8")
    program = project / ".venv" / "bin" / "axe-lsp"
    program.parent.mkdir(parents=True)
    program.symlink_to(server_program())


def _slower(recording: str) -> str:
    """So slow that the run goes on until the picture is taken, on a busy machine too."""
    return re.sub(
        r"(?m)^(duration_ms = )(\d+)$", lambda found: f"{found[1]}{4 * int(found[2])}", recording
    )


def _extension(scratch: Path) -> Path:
    package = scratch / "axe-lsp.vsix"
    folder = PROJECT / "vscode-extension"
    _execute("npm", "run", "--prefix", str(folder), "package", "--", "--out", str(package))
    return package


def _execute(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603  our own commands


def _play(window: Workbench, text: str) -> None:
    """What was there when it was asked for is what runs, so that the mistake may come meanwhile."""
    mistaken = text.replace("replay/release-check", "antropic/claude-sonnet-4-5")
    line = mistaken[: mistaken.index("antropic")].count("\n") + 1
    window.resize(1100, 860)
    window.open_file(AGENT)
    window.run_command("View: Toggle Primary Side Bar Visibility")
    window.click_lens("Run")
    window.answer_question("Run release-check", "")
    window.wait_for_output("release-check ▶")
    window.replace_text(mistaken)
    window.wait_for_squiggles(errors=1, warnings=0)
    window.hover(line, 12)
    window.wait_for_output("test-reader")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
