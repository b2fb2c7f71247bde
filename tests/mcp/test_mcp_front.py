"""The handshake and how the SDK's server takes over behind it: nothing is lost, nothing is answered twice."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from mcp_talk import CLIENT, READY, Server, call, environment, hello, modern, request, text

from lamina.interfaces.mcp import answers, process, tools
from lamina.interfaces.mcp.front import HANDSHAKES
from lamina.models.base import estimate_tokens

LIMITS = {"core": 1200, "full": 4000}


def loaded(server):
    """Tell whether the process has the SDK in memory."""
    return "pydantic_core" in Path(f"/proc/{server.process.pid}/maps").read_text()


@pytest.mark.parametrize("version", HANDSHAKES)
def test_the_handshake_is_answered_in_the_clients_version(server, version):
    said = server.shake_hands(version)["result"]
    assert said["protocolVersion"] == version
    assert said["serverInfo"]["name"] == "lamina"
    assert "writing nothing is a correct result" in said["instructions"]
    assert len(server.ask(request(1, "tools/list"))["result"]["tools"]) == 14
    assert server.ask(request(2, "ping"))["result"] == {}
    assert not loaded(server)


def test_an_unknown_version_is_answered_with_the_newest_one(server):
    assert server.shake_hands("1999-01-01")["result"]["protocolVersion"] == HANDSHAKES[-1]


def test_the_stateless_era_needs_no_handshake(server):
    said = server.ask(modern(1, "server/discover"))["result"]
    assert said["supportedVersions"] == ["2026-07-28"]
    assert said["resultType"] == "complete"
    listed = server.ask(modern(2, "tools/list"))["result"]
    assert len(listed["tools"]) == 14
    assert listed["ttlMs"] > 0
    assert not loaded(server)
    assert "stored harbor-sem-0001" in text(
        server.ask(modern(3, "tools/call", name="memory_remember", arguments={"text": "Port 8081"}))
    )
    assert "8081" in text(
        server.ask(modern(4, "tools/call", name="memory_search", arguments={"query": "port"}))
    )


def test_a_client_may_probe_the_new_era_and_then_shake_hands(server):
    assert "result" in server.ask(modern(1, "server/discover"))
    server.shake_hands("2025-11-25", roots={}, elicitation={})
    assert not server.ask(call(2, "memory_status"))["result"].get("isError")


def test_the_handshake_costs_little(tmp_path):
    with Server(tmp_path) as server:
        server.shake_hands()
        server.ask(request(1, "tools/list"))
        assert server.cpu_s() < 0.4


def test_nothing_of_the_store_is_opened_before_the_first_call(tmp_path, project):
    root = tmp_path / ".lamina"
    root.mkdir()
    (root / "memory.json").write_text("damaged")
    with Server(tmp_path, cwd=project) as server:
        server.shake_hands()
        for number, method in enumerate(answers.LISTS):
            assert "result" in server.ask(request(number, method))
        assert server.ask(call(9, "memory_status"))["result"]["isError"]
    assert os.listdir(root) == ["memory.json"]


def test_what_comes_while_the_server_loads_is_answered_once_and_in_full(server):
    server.send(
        hello(id=0),
        READY,
        call(1, "memory_remember", text="The port is 8081"),
        request(2, "tools/list"),
        request(3, "ping"),
        call(4, "memory_search", query="nothing like it"),
        request("4", "ping"),
        request(5, "no/such/method"),
        call(6, "no_such_tool"),
    )
    said = {number: server.answer(number) for number in (0, 1, 2, 3, 4, "4", 5, 6)}
    assert "stored" in text(said[1])
    assert len(said[2]["result"]["tools"]) == 14
    assert said["4"]["result"] == {}
    assert said[5]["error"]["code"] == -32601
    assert "memory_search" in said[6]["error"]["message"]
    server.send(request(7, "ping"))
    server.answer(7)
    assert server.messages.empty()
    assert len(server.raw) == 9


def test_many_requests_in_one_write_split_anywhere(server):
    server.shake_hands()
    data = b"".join(
        json.dumps(call(number, "memory_search", query=f"wörter 文字 {number}"), ensure_ascii=False).encode()
        + b"\n"
        for number in range(40)
    )
    for at in range(0, len(data), 777):
        server.write(data[at : at + 777])
    assert all("result" in server.answer(number) for number in range(40))


def test_a_batch_is_answered_as_one(server):
    server.shake_hands("2025-03-26")
    batch = [
        request(1, "ping"),
        READY,
        call(2, "memory_status"),
        {"jsonrpc": "2.0", "id": 3},
        request(4, "tools/list"),
    ]
    server.send(batch)
    for number in (1, 2, 3, 4):
        assert server.answer(number)["id"] == number
    assert sum(line.startswith(b"[") for line in server.raw) == 1
    server.send([READY])
    server.send([])
    assert server.answer(None)["error"]["code"] == -32600


def test_a_request_before_the_handshake_is_refused_and_the_handshake_still_works(server):
    assert "error" in server.ask(call(1, "memory_status"))
    assert server.shake_hands()["result"]["protocolVersion"] == "2025-06-18"
    assert "result" in server.ask(call(2, "memory_status"))


def test_a_handshake_of_the_wrong_form_is_an_error(server):
    for number, params in enumerate(({}, {"protocolVersion": 1, "capabilities": {}, "clientInfo": CLIENT})):
        assert "error" in server.ask(request(number, "initialize", **params))
    assert "result" in server.shake_hands()


def test_a_cancelled_request_is_not_answered_and_the_others_are(server):
    server.shake_hands()
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    server.send(call(1, "memory_history"), cancel, call(2, "memory_status"))
    assert "result" in server.answer(2)
    assert "result" in server.ask(request(3, "ping"))
    assert 1 not in server.kept


def test_the_end_of_input_ends_the_process_at_once(tmp_path):
    with Server(tmp_path) as server:
        server.shake_hands()
        began = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - began < 1.0


def test_what_was_asked_is_answered_before_the_process_ends(tmp_path, project):
    with Server(tmp_path, cwd=project) as server:
        server.send(hello(), READY, call(1, "memory_remember", text="The port is 8081"))
        server.process.stdin.close()
        assert "stored" in text(server.answer(1))
        assert server.process.wait(15) == 0


def test_the_end_of_input_while_it_loads_ends_a_process_that_nobody_listens_to(tmp_path):
    command = [sys.executable, "-m", "lamina", "mcp"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, env=environment(tmp_path), cwd=tmp_path) as process:
        for message in (hello(), READY, call(1, "memory_status")):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        began = time.monotonic()
        process.stdout.close()
        process.stdin.close()
        process.wait(5)
        assert time.monotonic() - began < 1.0


@pytest.mark.parametrize("loading", (False, True))
def test_sigterm_ends_the_process_at_once(tmp_path, loading):
    with Server(tmp_path) as server:
        server.shake_hands()
        if loading:
            server.send(call(1, "memory_status"))
        began = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        server.process.wait(5)
        assert time.monotonic() - began < 1.0


STRAY = """
import os, sys
from lamina.interfaces.mcp.wire import Wire
wire = Wire.claim()
print("stray", flush=True)
os.system("echo child")
wire.send({"jsonrpc": "2.0", "method": "x"})
print(repr(sys.stdin.read()), flush=True)
"""


def test_nothing_but_the_protocol_reaches_standard_output(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", STRAY], capture_output=True, env=environment(tmp_path), input=b"hi", check=True
    )
    assert ran.stdout == b'{"jsonrpc":"2.0","method":"x"}\n'
    assert ran.stderr.split() == [b"stray", b"child", b"''"]


def test_closed_standard_streams_do_not_hang_the_process(tmp_path):
    shell = f"exec {sys.executable} -m lamina mcp <&- >&- 2>&-"
    ran = subprocess.run(["sh", "-c", shell], env=environment(tmp_path), timeout=20, check=False)
    assert ran.returncode in (0, 1)


def test_a_fault_at_the_start_is_told_and_no_success(tmp_path):
    script = (
        "from lamina.interfaces.mcp.process import serve; serve('no-such-profile', root=None, workspace=None)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, env=environment(tmp_path), check=False
    )
    assert ran.returncode == 1
    assert ran.stdout == b""
    assert b"no-such-profile" in ran.stderr


# -- what the front knows by heart


@pytest.mark.parametrize("profile", tools.PROFILES)
def test_the_front_says_what_the_server_says(profile):
    file = answers.FOLDER / f"{profile}.json"
    assert file.read_text(encoding="utf-8") == answers.text_of(profile), (
        "run python -m lamina.interfaces.mcp.answers"
    )


@pytest.mark.parametrize("version", HANDSHAKES[:-1])
def test_every_version_of_the_handshake_era_is_answered_alike(version):
    assert answers.known_of("core", version=version) == answers.known_of("core")


@pytest.mark.parametrize("profile", tools.PROFILES)
def test_all_schemas_fit_their_budget(profile):
    from importlib.resources import files

    from tokenizers import Tokenizer

    listed = process.answers(profile)["handshake"]["tools/list"]["tools"]
    said = json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
    known = files("wordllama") / "tokenizers" / "l2_supercat_tokenizer_config.json"
    strict = Tokenizer.from_file(str(known))
    strict.no_truncation()
    assert estimate_tokens(said) < LIMITS[profile]
    assert len(strict.encode(said).ids) < LIMITS[profile]


def test_the_instructions_are_short():
    assert estimate_tokens(process.answers("full")["handshake"]["initialize"]["instructions"]) < 100


def test_every_tool_has_hints_and_says_who_may_write():
    for tool in tools.TOOLS.values():
        hints = tool.hints()
        assert hints["readOnlyHint"] is not tool.writes
        assert not tool.writes or {"destructiveHint", "idempotentHint", "openWorldHint"} < set(hints)
        assert (tools.SUBAGENT in tool.arguments) is tool.writes
