"""Lets another program use the client: it reads calls as lines of JSON, and writes their results.

Each call runs in a thread of its own. Calls with the same options share one client.
"""

import inspect
import itertools
import json
import sys
import threading
from typing import Any, Dict, Iterator, List

import heliograph
from heliograph import ConnectionError, Heliograph, HeliographError, SignatureError

_clients: Dict[str, Heliograph] = {}
_output = threading.Lock()


def client_for(options: Dict[str, Any]) -> Heliograph:
    return _clients.setdefault(json.dumps(options, sort_keys=True), Heliograph(**options))


def run(client: Heliograph, request: Dict[str, Any]) -> Any:
    target: Any = client
    for name in request["call"].split("."):
        target = getattr(target, name)
    result = target(*request["args"], **request.get("options", {}))
    is_list = isinstance(result, (heliograph.Pages, Iterator))
    return list(itertools.islice(result, request.get("take", 1000))) if is_list else result


def outcome_of(client: Heliograph, request: Dict[str, Any]) -> Dict[str, Any]:
    try:
        return {"result": run(client, request)}
    except HeliographError as error:
        names = ("status", "code", "details", "correlation_id", "retry_after_seconds")
        facts = {name: getattr(error, name) for name in names}
        return {"error": {"class": "HeliographError", "message": str(error), **facts}}
    except (ConnectionError, SignatureError) as error:
        return {"error": {"class": type(error).__name__, "message": str(error)}}
    except (ValueError, TypeError) as error:
        return {"error": {"class": "program", "message": str(error)}}
    except Exception as error:
        return {"error": {"class": f"unexpected {type(error).__name__}", "message": str(error)}}


def answer(client: Heliograph, request: Dict[str, Any]) -> None:
    line = json.dumps({"id": request["id"], **outcome_of(client, request)})
    with _output:
        print(line, flush=True)


def calls_of(part: object, prefix: str = "") -> List[str]:
    """Every call that a client has."""
    found = []
    for name, each in inspect.getmembers(part):
        if name.startswith("_") or name == "close":
            continue
        if inspect.ismethod(each):
            found.append(prefix + name)
        elif type(each).__module__.startswith("heliograph."):
            found += calls_of(each, f"{prefix}{name}.")
    return found


def main() -> None:
    if sys.argv[1:] == ["calls"]:
        print(json.dumps(calls_of(Heliograph("http://127.0.0.1:9"))))
        return
    for line in sys.stdin:
        request = json.loads(line)
        threading.Thread(target=answer, args=(client_for(request["client"]), request), daemon=True).start()


main()
