"""The child process that runs one GGUF file as a server on loopback.

Its standard input stays open for as long as it is wanted: when that ends, by the
daemon's will or by its death, this ends too. The first line there is a JSON object
(path, name, window, key); the answer on standard output is one, too: the address, or
what went wrong. It is run by its path, and imports nothing of this package.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any


def main() -> None:
    """Serve until standard input ends."""
    wish = json.loads(sys.stdin.readline())
    answer = os.dup(1)
    os.dup2(2, 1)  # the library may print; the answer must stand alone
    try:
        server, url = _serving(wish)
    except (ImportError, RuntimeError, ValueError, OSError, AttributeError) as error:
        _say(answer, {"error": f"{type(error).__name__}: {error}"})
        os._exit(1)
    _say(answer, {"url": url})
    sys.stdin.read()
    del server
    os._exit(0)


def _serving(wish: dict[str, Any]) -> tuple[object, str]:
    import xllamacpp  # noqa: PLC0415 - only with the extra `local`, and slow to load

    params: Any = xllamacpp.CommonParams()
    params.model.path = wish["path"]
    params.model_alias = [wish["name"]]
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [wish["key"]]
    params.ui = False
    params.n_ctx = wish["window"]
    params.n_parallel = 1
    # Threads that share one answer spin while they wait for each other: with a core
    # for each it is quick, but where one is taken away all the others burn theirs.
    threads = max(1, _cores() // 2)
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads, cpu.poll = threads, 0
    server: Any = xllamacpp.Server(params)
    return server, str(server.listening_address)


def _cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _say(where: int, answer: dict[str, str]) -> None:
    os.write(where, json.dumps(answer).encode() + b"\n")
    os.close(where)


if __name__ == "__main__":
    main()
