import pytest

from duro import parse


def test_parts_add_up():
    assert parse("1h 30m") == 5400


def test_text_without_a_duration_is_refused():
    with pytest.raises(ValueError):
        parse("soon")
