"""The stub model, asked over plain HTTP as the clients ask it."""

from __future__ import annotations

import gzip
import http.client
import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.clients.script import calls_of, sample
from tests.clients.stub import Stub

SCRIPT = 'Look. @@call read {"path": "a.md"}@@ @@call mcp.*search {"query": "}@@ tides"}@@'
PATHS = {
    "anthropic": "/v1/messages",
    "responses": "/v1/responses",
    "chat": "/v1/chat/completions",
    "gemini": "/v1beta/models/stub:generateContent",
}
TOOLS = ["read", "mcp_memory_search"]


@pytest.fixture
def stub() -> Iterator[Stub]:
    with Stub() as running:
        yield running


def send(stub: Stub, path: str, body: bytes, *, method: str = "POST", **headers: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", stub.port, timeout=20)
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def ask(stub: Stub, api: str, body: dict[str, Any], *, stream: bool = False) -> Any:
    path = PATHS[api]
    if stream and api == "gemini":
        path = path.replace("generateContent", "streamGenerateContent") + "?alt=sse"
    elif stream:
        body = {**body, "stream": True}
    status, text = send(stub, path, json.dumps(body).encode())
    assert status == 200
    return events(text) if stream else json.loads(text)


def events(text: str) -> list[Any]:
    found: list[Any] = []
    for block in text.strip().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.split("\n"))
        data = lines["data"]
        found.append(data if data == "[DONE]" else json.loads(data))
        if "event" in lines:
            assert lines["event"] == found[-1]["type"]
    return found


def request(api: str, said: list[str | None], tools: list[str] | None = None) -> dict[str, Any]:
    """Make a request in which None stands for the result of a tool."""
    names = TOOLS if tools is None else tools
    match api:
        case "anthropic":
            blocks = [
                {"type": "text", "text": text}
                if text is not None
                else {"type": "tool_result", "tool_use_id": "x", "content": SCRIPT}
                for text in said
            ]
            return {
                "model": "m",
                "messages": [{"role": "user", "content": [block]} for block in blocks],
                "tools": [{"name": name, "input_schema": {}} for name in names],
            }
        case "responses":
            items = [
                {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}
                if text is not None
                else {"type": "function_call_output", "call_id": "x", "output": SCRIPT}
                for text in said
            ]
            return {
                "model": "m",
                "input": items,
                "tools": [{"type": "function", "name": name} for name in names],
            }
        case "chat":
            messages = [
                {"role": "user", "content": text} if text is not None else {"role": "tool", "content": SCRIPT}
                for text in said
            ]
            functions = [{"type": "function", "function": {"name": name}} for name in names]
            return {"model": "m", "messages": messages, "tools": functions}
    parts = [
        {"text": text} if text is not None else {"functionResponse": {"name": "x", "response": {}}}
        for text in said
    ]
    declared = [{"name": name} for name in names]
    return {
        "contents": [{"role": "user", "parts": [part]} for part in parts],
        "tools": [{"functionDeclarations": declared}],
    }


def called(api: str, answer: Any) -> tuple[str, Any] | None:
    """Find the call in a whole answer."""
    match api:
        case "anthropic":
            found = [block for block in answer["content"] if block["type"] == "tool_use"]
            assert answer["stop_reason"] == ("tool_use" if found else "end_turn")
            return (found[0]["name"], found[0]["input"]) if found else None
        case "responses":
            found = [item for item in answer["output"] if item["type"] == "function_call"]
            return (found[0]["name"], json.loads(found[0]["arguments"])) if found else None
        case "chat":
            choice = answer["choices"][0]
            found = choice["message"].get("tool_calls", [])
            assert choice["finish_reason"] == ("tool_calls" if found else "stop")
            function = found[0]["function"] if found else {}
            return (function["name"], json.loads(function["arguments"])) if found else None
    found = [part["functionCall"] for part in answer["candidates"][0]["content"]["parts"][1:]]
    return (found[0]["name"], found[0]["args"]) if found else None


@pytest.mark.parametrize("api", PATHS)
def test_a_prompts_script_is_played_call_by_call_then_words(stub: Stub, api: str) -> None:
    turns: list[list[str | None]] = [[SCRIPT], [SCRIPT, None], [SCRIPT, None, None], ["Hello."]]
    assert [called(api, ask(stub, api, request(api, said))) for said in turns] == [
        ("read", {"path": "a.md"}),
        ("mcp_memory_search", {"query": "}@@ tides"}),
        None,
        None,
    ]
    assert [asked.api for asked in stub.asked()] == [api] * 4
    assert stub.asked()[0].body == request(api, [SCRIPT])


