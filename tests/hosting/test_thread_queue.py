"""What is handed to a thread arrives there, in order and together."""

from __future__ import annotations

import threading

from axe_lsp.hosting.thread_queue import ThreadQueue
from support.scripted_provider import PATIENCE


def test_what_came_together_is_taken_together_and_in_order() -> None:
    handover: ThreadQueue[int] = ThreadQueue(together=0)
    for number in range(5):
        handover.put(number)
    assert handover.take(most=3) == [0, 1, 2]
    assert not handover.is_empty()
    assert handover.take() == [3, 4]
    assert handover.is_empty()


def test_who_waits_in_vain_gets_nothing() -> None:
    assert ThreadQueue[int](together=0).take(patience=0) == []


def test_what_is_said_to_be_there_after_it_was_taken_wakes_nobody() -> None:
    class SlowToSaySo(threading.Event):
        """The item is taken between the moments at which it is put and at which that is said."""

        def set(self) -> None:
            super().set()
            if not first:
                first.extend(handover.take())
                super().set()

    first: list[str] = []
    handover: ThreadQueue[str] = ThreadQueue(together=0)
    handover._some = SlowToSaySo()
    handover.put("first")
    assert first == ["first"]
    taken: list[str] = []
    thread = threading.Thread(target=lambda: taken.extend(handover.take()), daemon=True)
    thread.start()
    thread.join(0.05)
    handover.put("second")
    thread.join(PATIENCE)
    assert taken == ["second"]


def test_what_is_urgent_does_not_wait_for_more() -> None:
    handover: ThreadQueue[str] = ThreadQueue(together=10 * PATIENCE)
    taken: list[str] = []
    thread = threading.Thread(target=lambda: taken.extend(handover.take()), daemon=True)
    thread.start()
    handover.put("event")
    handover.put("answer", urgent=True)
    thread.join(PATIENCE)
    assert taken == ["event", "answer"]


def test_what_can_wait_waits_for_something_that_can_not() -> None:
    handover: ThreadQueue[str] = ThreadQueue(together=0, longer=10 * PATIENCE)
    taken: list[str] = []
    thread = threading.Thread(target=lambda: taken.extend(handover.take()), daemon=True)
    thread.start()
    handover.put("piece", can_wait=True)
    handover.put("piece", can_wait=True)
    thread.join(0.05)
    assert taken == []
    handover.put("event")
    thread.join(PATIENCE)
    assert taken == ["piece", "piece", "event"]


def test_what_is_left_over_is_taken_at_once() -> None:
    handover: ThreadQueue[int] = ThreadQueue(together=0, longer=10 * PATIENCE)
    for number in range(4):
        handover.put(number)
    assert handover.take(most=2) == [0, 1]
    thread = threading.Thread(target=handover.take, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    assert handover.is_empty()


def test_nothing_is_lost_between_threads() -> None:
    handover: ThreadQueue[int] = ThreadQueue(together=0)
    numbers = list(range(20_000))

    def put() -> None:
        for number in numbers:
            handover.put(number)

    thread = threading.Thread(target=put)
    thread.start()
    taken: list[int] = []
    while len(taken) < len(numbers):
        taken += handover.take(patience=PATIENCE)
    thread.join()
    assert taken == numbers
