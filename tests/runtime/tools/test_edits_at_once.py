"""Several agents, in processes of their own, change one file."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_EDIT = """
import asyncio, sys
from pathlib import Path
from axe_lsp.runtime.messages import ToolCall
from axe_lsp.runtime.tools.edit_file import TOOL
from axe_lsp.runtime.tools.tool import Workplace

print("ready", flush=True)
sys.stdin.readline()  # All begin at the same moment.
folder, number = Path(sys.argv[1]), sys.argv[2]
for line in range(20):
    name = f"{number}-{line}."
    arguments = {"path": "shared.txt", "old_string": name, "new_string": f"done {name}"}
    asyncio.run(TOOL.execute(ToolCall("1", "edit_file", arguments), Workplace(folder, {})))
"""


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no locks of folders")
def test_no_edit_is_lost(tmp_path: Path) -> None:
    shared = tmp_path / "shared.txt"
    shared.write_text("".join(f"{each}-{line}.\n" for each in range(8) for line in range(20)))
    editors = [
        subprocess.Popen(
            [sys.executable, "-c", _EDIT, str(tmp_path), str(each)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for each in range(8)
    ]
    for each in editors:
        assert each.stdout is not None
        assert each.stdout.readline() == b"ready\n"
    for each in editors:
        assert each.stdin is not None
        each.stdin.write(b"go\n")
        each.stdin.flush()
    for each in editors:
        each.communicate()
    assert [each.returncode for each in editors] == [0] * 8
    assert shared.read_text().count("done ") == 8 * 20
    assert [path.name for path in tmp_path.iterdir()] == ["shared.txt"]
