"""Pictures: in context files, from `read_file`, and for models that take none."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import pytest

from axe_lsp.runtime.files.images import LARGEST_IMAGE, image_of, media_type
from support.engines import agent, bench
from support.scripted_provider import Call, Refuses, Says, ScriptedProvider

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (PNG, "image/png"),
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"GIF89a", "image/gif"),
        (b"RIFF1234WEBPVP8 ", "image/webp"),
        (b"RIFF1234WAVE", ""),
        (b"<svg/>", ""),
        (b"", ""),
    ],
)
def test_pictures_are_told_by_their_first_bytes(data: bytes, expected: str) -> None:
    assert media_type(data) == expected


def test_a_picture_has_a_largest_size() -> None:
    assert image_of(PNG.ljust(LARGEST_IMAGE, b"\0")) is not None
    assert image_of(PNG.ljust(LARGEST_IMAGE + 1, b"\0")) is None


@pytest.fixture
def picture(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    path = tmp_path / "chart.png"
    path.write_bytes(PNG.ljust(getattr(request, "param", 0), b"\0"))
    return path


async def test_a_picture_among_the_files_goes_with_the_first_message(
    provider: ScriptedProvider, tmp_path: Path, picture: Path
) -> None:
    provider.script("m-solo", Says("seen"))
    async with bench(provider, tmp_path, agent("solo", "anthropic", files=["*.png"])) as work:
        await work.run("solo", "look")
    body = provider.requests[0].body
    assert "### chart.png\n(a picture" in body["system"]
    image, text = body["messages"][0]["content"]
    assert image["source"]["data"] == b64encode(PNG).decode()
    assert text == {"type": "text", "text": "look"}


@pytest.mark.parametrize("picture", [LARGEST_IMAGE + 1], indirect=True)
async def test_a_picture_that_is_too_large_is_left_out_and_named(
    provider: ScriptedProvider, tmp_path: Path, picture: Path
) -> None:
    provider.script("m-solo", Says("seen"))
    async with bench(provider, tmp_path, agent("solo", "anthropic", files=["*.png"])) as work:
        await work.run("solo", "look")
    assert provider.requests[0].body["messages"][0]["content"] == "look"
    assert any("chart.png" in note and "5,000,000 bytes" in note for note in work.notes)


@pytest.mark.parametrize("dialect", ["anthropic", "ollama"])
async def test_read_file_shows_a_picture(
    provider: ScriptedProvider, tmp_path: Path, picture: Path, dialect: str
) -> None:
    call = Call("read_file", {"path": picture.name}, "c1")
    provider.script("m-solo", Says("", [call]), Says("seen"))
    async with bench(provider, tmp_path, agent("solo", dialect, tools=["read_file"])) as work:
        await work.run("solo")
    last = str(provider.requests[1].body["messages"][-1])
    assert "a picture (image/png, 16 bytes)" in last
    assert b64encode(PNG).decode() in last


async def test_a_model_that_takes_no_pictures_gets_a_sentence(
    provider: ScriptedProvider, tmp_path: Path, picture: Path
) -> None:
    refusal = Refuses(400, "this model does not support image input")
    provider.script("m-solo", refusal, Says("seen"))
    async with bench(provider, tmp_path, agent("solo", "anthropic", files=["*.png"])) as work:
        result = await work.run("solo", "look")
    assert result.content == "seen"
    (message,) = provider.requests[1].body["messages"]
    assert message["content"] == "look\n\n[1 picture left out: this model takes none]"
    assert work.warnings == ["the model m-solo takes no pictures, so they are left out"]


async def test_a_model_that_is_known_to_read_text_only_is_not_asked_with_pictures(
    provider: ScriptedProvider, tmp_path: Path, picture: Path
) -> None:
    provider.script("gpt-oss", Says("seen"))
    agents = agent("solo", "ollama", files=["*.png"])
    agents["solo"] = agents["solo"].replace("m-solo", "gpt-oss")
    async with bench(provider, tmp_path, agents) as work:
        assert (await work.run("solo", "look")).content == "seen"
    (request,) = provider.requests
    message = request.body["messages"][-1]
    assert message["content"] == "look\n\n[1 picture left out: this model takes none]"
    assert "images" not in message
    assert work.warnings == ["the model gpt-oss takes no pictures, so they are left out"]


@pytest.mark.parametrize("model", ["m-solo", "gpt-oss"])
async def test_pictures_of_a_later_turn_that_are_left_out_are_told_once_in_a_run(
    provider: ScriptedProvider, tmp_path: Path, picture: Path, model: str
) -> None:
    """Of one model that is known by the refusal, and of one that is known to read text only."""
    look = Says("", [Call("read_file", {"path": picture.name}, "c1")])
    refusal = [Refuses(400, "this model does not support image input")] if model == "m-solo" else []
    provider.script(model, look, *refusal, look, Says("one"), look, Says("two"))
    agents = agent("solo", "ollama", tools=["read_file"])
    agents["solo"] = agents["solo"].replace("m-solo", model)
    async with bench(provider, tmp_path, agents) as work:
        for said in ("one", "two"):
            assert (await work.run("solo")).content == said
            assert work.warnings == [f"the model {model} takes no pictures, so they are left out"]
            work.warnings.clear()
    assert "[1 picture left out: this model takes none]" in str(provider.requests[-1].body)
