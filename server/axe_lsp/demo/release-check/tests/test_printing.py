from duro import render


def test_the_largest_unit_comes_first():
    assert render(5400) == "1h 30m"


def test_days():
    assert render(90000) == "1d 1h"
