"""The table of cases that all clients share: ``clients/cases``. ``python3 -m unittest discover`` runs it."""

import json
import pathlib
import sys
import unittest
import unittest.mock
from typing import Any, List, Union

from heliograph import ConnectionError, HeliographError, SignatureError, verify_proof, verify_webhook
from heliograph.retry import closed_for, retry_after
from heliograph.settings import Connection
from heliograph.tokens import TokenAnswer, Tokens
from heliograph.turnstile import Gate, Place

CASES = pathlib.Path(__file__).resolve().parents[2] / "cases"


def table(name: str) -> Any:
    return json.loads((CASES / f"{name}.json").read_text(encoding="utf-8"))


RULES = table("rules")


def error_of(facts: Any) -> Exception:
    if "lost" in facts:
        return ConnectionError("lost")
    return TypeError("no") if "program" in facts else HeliographError("refused", **facts)


class Retries(unittest.TestCase):
    def test_which_calls_are_sent_again(self) -> None:
        for case in RULES["retry"]:
            with self.subTest(case["name"], repeatable=case["repeatable"]):
                error, repeatable, again = error_of(case["error"]), case["repeatable"], case["again"]
                waits = [retry_after(error, retries, repeatable, 0.5) is not None for retries in range(5)]
                self.assertEqual(waits, [again, again, again, False, False])

    def test_when(self) -> None:
        for case in RULES["pauses"]:
            with self.subTest(**case):
                error = error_of(case["error"])
                self.assertAlmostEqual(retry_after(error, case["retries"], True, case["random"]) or 0, case["seconds"])

    def test_a_limit_closes_an_api_for_a_minute_at_most(self) -> None:
        self.assertEqual(closed_for(HeliographError("later", status=429, retry_after_seconds=900), 1), 60)


class Turnstiles(unittest.TestCase):
    def test_sequences(self) -> None:
        for case in RULES["turnstile"]:
            with self.subTest(case["name"]):
                self.run_steps(case["steps"])

    def run_steps(self, steps: Any) -> None:
        now = 0.0
        gate = Gate(lambda: now)
        places: List[Place] = []
        limited = HeliographError("limited", status=429)
        for step in steps:
            if "enter" in step:
                places += [gate.ask(step.get("chances", 3)) for _ in range(step["enter"])]
            elif "close" in step:
                gate.close(step["close"], limited)
            elif "leave" in step:
                for _ in range(step.get("times", 1)):
                    gate.leave(step["leave"])
            elif "pass" in step:
                now = round(now + step["pass"], 3)
                gate.let_go()
            elif "closings" in step:
                self.assertEqual(places[-1].closings, step["closings"])
            elif "refused" in step:
                self.assertEqual([place.error for place in places].count(limited), step["refused"], step)
            else:
                through = [place.is_through for place in places]
                self.assertEqual(through.count(True), step["through"], step)
                self.assertEqual(through, sorted(through, reverse=True), "in order")


class TokensOfAScope(unittest.TestCase):
    def test_are_renewed_before_they_expire(self) -> None:
        for case in RULES["tokens"]:
            with self.subTest(**case):
                now, asked = 0.0, 0

                def ask(_: float) -> TokenAnswer:
                    nonlocal asked
                    asked += 1
                    return TokenAnswer(f"token {asked}", case["expires_in"])

                tokens = Tokens(ask, lambda: now)
                self.assertEqual(tokens.get().value, "token 1")
                now = case["renewed_at"] - 0.001
                self.assertEqual(tokens.get().value, "token 1")
                now = case["renewed_at"]
                self.assertEqual([tokens.get().value, tokens.get().value], ["token 2", "token 2"])

    def test_a_failure_is_not_kept(self) -> None:
        answers: List[Union[Exception, TokenAnswer]] = [ValueError("no credentials"), TokenAnswer("token", 60)]

        def ask(_: float) -> TokenAnswer:
            answer = answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        tokens = Tokens(ask)
        with self.assertRaisesRegex(ValueError, "no credentials"):
            tokens.get()
        old = tokens.get()
        self.assertEqual(old.value, "token")
        answers.append(TokenAnswer("next", 60))
        tokens.forget(old)
        fresh = tokens.get()
        tokens.forget(old)
        self.assertIs(tokens.get(), fresh, "forgetting an old one leaves the new one")


class Webhooks(unittest.TestCase):
    def test_only_those_of_the_service_are_believed(self) -> None:
        for case in table("webhooks"):
            with self.subTest(case["name"]):
                options = {name: case[name] for name in ("now", "tolerance_seconds") if name in case}
                for body in (case["body"], case["body"].encode(), memoryview(case["body"].encode())):
                    given = (case["headers"], body, case["secret"])
                    if case["outcome"] == "event":
                        self.assertEqual(verify_webhook(*given, **options)["id"], json.loads(case["body"])["id"])
                    else:
                        error = SignatureError if case["outcome"] == "signature" else ValueError
                        with self.assertRaises(error):
                            verify_webhook(*given, **options)

    def test_headers_of_servers(self) -> None:
        case = table("webhooks")[0]
        pairs = list(case["headers"].items())
        as_bytes = [(name.encode(), value.encode()) for name, value in pairs]
        as_lists = {name: [value] for name, value in pairs}
        for headers in (pairs, as_bytes, as_lists, dict(as_bytes)):
            event = verify_webhook(headers, case["body"], case["secret"], now=case["now"])
            self.assertEqual(event["type"], "message.delivered")
        with self.assertRaises(TypeError):
            verify_webhook(pairs, json.loads(case["body"]), case["secret"], now=case["now"])
        with self.assertRaises(SignatureError):
            verify_webhook([*pairs, pairs[0]], case["body"], case["secret"], now=case["now"])
        with self.assertRaises(SignatureError):
            verify_webhook(pairs, case["body"], case["secret"], now=case["now"], tolerance_seconds=float("nan"))


class Proofs(unittest.TestCase):
    def test_need_a_package_and_say_so(self) -> None:
        with unittest.mock.patch.dict(sys.modules, {"cryptography": None}):
            with self.assertRaisesRegex(ImportError, "pip install cryptography"):
                verify_proof("a.b.c", audience="app_1", base_url="http://127.0.0.1:9")

    def test_refuse_an_address_before_anything_is_sent(self) -> None:
        for wrong in ({"base_url": "ftp://x"}, {"timeout": -1}, {"audience": ""}):
            with self.subTest(**wrong), self.assertRaises(ValueError):
                verify_proof("a.b.c", **{"audience": "app_1", "base_url": "http://127.0.0.1:9", **wrong})  # type: ignore[arg-type]


class Settings(unittest.TestCase):
    def test_come_from_options_or_from_the_environment(self) -> None:
        for case in table("settings"):
            with self.subTest(case["name"]):
                if "error" in case:
                    with self.assertRaises(ValueError) as raised:
                        Connection(case["given"], case["environment"])
                    text = str(raised.exception)
                    name = next((name for name in reversed(list(case["given"]))), "")
                    self.assertIn(case["error"].replace("NAME", name), text)
                    self.assertNotIn(case.get("hides", "\0"), text)
                    continue
                found = Connection(case["given"], case["environment"])
                for name in ("api_key", "client_id", "client_secret"):
                    if name in case:
                        self.assertEqual(getattr(found, name), case[name])
                if "missing" in case:
                    self.assertIn(case["missing"].replace("NAME", "api_key"), str(found.missing("api_key")))


if __name__ == "__main__":
    unittest.main()
