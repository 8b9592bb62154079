"""Many threads, and a forked process, with one client."""

import os
import threading
import time
import unittest
from typing import Callable, List

from heliograph import ConnectionError, HeliographError
from heliograph.tokens import Token, TokenAnswer, Tokens
from heliograph.turnstile import MOST_UNDER_WAY, Turnstile

FOREVER = float("inf")


def in_threads(count: int, act: Callable[[int], None]) -> None:
    threads = [threading.Thread(target=act, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive(), "a thread waits for ever"


class ManyThreads(unittest.TestCase):
    def test_one_request_for_a_token_however_many_wait(self) -> None:
        asked: List[float] = []
        go_on = threading.Event()

        def ask(deadline: float) -> TokenAnswer:
            asked.append(deadline)
            go_on.wait(30)
            return TokenAnswer("token", 3600)

        tokens = Tokens(ask)
        got: List[Token] = []

        def act(number: int) -> None:
            if number == 49:
                go_on.set()
            got.append(tokens.get())

        in_threads(50, act)
        self.assertEqual((len(got), len(asked)), (50, 1))

    def test_a_thread_with_little_time_leaves_the_others_their_own(self) -> None:
        def ask(deadline: float) -> TokenAnswer:
            if deadline != FOREVER:
                time.sleep(max(0, deadline - time.monotonic()))
                raise ConnectionError("late")
            return TokenAnswer("token", 3600)

        tokens = Tokens(ask)
        outcomes: List[str] = []

        def act(number: int) -> None:
            try:
                outcomes.append(tokens.get(time.monotonic() + 0.05 if number == 0 else FOREVER).value)
            except ConnectionError as error:
                outcomes.append(str(error))

        in_threads(5, act)
        self.assertEqual(outcomes.count("token"), 5 - outcomes.count("late"))
        self.assertLessEqual(outcomes.count("late"), 1)

    def test_all_wait_while_the_turnstile_is_closed_and_then_all_get_through(self) -> None:
        turnstile = Turnstile()
        limited = HeliographError("limited", status=429)
        closed_at = time.monotonic()
        turnstile.close(0.3, limited)
        early: List[float] = []
        under_way: List[int] = []
        lock = threading.Lock()
        now_under_way = 0

        def act(_: int) -> None:
            nonlocal now_under_way
            turnstile.enter(3, FOREVER)
            with lock:
                now_under_way += 1
                under_way.append(now_under_way)
            if time.monotonic() < closed_at + 0.3:
                early.append(time.monotonic() - closed_at)
            with lock:
                now_under_way -= 1
            turnstile.leave(1000)

        in_threads(200, act)
        self.assertEqual(early, [])
        self.assertEqual(len(under_way), 200)
        self.assertLessEqual(max(under_way), MOST_UNDER_WAY)

    def test_a_closing_wakes_those_that_wait_for_room(self) -> None:
        turnstile = Turnstile()
        for _ in range(MOST_UNDER_WAY):
            turnstile.enter(3, FOREVER)
        through = threading.Event()

        def wait() -> None:
            turnstile.enter(3, FOREVER)
            through.set()

        waiting = threading.Thread(target=wait)
        waiting.start()
        turnstile.close(0.1, HeliographError("limited", status=429))
        for _ in range(MOST_UNDER_WAY):
            turnstile.leave(0)
        self.assertTrue(through.wait(30))
        waiting.join()

    def test_the_time_of_a_call_ends_in_the_turnstile(self) -> None:
        turnstile = Turnstile()
        turnstile.close(60, HeliographError("limited", status=429))
        with self.assertRaisesRegex(ConnectionError, "waited for its turn"):
            turnstile.enter(3, time.monotonic() + 0.02)

    @unittest.skipUnless(hasattr(os, "fork"), "this system has no fork")
    def test_a_forked_process_does_not_wait_for_threads_of_its_parent(self) -> None:
        asking, go_on = threading.Event(), threading.Event()

        def ask(_: float) -> TokenAnswer:
            if os.getpid() == parent:
                asking.set()
                go_on.wait(30)
            return TokenAnswer("token", 3600)

        parent = os.getpid()
        tokens, turnstile = Tokens(ask), Turnstile()
        turnstile.close(60, HeliographError("limited", status=429))
        thread = threading.Thread(target=tokens.get)
        thread.start()
        asking.wait(30)
        child = os.fork()
        if child == 0:
            turnstile.enter(3, time.monotonic() + 5)
            os._exit(0 if tokens.get().value == "token" else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        go_on.set()
        thread.join()


if __name__ == "__main__":
    unittest.main()
