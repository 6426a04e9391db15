"""The tokens and the cost of answers, at the providers' list prices. Pure, but for the day."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Literal

from axe_lsp.agentfile.schema.models import Model, known_model
from axe_lsp.runtime.json_data import JsonStruct, written

BudgetLimit = Literal["tokens", "cost", "turns", "toolCalls", "time"]
"""The kinds of budgets."""


class Usage(JsonStruct, frozen=True):
    """The use of one run or of several.

    What was read from a cache or written to it is a part of the input. `cost` is in US dollars, and
    None as soon as the price of any part is not known: no sum is better than a wrong one.
    """

    input_tokens: int = written(0)
    output_tokens: int = written(0)
    cache_read_tokens: int = written(0)
    cache_write_tokens: int = written(0)
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        unknown = self.cost is None or other.cost is None
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_read_tokens + other.cache_read_tokens,
            self.cache_write_tokens + other.cache_write_tokens,
            None if unknown else _dollars((self.cost or 0) + (other.cost or 0)),
        )


NOTHING = Usage(cost=0.0)
"""Before the first answer."""


class BudgetUse(JsonStruct, frozen=True):
    """How much of a `max_tokens` was used. An answer on the way may use more than there was."""

    max_tokens: int
    used_tokens: int
    exceeded: bool


def cost_of(model: Model, used: Usage, day: str = "") -> float:
    """Return the cost of one answer in US dollars, on a day in ISO form."""
    is_long = bool(model.dearer_above) and used.input_tokens > model.dearer_above
    times = 2 if model.doubles and day >= model.doubles else 1
    fresh = used.input_tokens - used.cache_read_tokens - used.cache_write_tokens
    input_ = (
        fresh * model.input_price
        + used.cache_read_tokens * model.cached_price
        + used.cache_write_tokens * model.written_price
    )
    output = used.output_tokens * model.output_price
    micro_dollars = (
        input_ * model.dearer_input + output * model.dearer_output if is_long else input_ + output
    )
    return _dollars(times * micro_dollars / 1_000_000)


def cost_today(model: str, used: Usage) -> float | None:
    """Return the cost of one answer of `provider/model-name` at the list prices of today, None if they are not known."""
    known = known_model(model)
    if known is None:
        return None
    return cost_of(known, used, datetime.now(timezone.utc).date().isoformat())


def _dollars(amount: float) -> float:
    """Round an amount of dollars, to drop digits that are errors of floating point."""
    return round(amount, 9)
