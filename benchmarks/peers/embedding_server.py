"""An OpenAI-compatible endpoint on this machine: one static embedding for tools that take only an address.

    python embedding_server.py      prints `{"port": …}` and serves until its standard input is closed

Runs in an environment with `wordllama`, whose table of 256 dimensions comes with the package.
"""

from __future__ import annotations

import base64
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import wordllama

MODEL = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
LOCK = threading.Lock()


def embeddings(request: dict[str, Any]) -> dict[str, Any]:
    """Answer one call of /v1/embeddings; an empty text gets a vector too."""
    texts = [request["input"]] if isinstance(request["input"], str) else request["input"]
    with LOCK:
        vectors = MODEL.embed([text or " " for text in texts], norm=True).astype("<f4")
    plain = request.get("encoding_format") != "base64"
    data = [
        {
            "object": "embedding",
            "index": at,
            "embedding": row.tolist() if plain else base64.b64encode(row.tobytes()).decode("ascii"),
        }
        for at, row in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": request.get("model", ""), "usage": usage}


class Handler(BaseHTTPRequestHandler):
    """Keeps connections open, as clients expect; each answer is one write, so nothing waits for an ACK."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        """Answer with vectors."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = json.dumps(embeddings(json.loads(body))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
        self.wfile.flush()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(json.dumps({"port": server.server_port}), flush=True)
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
