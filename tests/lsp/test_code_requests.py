"""`axe/editor`, as the server sends it: clients that do not answer, that have left, and that answer with too much."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

from axe_lsp.lsp.runs.code_requests import code_requests
from axe_lsp.lsp.session import Session
from axe_lsp.runtime.events import RunIds
from axe_lsp.runtime.tools.editor import EditorAnswer, QueryCode, ReadFile
from support.passing_time import passing_time, settled

RUN = RunIds(run_id="r", root_run_id="r", agent="lead")


class FakeSession:
    """A session whose client answers with a result, or never."""

    def __init__(self, answer: Callable[[], Awaitable[Any]], *, is_closed: bool = False) -> None:
        self.is_closed = is_closed
        self.sent: list[tuple[str, Any]] = []
        self._answer = answer

    async def request(self, method: str, params: Any) -> Any:
        self.sent.append((method, params))
        return await self._answer()

    async def ask(self, request: QueryCode | ReadFile) -> EditorAnswer:
        return await code_requests(cast(Session, self))(RUN, request)


async def never() -> Any:
    await asyncio.Event().wait()


async def test_client_that_does_not_answer_is_given_a_second_more_than_its_language_servers() -> (
    None
):
    with passing_time() as time:
        asking = asyncio.ensure_future(FakeSession(never).ask(QueryCode("hover", seconds=10)))
        await settled()
        await time.goes_by(10.9)
        assert not asking.done()
        await time.goes_by(0.2)
        answer = await asking
    assert answer == EditorAnswer("failed", "the editor did not answer within 11 s")


async def test_client_that_has_left_is_not_asked() -> None:
    session = FakeSession(never, is_closed=True)
    assert (await session.ask(QueryCode("hover"))).outcome == "unknown"
    assert not session.sent


async def test_files_of_the_client_are_not_asked_for() -> None:
    session = FakeSession(never)
    assert (await session.ask(ReadFile("/a"))).outcome == "failed"
    assert not session.sent


async def test_answer_is_cut_to_a_thousand_items_of_a_limited_length() -> None:
    async def much() -> Any:
        item = {"uri": Path("/a").as_uri(), "line": 1, "message": "x" * 100_000}
        return {"items": [item] * 1_500, "leftOut": 7}

    answer = await FakeSession(much).ask(QueryCode("diagnostics"))
    assert answer.about_code is not None
    assert len(answer.about_code.items) == 1_000
    assert answer.about_code.left_out == 507
    assert len(answer.about_code.items[0].message) == 8_000


async def test_members_of_a_wrong_type_are_dropped() -> None:
    async def wrong() -> Any:
        file = Path("/a").as_uri()
        item = {"uri": file, "line": True, "text": 3, "message": None, "severity": []}
        return {"items": [item, None, 4], "checked": {file: "d", "untitled:1": "d", "x": 3}}

    answer = await FakeSession(wrong).ask(QueryCode("diagnostics"))
    assert answer.about_code is not None
    (item,) = answer.about_code.items
    assert (item.line, item.text, item.message, item.severity) == (0, None, "", "")
    assert answer.about_code.checked == {str(Path("/a")): "d"}