def test_a_compaction_keeps_the_prompt_and_calls_nothing_twice(stub: Stub) -> None:
    summary = "Please create a detailed summary of the conversation so far."
    kept = f"<user_message>{SCRIPT}</user_message> <summary>Stub reply.</summary>"
    turns: list[list[str | None]] = [[SCRIPT], [SCRIPT, None, summary], [kept], [kept, None], [SCRIPT]]
    told = [called("chat", ask(stub, "chat", request("chat", said))) for said in turns]
    assert [call and call[0] for call in told] == ["read", None, "mcp_memory_search", None, None]


@pytest.mark.parametrize("api", PATHS)
def test_a_later_prompt_begins_its_own_script(stub: Stub, api: str) -> None:
    again = '@@call read {"path": "b.md"}@@'
    told = [
        called(api, ask(stub, api, request(api, [SCRIPT, None, None, again]))),
        called(api, ask(stub, api, request(api, [SCRIPT, None, None, again, None]))),
        called(api, ask(stub, api, request(api, [SCRIPT, "@@plain@@ Go on."]))),
        called(api, ask(stub, api, request(api, [SCRIPT, "<reminder>date</reminder>"]))),
    ]
    assert told == [("read", {"path": "b.md"}), None, None, ("read", {"path": "a.md"})]


@pytest.mark.parametrize("api", PATHS)
def test_a_tool_that_is_not_offered_is_not_called(stub: Stub, api: str) -> None:
    assert called(api, ask(stub, api, request(api, [SCRIPT], ["reader", "prefix_read"]))) is None


def test_anthropic_stream(stub: Stub) -> None:
    told = ask(stub, "anthropic", request("anthropic", [SCRIPT]), stream=True)
    assert [event["type"] for event in told] == [
        "message_start",
        *["content_block_start", "content_block_delta", "content_block_stop"] * 2,
        "message_delta",
        "message_stop",
    ]
    assert told[0]["message"]["content"] == []
    assert told[2]["delta"]["text"] == "Stub reply 1."
    assert json.loads(told[5]["delta"]["partial_json"]) == {"path": "a.md"}
    assert told[7]["delta"]["stop_reason"] == "tool_use"


def test_responses_stream(stub: Stub) -> None:
    told = ask(stub, "responses", request("responses", [SCRIPT]), stream=True)
    kinds = [event["type"] for event in told]
    assert (kinds[0], kinds[-1]) == ("response.created", "response.completed")
    assert [event["sequence_number"] for event in told] == list(range(len(told)))
    done = [event["item"] for event in told if event["type"] == "response.output_item.done"]
    assert done == told[-1]["response"]["output"]
    assert [item["type"] for item in done] == ["message", "function_call"]
    assert "response.output_text.delta" in kinds
    assert "response.function_call_arguments.done" in kinds


def test_chat_stream(stub: Stub) -> None:
    told = ask(stub, "chat", request("chat", [SCRIPT]), stream=True)
    assert told[-1] == "[DONE]"
    deltas = [event["choices"][0]["delta"] for event in told[:-1] if event["choices"]]
    assert deltas[0] == {"role": "assistant", "content": "Stub reply 1."}
    assert deltas[1]["tool_calls"][0]["function"]["name"] == "read"
    assert told[-2]["usage"]["prompt_tokens"] == 1200


def test_gemini_stream(stub: Stub) -> None:
    (told,) = ask(stub, "gemini", request("gemini", [SCRIPT]), stream=True)
    assert called("gemini", told) == ("read", {"path": "a.md"})


def test_tools_in_a_namespace_and_tools_that_take_text(stub: Stub) -> None:
    tools = [
        {"type": "namespace", "name": "mcp__lamina", "tools": [{"type": "function", "name": "search"}]},
        {"type": "custom", "name": "apply_patch"},
        {"type": "web_search"},
    ]
    prompt = '@@call .*lamina.*search {"q": 1}@@ @@call apply_patch {"input": "*** Begin"}@@'
    body = {**request("responses", [prompt]), "tools": tools}
    item = ask(stub, "responses", body)["output"][1]
    assert (item["namespace"], item["name"], item["arguments"]) == ("mcp__lamina", "search", '{"q": 1}')
    item = ask(stub, "responses", {**request("responses", [prompt, None]), "tools": tools})["output"][1]
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "apply_patch", "*** Begin")


def test_a_script_inside_a_scripts_arguments_is_the_subagents(stub: Stub) -> None:
    inner = 'Sub. @@call read {"path": "c.md"}@@'
    prompt = f"@@call task {json.dumps({'prompt': inner})}@@"
    told = called("chat", ask(stub, "chat", request("chat", [prompt], ["read", "task"])))
    assert told == ("task", {"prompt": inner})
    assert called("chat", ask(stub, "chat", request("chat", [inner]))) == ("read", {"path": "c.md"})


