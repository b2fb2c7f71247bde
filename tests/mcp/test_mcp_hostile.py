"""Whatever a client sends: no crash, no traceback, and the next good request is answered."""

from __future__ import annotations

import json
import random

from mcp_talk import Inside, Server, call, hello, modern, request, text

from lamina.interfaces.mcp.tools import TOOLS

CALLS = 5_000
AT_ONCE = 50
VALUES = (
    None, True, False, 0, -1, 7, 10**30, 1.5, -0.0, 1e308, "", " ", "x", "all", "global", "workspace:", "workspace:a/b",
    "../../etc/passwd", "C:\\temp\\x", "\x00", "\x1b[2J", "\u202e", "成语接龙", "🚢" * 50, "a" * 5_000, "\ud800", "--help",
    "'; DROP TABLE entries; --", '"unclosed', "NEAR(", "*", "harbor-sem-0001", "semantic", "2026-13-40", "9999999999d",
    [], {}, [[]], ["a", None], {"a": {"b": []}}, [{"text": "x"}] * 60,
)  # fmt: skip
WRITERS = (
    "memory_remember",
    "memory_decision",
    "memory_codebase",
    "memory_working",
    "memory_state",
    "memory_associate",
)


def arguments_for(dice, tool):
    names = [name for name in tool.arguments if dice.random() < 0.6] + list(tool.needed) * (
        dice.random() < 0.8
    )
    names += ["", "nonsense", "__class__"][: dice.choice((0, 0, 0, 1, 3))]
    return {name: dice.choice(VALUES) for name in names}


def requests_of(dice, count):
    tools = [*TOOLS.values()]
    for number in range(count):
        tool = dice.choice(tools)
        given = arguments_for(dice, tool)
        if tool.name in WRITERS and dice.random() < 0.9:
            given["subagent"] = dice.choice((True, "maybe"))  # all is checked, little is written
        params = {
            "name": tool.name,
            "arguments": given,
            "_meta": {"cwd": dice.choice(VALUES), "progressToken": number},
        }
        if dice.random() < 0.05:
            params[dice.choice(("name", "arguments", "_meta"))] = dice.choice(VALUES)
        method = "tools/call"
        if dice.random() < 0.05:
            method = dice.choice(
                ("resources/read", "prompts/get", "tools/list", "completion/complete", "", "tools/" * 99)
            )
            params = {
                dice.choice(("uri", "name", "arguments", "cursor")): dice.choice(VALUES) for _ in range(3)
            }
        yield {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def test_five_thousand_calls_of_nonsense(tmp_path, project, monkeypatch, capfd):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(project)
    inside = Inside(tmp_path / "store", project)
    inside.shake_hands()
    inside.ask(call("seed", "memory_remember", text="The port is 8081"))
    dice = random.Random(5)
    asked = [*requests_of(dice, CALLS)]
    faults = []
    for start in range(0, CALLS, AT_ONCE):
        some = asked[start : start + AT_ONCE]
        inside.send(*some)
        for each in some:
            said = json.dumps(inside.answer(each["id"], within_s=60))
            if "Traceback" in said or "unexpected " in said or "fault of Lamina" in said:
                faults.append((each, said))
    assert not faults, [str(each)[:600] for each in faults[:3]]
    inside.ask(call("new", "memory_remember", text="The lighthouse was painted red"))
    assert "painted red" in text(inside.ask(call("end", "memory_search", query="lighthouse")))
    inside.close()
    assert not (tmp_path / "etc").exists()
    assert "Traceback" not in capfd.readouterr().err


GARBAGE = (
    b"", b"   ", b"\xff\xfe\x00", b"{", b"}", b"null", b"1", b'"text"', b"[1, 2]", b"[[]]", b"[]", b"{}", b"NaN",
    b'{"jsonrpc": "2.0", "id": 1e999, "method": "ping"}', b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}',
    b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', b'{"jsonrpc": "2.0", "id": true, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": {}, "method": "ping"}', b'{"jsonrpc": "2.0", "id": null, "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', b'{"jsonrpc": "2.0", "id": 1, "method": 5}',
    b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": [1]}', b'{"jsonrpc": "2.0", "result": {}}',
    b'{"jsonrpc": "2.0", "id": 99, "result": {}}', b'{"jsonrpc": "2.0", "method": "notifications/nonsense", "params": {}}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {"a": []}}}',
    b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}',
    b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "x", "progress": "y"}}',
    b'{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}', b'{"jsonrpc": "2.0", "id": ' + b"9" * 4000 + b', "method": "ping"}',
    b'{"jsonrpc": "2.0", "id": ' + b"9" * 9000 + b', "method": "ping"}',
    b"[" * 200_000, b'{"a":' * 100_000 + b"1" + b"}" * 100_000, b"\xef\xbb\xbf" + json.dumps(request("bom", "ping")).encode(),
    b"GET / HTTP/1.1\r", b"x" * 10_000_000, b'{"jsonrpc": "2.0", "id": 1, "method": "' + b"m" * 10_000_000 + b'"}',
)  # fmt: skip


def test_lines_that_are_no_message_are_answered_or_passed_over(server):
    for era in range(2):
        for line in GARBAGE:
            server.write(line + b"\n")
            server.send(request("here", "ping") if era else modern("here", "server/discover"))
            assert "error" not in server.answer("here"), line[:80]
        if not era:
            server.shake_hands()
            assert "result" in server.ask(call("loaded", "memory_status"))
    big = server.ask(call("big", "memory_remember", text="z" * 10_000_000))["result"]
    assert big["isError"]
    assert "10000000 characters" in big["content"][0]["text"]
    deep = request(
        "deep", "tools/call", name="memory_search", arguments={"query": json.loads("[" * 400 + "]" * 400)}
    )
    assert "text" in json.dumps(server.ask(deep))
    assert "bom" in server.kept
    assert not any(b"Traceback" in line for line in server.raw)


def test_a_line_beyond_all_bounds_is_refused_and_not_kept(tmp_path):
    with Server(tmp_path) as server:
        for _ in range(40):
            server.write(b"y" * 1_000_000)
        server.write(b"\n")
        server.send(hello(id=1))
        assert "longer than" in server.answer(None)["error"]["message"]
        assert "result" in server.answer(1)
