"""Messages and their answers: each request gets one, with the code that fits."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from support.raw_client import NEVER, RawClient, ServerError, framed, notification


def error_of(client: RawClient, method: str, *params: Any) -> ServerError:
    with pytest.raises(ServerError) as caught:
        client.request(method, *params)
    return caught.value


def answers_to(client: RawClient, number: int | str | None) -> list[dict[str, Any]]:
    return [m for m in client.received if "method" not in m and m["id"] == number]


# --- Params and results


@pytest.mark.parametrize(
    "params",
    [
        {"type_name": "X", "sub-agent": 1, "class": {"def": [{"_0": None}]}},
        {"jsonrpc": "1.0", "id": 3, "nested": {"jsonrpc": "2.0", "method": "m"}},
        [1, [2], {"type_name": "X"}],
        {},
        [],
        "text",
        "\u2028\x85😀",
        None,
    ],
)
def test_params_of_own_methods_arrive_and_leave_as_they_were_sent(
    lab: RawClient, params: Any
) -> None:
    assert lab.request("test/echo", params) == params
    lab.notify("test/tell", params)
    assert lab.wait_for("test/told") == {"params": params}


def test_own_methods_may_come_without_params(lab: RawClient) -> None:
    assert lab.request("test/echo") is None
    lab.notify("test/tell")
    assert lab.wait_for("test/told") == {"params": None}


def test_methods_of_lsp_get_and_give_typed_objects(lab: RawClient) -> None:
    where = {"textDocument": {"uri": "file:///a"}, "position": {"line": 3, "character": 0}}
    assert lab.request("textDocument/hover", where) == {"contents": "file:///a:3"}


def test_result_may_mix_objects_of_lsprotocol_with_plain_json(lab: RawClient) -> None:
    expected = {"hovers": [{"contents": "one"}], "kind": "markdown", "none": None}
    assert lab.request("test/mixed") == expected


def test_result_that_is_null_is_sent(lab: RawClient) -> None:
    number = lab.start_request("test/tell")
    assert lab.answer(number) == {"jsonrpc": "2.0", "id": number, "result": None}


def test_what_is_sent_together_arrives_before_what_is_sent_afterwards(lab: RawClient) -> None:
    assert lab.request("test/together") == "done"
    assert lab.notifications("test/number") == list(range(10))


def test_half_a_surrogate_pair_survives(lab: RawClient) -> None:
    assert lab.request("test/echo", "\ud83d") == "\ud83d"


# --- Errors


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({}, "required field missing @ params.textDocument"),
        ({"textDocument": {"uri": "u"}}, "required field missing @ params.position"),
        ({"textDocument": {"uri": "u"}, "position": {"line": "x", "character": 1}}, "params.pos"),
        ({"textDocument": {"uri": "u"}, "position": {"line": -1, "character": 1}}, "params.pos"),
        ([1], "params.textDocument"),
        ("text", "params"),
        (None, "params.textDocument"),
    ],
)
def test_params_that_do_not_fit_are_answered_with_where_and_why(
    lab: RawClient, params: Any, said: str
) -> None:
    error = error_of(lab, "textDocument/hover", params)
    assert error.code == -32602
    assert error.message.startswith("textDocument/hover: ")
    assert said in error.message
    assert error.data is None
    assert lab.notifications("window/showMessage") == []


def test_missing_params_of_a_method_of_lsp_are_answered(lab: RawClient) -> None:
    assert error_of(lab, "textDocument/hover").code == -32602


def test_mistake_in_a_handler_is_answered_briefly_and_explained_in_the_log(
    lab: RawClient,
) -> None:
    error = error_of(lab, "test/mistake")
    assert error.code == -32603
    assert "test/mistake failed" in error.message
    assert "secret" not in error.message
    assert error.data is None
    assert "Traceback" in lab.stderr()


@pytest.mark.parametrize("kind", ["object", "nan", "deep"])
def test_result_that_has_no_form_in_json_is_a_mistake_too(lab: RawClient, kind: str) -> None:
    assert error_of(lab, "test/nonsense", kind).code == -32603


def test_failure_that_a_handler_means_reaches_the_client_whole(lab: RawClient) -> None:
    error = error_of(lab, "test/refuse")
    assert (error.code, error.message) == (-32803, "no key for the provider")
    assert error.data == {"kind": "api"}


def test_failure_whose_data_has_no_form_in_json_arrives_without_it(lab: RawClient) -> None:
    error = error_of(lab, "test/refuseOddly")
    assert (error.code, error.message, error.data) == (-32803, "no", None)


def test_unknown_method_is_named(lab: RawClient) -> None:
    error = error_of(lab, "test/unheardOf", {})
    assert error.code == -32601
    assert "test/unheardOf" in error.message
    assert error_of(lab, "$/unheardOf").code == -32601


def test_unknown_and_unfitting_notifications_are_passed_over(lab: RawClient) -> None:
    lab.notify("$/unheardOf", {"a": 1})
    lab.notify("test/unheardOf")
    lab.notify("textDocument/didChange", {"textDocument": 5})
    lab.notify("textDocument/didChange")
    lab.notify("test/mistake")
    assert lab.request("test/echo", 1) == 1
    assert len(lab.received) == 1
    assert "ignored textDocument/didChange" in lab.stderr()
    assert "WARNING:axe_lsp.rpc.dispatch:ignored $/" not in lab.stderr()


@pytest.mark.parametrize(
    ("body", "code", "number"),
    [
        (b"{", -32700, None),
        (b'"\xff"', -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"test/echo"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":"a"}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":"a","method":[]}', -32600, "a"),
        (b'{"jsonrpc":"2.0","id":null,"method":"test/echo"}', -32600, None),
    ],
)
def test_what_is_no_message_is_answered_once_and_does_no_harm(
    lab: RawClient, body: bytes, code: int, number: str | None
) -> None:
    lab.send_raw(framed(body))
    assert lab.answer(number)["error"]["code"] == code
    assert lab.request("test/echo", 1) == 1
    assert len(lab.received) == 2


def test_bad_header_is_answered_and_the_next_message_is_read(lab: RawClient) -> None:
    lab.send_raw(b"Content-Length: many\r\n\r\n{}")
    assert lab.answer(None)["error"]["code"] == -32700
    assert lab.request("test/echo", 1) == 1


def test_headers_in_lower_case_and_garbage_do_not_make_the_server_deaf(lab: RawClient) -> None:
    body = json.dumps({"id": "a", **notification("test/echo", 5)}).encode()
    lab.send_raw(b"a stray line\n\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
    assert lab.result("a") == 5


def test_id_of_a_running_request_cannot_be_used_again(lab: RawClient) -> None:
    lab.send({"id": "a", **notification("test/wait")})
    lab.wait_for("test/waiting")
    lab.send({"id": "a", **notification("test/echo")})
    assert lab.answer("a")["error"]["code"] == -32600
    lab.cancel("a")
    assert lab.answer("a")["error"]["code"] == -32800


# --- Order


def test_plain_handlers_see_what_the_client_had_seen_when_it_sent_the_message(
    lab: RawClient,
) -> None:
    item = {"uri": "u", "languageId": "toml", "version": 1, "text": "old"}
    whole = {"textDocument": {"uri": "u", "version": 2}, "contentChanges": [{"text": "new"}]}
    lab.send(
        notification("textDocument/didOpen", {"textDocument": item}),
        {"id": "first", **notification("test/text", "u")},
        {"id": "soon", **notification("test/soon", "u")},
        notification("textDocument/didChange", whole),
        {"id": "second", **notification("test/text", "u")},
    )
    assert lab.result("first") == "old"
    assert lab.result("soon") == "old"
    assert lab.result("second") == "new"


def test_answers_come_in_the_order_of_the_requests(lab: RawClient) -> None:
    requests = [{"id": f"n{n}", **notification("test/echo", n)} for n in range(500)]
    lab.send(*requests)
    lab.answer("n499")
    answered = [m["id"] for m in lab.received if str(m["id"]).startswith("n")]
    assert answered == [request["id"] for request in requests]


# --- Cancellation


def test_cancelling_a_request_ends_its_work_before_it_is_answered(lab: RawClient) -> None:
    number = lab.start_request("test/wait")
    lab.wait_for("test/waiting")
    lab.cancel(number)
    assert lab.answer(number)["error"]["code"] == -32800
    assert [m.get("method") for m in lab.received[-2:]] == ["test/ended", None]


def test_cancelling_a_command_ends_its_work_too(lab: RawClient) -> None:
    number = lab.start_request("workspace/executeCommand", {"command": "test.wait"})
    lab.wait_for("test/waiting")
    lab.cancel(number)
    assert lab.answer(number)["error"]["code"] == -32800
    assert [m.get("method") for m in lab.received[-2:]] == ["test/ended", None]


def test_plain_request_that_was_cancelled_before_its_turn_is_not_begun(lab: RawClient) -> None:
    lab.notify("test/sleep", 0.2)
    lab.wait_for("test/waiting")
    lab.send(
        {"id": "a", **notification("test/tell")},
        notification("$/cancelRequest", {"id": "a"}),
    )
    assert lab.answer("a")["error"]["code"] == -32800
    assert lab.notifications("test/told") == []


@pytest.mark.parametrize("params", [{"id": 1}, {"id": "x"}, {"id": [1]}, {}, None, [1], "x"])
def test_cancelling_what_is_finished_or_unknown_does_no_harm(lab: RawClient, params: Any) -> None:
    lab.notify("$/cancelRequest", params)
    assert lab.request("test/echo", 1) == 1
    assert len(lab.received) == 1


# --- Commands


def test_command_gets_its_arguments_one_by_one(lab: RawClient) -> None:
    for arguments, result in [([1, 2], 3), ([1], 1)]:
        params = {"command": "test.add", "arguments": arguments}
        assert lab.request("workspace/executeCommand", params) == result


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"command": "test.add", "arguments": [1, 2, 3]}, "too many positional arguments"),
        ({"command": "test.add"}, "missing a required argument: 'first'"),
        ({"command": "test.wait", "arguments": [1]}, "too many positional arguments"),
        ({"command": "test.ad"}, "known commands: test.add, test.wait"),
        ({"arguments": []}, "required field missing @ params.command"),
    ],
)
def test_command_that_cannot_be_called_is_refused_with_the_reason(
    lab: RawClient, params: Any, said: str
) -> None:
    error = error_of(lab, "workspace/executeCommand", params)
    assert error.code == -32602
    assert said in error.message


# --- Asking the client


def test_client_is_asked_and_its_answer_typed(lab: RawClient) -> None:
    lab.answer_with["workspace/configuration"] = lambda params: [params["items"][0]["section"]]
    assert lab.request("test/ask") == ["axe"]


def test_refusal_of_the_client_reaches_the_handler(lab: RawClient) -> None:
    del lab.answer_with["workspace/configuration"]
    error = error_of(lab, "test/ask")
    assert (error.code, error.message) == (-32601, "no workspace/configuration here")


def test_late_answer_to_a_request_that_was_withdrawn_does_no_harm(lab: RawClient) -> None:
    lab.answer_with["test/question"] = lambda _: NEVER
    assert lab.request("test/askBriefly") == "gave up"
    question = next(m["id"] for m in lab.received if m.get("method") == "test/question")
    assert lab.wait_for("$/cancelRequest") == {"id": question}
    lab.send({"jsonrpc": "2.0", "id": question, "result": None})
    lab.send({"jsonrpc": "2.0", "id": question, "error": {"code": 1, "message": "late"}})
    lab.send({"jsonrpc": "2.0", "id": "unknown", "result": None})
    lab.send({"jsonrpc": "2.0", "id": None, "error": {"code": 1, "message": "what?"}})
    assert "Error" not in lab.stderr()


def test_answer_to_a_request_of_ours_never_ends_a_request_of_the_client(lab: RawClient) -> None:
    number = lab.start_request("test/wait")
    lab.wait_for("test/waiting")
    lab.send({"jsonrpc": "2.0", "id": number, "result": "mine"})
    assert lab.request("test/echo", 1) == 1
    assert answers_to(lab, number) == []
    lab.cancel(number)
    assert lab.answer(number)["error"]["code"] == -32800


# --- Progress


def test_token_is_forgotten_when_the_work_is_done(lab: RawClient) -> None:
    lab.request("test/progress")
    assert lab.wait_for("window/workDoneProgress/create") == {"token": "token"}
    assert [p["value"]["kind"] for p in lab.notifications("$/progress")] == ["begin", "end"]


def test_client_cancels_progress(lab: RawClient) -> None:
    number = lab.start_request("test/cancellableProgress")
    lab.wait_for("$/progress")
    lab.notify("window/workDoneProgress/cancel", {"token": "unknown"})
    lab.notify("window/workDoneProgress/cancel", {"token": "token"})
    assert lab.result(number) == "cancelled"


# --- Leaks


def test_thirty_thousand_edits_leave_nothing_behind(lab: RawClient) -> None:
    item = {"uri": "u", "languageId": "toml", "version": 0, "text": "a = 1\n" * 20}
    lab.notify("textDocument/didOpen", {"textDocument": item})
    at = {"line": 3, "character": 4}
    change = {"range": {"start": at, "end": {**at, "character": 5}}, "text": "2"}

    def type_thousand() -> None:
        identifier = {"uri": "u", "version": 1}
        params = {"textDocument": identifier, "contentChanges": [change]}
        lab.send(*[notification("textDocument/didChange", params)] * 1000)

    type_thousand()
    before = lab.request("test/memory")
    for _ in range(30):
        type_thousand()
    # What is left is the read-ahead of a client that never pauses; pygls keeps 57 MB of futures.
    assert lab.request("test/memory") - before < 12_000


def test_no_message_is_logged(start_lab: Callable[..., RawClient]) -> None:
    lab = start_lab()
    lab.initialize(initializationOptions={"key": "sk-secret"})
    lab.request("test/echo", "sk-secret")
    lab.notify("test/tell", "sk-secret")
    lab.notify("test/unheardOf", "sk-secret")
    error_of(lab, "textDocument/hover", "sk-secret")
    error_of(lab, "test/unheardOf", "sk-secret")
    assert "sk-secret" not in lab.stderr()
