"""A process as the operating system sees it: lines, exit and the ways to insist on one."""

import sys

import pytest

from axe_lsp.hosting.supervisor.host_process import start


async def lines_of(program: str) -> tuple[list[bytes], list[bytes], int]:
    output: list[bytes] = []
    errors: list[bytes] = []
    process = await start([sys.executable, "-c", program], output.append, errors.append)
    return output, errors, await process.ended


async def test_every_line_is_handed_out_before_the_end() -> None:
    output, errors, code = await lines_of(
        "import sys; print('\\n'.join(map(str, range(20_000)))); sys.exit('gone')"
    )

    assert output == [b"%d" % number for number in range(20_000)]
    assert errors == [b"gone"]
    assert code == 1


async def test_a_line_of_ten_megabytes_arrives_whole() -> None:
    output, _, _ = await lines_of("print('x' * 10_000_000)")

    assert [len(line) for line in output] == [10_000_000]


async def test_a_command_that_does_not_exist_is_an_os_error() -> None:
    with pytest.raises(OSError, match="no-such-command"):
        await start(["no-such-command"], print, print)


async def test_closed_input_asks_a_process_to_end() -> None:
    process = await start([sys.executable, "-c", "input()"], print, print)

    await process.end(patience=60)

    assert await process.ended == 1  # An EOFError, and no signal.


async def test_errors_that_have_no_end_of_line_are_not_kept_for_ever() -> None:
    _, errors, _ = await lines_of("import os; [os.write(2, b'.' * 60_000) for _ in range(50)]")

    assert sum(map(len, errors)) + 65_536 >= 3_000_000
    assert max(map(len, errors)) <= 3 * 65_536
