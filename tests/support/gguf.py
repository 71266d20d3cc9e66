"""A small GGUF header, and a stand-in for the package that runs such files."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# A server of the same shape as xllamacpp's, which answers with how often it was asked.
# It cannot load a file whose first bytes are wrong.
STAND_IN = """
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace


class CommonParams(SimpleNamespace):
    def __init__(self):
        cpus = [SimpleNamespace(n_threads=-1, poll=50) for _ in range(2)]
        super().__init__(
            model=SimpleNamespace(path=""), cpuparams=cpus[0], cpuparams_batch=cpus[1]
        )


class Server:
    def __init__(self, params):
        if open(params.model.path, "rb").read(4) != b"GGUF":
            raise RuntimeError("Failed to load model")
        asked = []

        class Answers(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                key = self.headers["authorization"].removeprefix("Bearer ")
                asked.append(body)
                text = f"{body['model']} {len(asked)} {params.n_ctx}"
                told = body["messages"][-1]["content"]
                if "paragraph" in told:  # some are answered with nothing at first
                    text = told.partition("\\n\\n")[2].partition(". ")[0] + "."
                    if told.startswith("Summarise") and len(told) % 2:
                        text = ""
                if [key] != params.api_keys:
                    text = "wrong key"
                end = {"index": 0, "delta": {"content": text}, "finish_reason": "stop"}
                chunk = {"id": "c", "choices": [end], "usage": {"prompt_tokens": 5}}
                said = f"data: {json.dumps(chunk)}\\n\\ndata: [DONE]\\n\\n".encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("content-length", str(len(said)))
                self.end_headers()
                self.wfile.write(said)

            def log_message(self, *_):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{self._server.server_port}"
"""


def header(window: int | None) -> bytes:
    """The beginning of a file; without a window it says none."""
    pairs = [
        _text("general.architecture") + struct.pack("<I", 8) + _text("llama"),
        _text("general.tags")
        + struct.pack("<IIQ", 9, 8, 2)
        + _text("chat")
        + _text("en"),
        _text("llama.sizes") + struct.pack("<IIQII", 9, 4, 2, 1, 2),
        _text("llama.flag") + struct.pack("<I?", 7, True),
    ]
    if window is not None:
        pairs.append(_text("llama.context_length") + struct.pack("<II", 4, window))
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, len(pairs)) + b"".join(pairs)


def _text(words: str) -> bytes:
    return struct.pack("<Q", len(words)) + words.encode()


def stand_in(folder: Path) -> str:
    """A folder for PYTHONPATH in which the package is the stand-in."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "xllamacpp.py").write_text(STAND_IN)
    return str(folder)


def model_file(data: Path, name: str = "small", window: int | None = 4096) -> Path:
    """A model file in the data folder."""
    path = data / "agiraph" / "models" / f"{name}.gguf"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header(window))
    return path
