"""The use of a run and its limits: `[budget]` (axe 1.5, and extensions; 002-19).

Each run has a ledger with the limits of its own file. Whatever is charged to a run is charged to those
that called it, too, unless their `scope` is "self". It knows neither conversations nor clocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from axe_lsp.agentfile.agent_definition import BudgetConfig
from axe_lsp.runtime.errors import BudgetError
from axe_lsp.runtime.messages import Response
from axe_lsp.runtime.usage import NOTHING, BudgetLimit, BudgetUse, Usage

_LEAST_COST = 1e-9
"""Dollars, the precision of all sums."""


class CallersBudgetError(Exception):
    """A caller of this run has used up its budget; the partial text is the result."""


class Ledger:
    """The use of one run. `own` is its own use, `tree` includes its sub-agents.

    The `scope` of the limits says which of the two counts; where `tokens_of_tree` or `cost_of_tree` is
    set, that counts for all below in any case. The checks raise BudgetError when a limit of the run's
    own file is reached, and CallersBudgetError when it is one of a run above. `warn` takes what the user
    should know of a limit that can't be kept to.
    """

    def __init__(
        self,
        limits: BudgetConfig,
        caller: Ledger | None = None,
        *,
        tokens_of_tree: bool = False,
        cost_of_tree: bool = False,
        warn: Callable[[str], object] = bool,
    ) -> None:
        self.own = self.tree = NOTHING
        self._limits = limits
        self._caller = caller
        self._warn = warn
        self._has_warned = False
        self._calls_of_tree = limits.scope != "self"
        self._tokens_of_tree = tokens_of_tree or self._calls_of_tree
        self._cost_of_tree = cost_of_tree or self._calls_of_tree
        self._spent = 0.0
        self._tool_calls = 0
        self._refused_calls = ""

    @property
    def budget(self) -> BudgetUse | None:
        """How much of the tokens is used, None if there is no limit."""
        most = self._limits.max_tokens
        return BudgetUse(most, self._tokens, self._tokens >= most) if most else None

    def charge(self, response: Response) -> None:
        """Pay for an answer."""
        used = response.usage
        self.own += used
        for ledger in self._lineage():
            ledger.tree += used
            if ledger is self or ledger._cost_of_tree:
                ledger._spend(response)

    def check(self) -> None:
        """Raise BudgetError or CallersBudgetError if the budget is used up."""
        if self._exceeded:
            raise BudgetError(self._exceeded, self._limit)
        if self.is_used_up:
            raise CallersBudgetError

    def check_turn(self, turns: int) -> None:
        """Raise BudgetError or CallersBudgetError if another turn would exceed the budget."""
        self.check()
        most = self._limits.max_turns
        if most and turns >= most:
            raise BudgetError(f"used {turns} of {most} turns", "turns")

    def charge_calls(self, number: int, turns: int) -> None:
        """Pay for the tool calls of one answer. After the last turn the model would not see their results."""
        self.check_turn(turns)
        payers = (self, *(each for each in self._callers() if each._calls_of_tree))
        for ledger in payers:
            ledger._refused_calls = ledger._refusal(number)
        self.check()
        self.add_calls(number)

    def add_calls(self, number: int) -> None:
        """Pay for tool calls without a check: they have been made."""
        for ledger in (self, *(each for each in self._callers() if each._calls_of_tree)):
            ledger._tool_calls += number

    def charge_below(self, used: Usage, calls: int) -> None:
        """Pay for what a called run had used in a former process, with all below it."""
        for ledger in self._lineage():
            ledger.tree += used
            if ledger._cost_of_tree and used.cost is not None:
                ledger._spent = round(ledger._spent + used.cost, 9)
            if ledger._calls_of_tree:
                ledger._tool_calls += calls

    @property
    def is_used_up(self) -> bool:
        """Whether nothing more may be used: of this run's budget, or of one above."""
        return bool(self._exceeded) or any(each._ends_all_below for each in self._callers())

    @property
    def left(self) -> BudgetConfig:
        """The rest that the runs above leave for this one; at least 1 of each limit, since 0 means no limit."""
        tokens = [
            each._limits.max_tokens - each._tokens
            for each in self._callers()
            if each._limits.max_tokens and each._tokens_of_tree
        ]
        calls = [
            each._limits.max_tool_calls - each._tool_calls
            for each in self._callers()
            if each._limits.max_tool_calls and each._calls_of_tree
        ]
        dollars = [
            each._limits.max_cost - each._spent
            for each in self._callers()
            if each._limits.max_cost and each._cost_of_tree
        ]
        return BudgetConfig(
            max_tokens=max(1, min(tokens)) if tokens else 0,
            max_tool_calls=max(1, min(calls)) if calls else 0,
            max_cost=max(_LEAST_COST, min(dollars)) if dollars else 0,
        )

    def use_up(self) -> None:
        """Take note that other runs have used up the budget."""
        self._refused_calls = "nothing is left of the budget"

    @property
    def _tokens(self) -> int:
        return (self.tree if self._tokens_of_tree else self.own).tokens

    @property
    def _exceeded(self) -> str:
        """The limit that is used up, or ""."""
        if self._has_no_tokens:
            return f"used {self._tokens} of {self._limits.max_tokens} tokens"
        if self._has_no_money:
            return f"used ${self._spent:.4f} of ${self._limits.max_cost:g}"
        return self._refused_calls

    @property
    def _limit(self) -> BudgetLimit:
        """What that limit is one of."""
        if self._has_no_tokens:
            return "tokens"
        return "cost" if self._has_no_money else "toolCalls"

    @property
    def _has_no_tokens(self) -> bool:
        most = self._limits.max_tokens
        return bool(most) and self._tokens >= most

    @property
    def _has_no_money(self) -> bool:
        most = self._limits.max_cost
        return bool(most) and self._spent >= most

    @property
    def _ends_all_below(self) -> bool:
        """Whether something is used up for which all pay that the run has called."""
        if self._tokens_of_tree and self._has_no_tokens:
            return True
        if self._cost_of_tree and self._has_no_money:
            return True
        return self._calls_of_tree and bool(self._refused_calls)

    def _spend(self, response: Response) -> None:
        """Pay in money, if the limit is one of money and the price is known."""
        if response.cost is not None:
            self._spent = round(self._spent + response.cost, 9)
        elif self._limits.max_cost and not self._has_warned:
            self._has_warned = True
            self._warn(
                f"budget.max_cost can't be enforced: the price of {response.model or 'the model'} is not "
                "known, so its cost does not count"
            )

    def _refusal(self, calls: int) -> str:
        used, most = self._tool_calls, self._limits.max_tool_calls
        if not most or used + calls <= most:
            return ""
        return f"used {used} of {most} tool calls, {calls} more asked for"

    def _lineage(self) -> Iterator[Ledger]:
        """Yield the ledger itself and those above."""
        ledger: Ledger | None = self
        while ledger is not None:
            yield ledger
            ledger = ledger._caller

    def _callers(self) -> Iterator[Ledger]:
        """Return the ledgers above."""
        return self._caller._lineage() if self._caller is not None else iter(())