def test_scripts_that_are_quoted_damaged_or_none() -> None:
    assert calls_of(json.dumps(SCRIPT)) == calls_of(SCRIPT)
    assert calls_of(f"<context>x</context>{json.dumps(SCRIPT)}") == calls_of(SCRIPT)
    assert calls_of('@@call read {"path": @@ @@call read {"n": 1}@@') == [("read", {"n": 1})]
    assert calls_of("an address: a@@call.example") is None
    assert calls_of("@@plain@@") == []
    assert calls_of(f"<lamina-memory>\n- asked: {SCRIPT}\n</lamina-memory>\nGo on.") is None


def test_an_answer_that_must_fit_a_schema(stub: Stub) -> None:
    schema = {
        "type": "OBJECT",
        "properties": {"who": {"type": "string", "enum": ["user", "model"]}, "n": {"type": "number"}},
    }
    settings = {"responseMimeType": "application/json", "responseJsonSchema": schema}
    body = {**request("gemini", ["Who?"]), "generationConfig": settings}
    text = ask(stub, "gemini", body)["candidates"][0]["content"]["parts"][0]["text"]
    assert json.loads(text) == {"who": "user", "n": 1}
    assert sample({"anyOf": [{"type": "array", "items": {"type": "null"}, "minItems": 2}]}) == [None, None]


def test_bodies_in_chunks_and_packed(stub: Stub) -> None:
    raw = json.dumps(request("chat", ["Hallo 你好"])).encode()
    assert send(stub, PATHS["chat"], gzip.compress(raw), **{"content-encoding": "gzip"})[0] == 200
    connection = http.client.HTTPConnection("127.0.0.1", stub.port, timeout=20)
    connection.request("POST", PATHS["chat"], iter([raw[:50], raw[50:]]), encode_chunked=True)
    assert connection.getresponse().status == 200
    connection.close()
    assert [asked.body for asked in stub.asked("chat")] == [json.loads(raw)] * 2
    assert "你好" in stub.asked()[0].text()


def test_what_is_no_request_is_refused_and_noted(stub: Stub) -> None:
    assert send(stub, PATHS["chat"], b"{broken")[0] == 400
    assert send(stub, PATHS["chat"], b"[]")[0] == 400
    assert send(stub, "/v1/nothing", b"{}")[0] == 404
    assert send(stub, "/v1/messages/count_tokens", b"{}") == (
        200,
        '{"input_tokens": 1200, "totalTokens": 1200}',
    )
    assert send(stub, "/v1/models", b"", method="GET")[0] == 200
    assert send(stub, "/nothing", b"", method="HEAD") == (404, "")
    assert [asked.api for asked in stub.requests] == ["other", "other", "other", "count", "get", "get"]
    assert stub.asked() == []


def test_credentials_are_not_kept(stub: Stub) -> None:
    headers = {"Authorization": "Bearer x", "X-Api-Key": "x", "x-goog-api-key": "x", "user-agent": "client"}
    send(stub, PATHS["chat"] + "?key=x", b"{}", **headers)
    (asked,) = stub.requests
    assert set(asked.headers) & {"authorization", "x-api-key", "x-goog-api-key"} == set()
    assert asked.headers["user-agent"] == "client"
    assert asked.path == PATHS["chat"]


def test_ten_at_once(stub: Stub) -> None:
    with ThreadPoolExecutor(10) as pool:
        answers = list(pool.map(lambda _: ask(stub, "chat", request("chat", ["Hi."])), range(50)))
    assert len({answer["id"] for answer in answers}) == 50
    assert len(stub.asked("chat")) == 50


def test_a_client_that_goes_away_does_not_stop_it(stub: Stub) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", stub.port, timeout=20)
    connection.putrequest("POST", PATHS["chat"])
    connection.putheader("content-length", "100")
    connection.endheaders(b"{")
    connection.close()
    assert send(stub, "/v1/models", b"", method="GET")[0] == 200


def test_as_a_program_it_prints_its_port_and_writes_requests(tmp_path: Path) -> None:
    record = tmp_path / "requests.jsonl"
    command = [sys.executable, "-m", "tests.clients.stub", str(record), "77"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.request("POST", PATHS["chat"], json.dumps(request("chat", ["Hi."])))
            assert json.loads(connection.getresponse().read())["usage"]["prompt_tokens"] == 77
            connection.close()
        finally:
            server.terminate()
    (line,) = record.read_text(encoding="utf-8").splitlines()
    assert (json.loads(line)["api"], json.loads(line)["body"]) == ("chat", request("chat", ["Hi."]))
