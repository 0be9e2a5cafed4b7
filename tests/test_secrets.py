"""A key that was planted is looked for everywhere a run leaves something behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

SECRET = "sk-planted-0123456789abcdef"
KEYS = {
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "deepseek": ("DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"),
}


class Blabbing(BaseHTTPRequestHandler):
    """A server that is rude enough to send the key back, in an error or in an answer."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        told = f"{dict(self.headers)} key={SECRET}"
        if self.path.startswith("/refuse"):
            self.answer(401, {"error": {"type": "authentication_error", "message": told}})
        elif "messages" in self.path:
            usage = {"input_tokens": 1, "output_tokens": 1}
            content = [{"type": "text", "text": told}]
            self.answer(200, {"type": "message", "role": "assistant", "content": content, "usage": usage})
        else:
            message = {"role": "assistant", "content": told}
            self.answer(200, {"choices": [{"index": 0, "finish_reason": "stop", "message": message}]})

    def answer(self, status: int, data: object) -> None:
        body = json.dumps(data).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Blabbing) as blabbing:
        threading.Thread(target=blabbing.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{blabbing.server_address[1]}"
        blabbing.shutdown()


def left_behind(*results: subprocess.CompletedProcess[str]) -> str:
    """All that was printed and all that was written."""
    files = [path.read_bytes().decode("utf-8", errors="replace") for path in Path().rglob("*") if path.is_file()]
    return "\n".join([*files, *(result.stdout + result.stderr for result in results)])


@pytest.mark.slow
@pytest.mark.parametrize("provider", KEYS)
@pytest.mark.parametrize("path", ["/refuse", "/tell"])
def test_a_planted_key_is_nowhere_to_be_found(server: str, provider: str, path: str) -> None:
    key, address = KEYS[provider]
    environment = {**os.environ, key: SECRET, address: server + path, "REACT_LAB_LOG": "debug"}

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "react_lab", *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, encoding="utf-8", env=environment, timeout=60, check=False
        )

    asked = run("ask", "hi", "--model", f"{provider}:m", "--save", "t.jsonl", "--json")
    assert asked.returncode == (1 if path == "/refuse" else 0), asked.stderr
    shown = [run("replay", "t.jsonl"), run("replay", "t.jsonl", "--html", "t.html"), run("publish", "t.jsonl")]
    text = left_behind(asked, *shown, run("doctor"))
    assert f"{provider}:m" in text
    assert SECRET not in text
