"""Models behind HTTP, against a real server on this machine that speaks the vendors' protocols."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.models.following import followed
from tests.models.laws import KEY, PROMPT, Laws
from tests.models.raw import listening
from tests.models.scripted import Say, scripted

from lamina.errors import ModelFailed
from lamina.models.base import Prompt
from lamina.models.choose import model_for

HERE = Path("/nowhere")


class TestOpenAI(Laws):
    route = "openai/gpt-5-mini"
    variable = "OPENAI_API_KEY"


class TestAnthropic(Laws):
    route = "anthropic/claude-haiku-4-5"
    variable = "ANTHROPIC_API_KEY"
    trouble = b'event: error\ndata: {"type": "error", "error": {"type": "x", "message": "overloaded"}}\n\n'


class TestGemini(Laws):
    route = "gemini/gemini-3.5-flash-lite"
    variable = "GEMINI_API_KEY"


def asked(route, env, script, **prompt):
    with scripted(script) as server:
        model = model_for(route, env=env, base_url=server.url, folder=HERE)
        reply = followed(model, Prompt("", "ask", **prompt))
    return reply, server.requests


@pytest.mark.parametrize(
    "route, limit",
    [
        ("openai/gpt-5-mini", {"max_completion_tokens": 80 + 4096}),
        ("deepseek/deepseek-flash", {"max_tokens": 80 + 4096}),
        ("ollama/qwen3:8b", {"max_tokens": 80}),
        ("custom/some/model", {"max_tokens": 80}),
    ],
)
def test_a_reply_is_limited_by_the_parameter_that_the_provider_takes(route, limit):
    _, (request,) = asked(route, {}, [Say("yes")], tokens=80)
    found = {
        name: request.body[name] for name in ("max_tokens", "max_completion_tokens") if name in request.body
    }
    assert found == limit


@pytest.mark.parametrize("parameter", ["max_tokens", "stream_options", "grammar"])
def test_an_ask_is_one_request_whatever_the_endpoint_refuses(parameter):
    with scripted(Say(f"{parameter} is not supported", status=400)) as server:
        model = model_for("llamacpp/m", env={}, base_url=server.url, folder=HERE)
        reply = model.ask(Prompt("", "ask", grammar="root ::= [a-z]+"))
    assert (len(server.requests), reply.text) == (1, "")
    assert f"HTTP 400: {parameter} is not supported" in reply.again.refused


def test_the_other_limit_is_tried_once_when_the_endpoint_names_it():
    message = "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead."
    script = [Say(message, status=400, error={"param": "max_tokens"}), Say("yes")]
    reply, requests = asked("custom/o9", {}, script, tokens=80)
    assert reply.text == "yes"
    assert [("max_tokens" in each.body, "max_completion_tokens" in each.body) for each in requests] == [
        (True, False),
        (False, True),
    ]


def test_an_endpoint_that_refuses_both_limits_is_asked_twice_only():
    with (
        scripted(Say("max_tokens is wrong", status=400)) as server,
        pytest.raises(ModelFailed, match="max_tokens"),
    ):
        followed(model_for("custom/o9", env={}, base_url=server.url, folder=HERE), PROMPT)
    assert len(server.requests) == 2


def test_usage_is_not_asked_of_an_endpoint_that_refuses_to_count():
    detail = json.dumps(
        {"detail": [{"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}
    )
    reply, requests = asked("custom/m", {}, [Say(status=422, body=detail.encode()), Say("yes")])
    assert (reply.text, reply.counted) == ("yes", False)
    assert [("stream_options" in each.body) for each in requests] == [True, False]


def test_an_endpoint_that_takes_neither_gets_what_it_takes():
    script = [Say("stream_options?", status=400), Say("max_tokens?", status=400), Say("yes")]
    reply, requests = asked("custom/m", {}, script)
    assert reply.text == "yes"
    assert {"stream_options", "max_tokens"} & set(requests[-1].body) == set()


def test_the_time_limit_holds_over_both_tries():
    import time

    start = time.monotonic()
    script = [Say("max_tokens?", status=400, delay_s=0.4), Say("late", delay_s=9)]
    with scripted(script) as server, pytest.raises(ModelFailed):
        followed(model_for("custom/m", env={}, base_url=server.url, folder=HERE), PROMPT, within_s=0.8)
    assert time.monotonic() - start < 2


def test_llama_cpp_is_told_the_grammar():
    _, (request,) = asked("llamacpp/smol", {}, [Say("yes")], grammar="root ::= [a-z]+")
    assert request.body["grammar"] == "root ::= [a-z]+"


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_has_two_names_among_local_servers(name):
    def chunk(delta, finish=None):
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps({'id': '1', 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n"

    body = chunk({name: "hm"}) + chunk({"content": "yes"}) + chunk({}, "stop") + "data: [DONE]\n\n"
    reply, _ = asked("vllm/m", {}, [Say(body=body.encode(), headers={"content-type": "text/event-stream"})])
    assert reply.text == "yes"


def events(*pieces):
    """Return a stream of these pieces of JSON text, as they are."""
    form = 'data: {"id": "1", "choices": [{"index": 0, "delta": {"content": "%s"}, "finish_reason": %s}]}\n\n'
    body = "".join(form % (piece, "null") for piece in pieces) + form % ("", '"stop"')
    return Say(body=body.encode(), headers={"content-type": "text/event-stream"})


def test_an_emoji_that_two_events_tore_apart_is_whole():
    reply, _ = asked("custom/m", {}, [events("yes \\ud83d", "\\ude42")])
    assert reply.text == "yes 🙂"


def test_half_an_emoji_is_a_mark_that_files_take():
    reply, _ = asked("custom/m", {}, [events("yes \\ud83d no")])
    assert reply.text == "yes \ufffd no"


def test_reasoning_in_very_many_blocks_is_left_out_at_once():
    import time

    from lamina.models.exchange import spoken

    start = time.monotonic()
    assert spoken("<think></think>" * 60_000 + "yes") == "yes"
    assert time.monotonic() - start < 1


def test_a_stream_without_an_end_is_cut():
    choice = {"index": 0, "delta": {"content": "- [fix] one"}, "finish_reason": None}
    body = f"data: {json.dumps({'id': '1', 'choices': [choice]})}\n\n".encode()
    reply, _ = asked("custom/m", {}, [Say(body=body, headers={"content-type": "text/event-stream"})])
    assert (reply.text, reply.cut) == ("- [fix] one", True)


def test_thoughts_and_caches_are_counted_as_they_are_paid_for():
    counts = {"promptTokenCount": 5, "candidatesTokenCount": 2, "thoughtsTokenCount": 40}
    content = {"content": {"parts": [{"text": "yes"}]}, "finishReason": "STOP"}
    body = f"data: {json.dumps({'candidates': [content], 'usageMetadata': counts})}\r\n\r\n".encode()
    say = Say(body=body, headers={"content-type": "text/event-stream"})
    reply, _ = asked("gemini/g", {"GEMINI_API_KEY": KEY}, [say])
    assert (reply.tokens_in, reply.tokens_out) == (5, 42)


def test_a_blocked_prompt_is_told():
    body = b'data: {"promptFeedback": {"blockReason": "SAFETY"}}\r\n\r\n'
    say = Say(body=body, headers={"content-type": "text/event-stream"})
    with pytest.raises(ModelFailed, match="blocked"):
        asked("gemini/g", {"GEMINI_API_KEY": KEY}, [say])


@pytest.mark.parametrize(
    "headers, seconds",
    [
        ({"retry-after": "12"}, 12.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "250"}, 0.25),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "99999999999"}, 7 * 24 * 3600.0),
        ({}, None),
    ],
)
def test_the_wish_to_wait_is_read_in_seconds(headers, seconds):
    with pytest.raises(ModelFailed) as caught:
        asked("custom/m", {}, [Say("wait", status=429, headers=headers)])
    assert caught.value.retry_after_s == seconds


def test_the_wish_to_wait_may_be_a_date():
    from datetime import UTC, datetime, timedelta
    from email.utils import format_datetime

    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    with pytest.raises(ModelFailed) as caught:
        asked("custom/m", {}, [Say("wait", status=503, headers={"retry-after": date})])
    assert 80 < caught.value.retry_after_s <= 91


def test_google_says_in_the_body_how_long_to_wait():
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "33.5s"}]
    with pytest.raises(ModelFailed) as caught:
        asked("gemini/g", {"GEMINI_API_KEY": KEY}, [Say("quota", status=429, error={"details": details})])
    assert caught.value.retry_after_s == 33.5


def test_a_stream_that_falls_silent_ends_before_the_time_limit():
    import time

    from lamina.models.openai import OpenAI
    from lamina.models.routes import Endpoint

    def stall(raw, peer):
        raw.send(peer, b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        raw.send(peer, b": ping\n\n", every_s=8)

    start = time.monotonic()
    with listening(stall) as raw, pytest.raises(ModelFailed, match="fell silent"):
        OpenAI(Endpoint("custom/m", "m", raw.url, keyless=True), silence_s=0.3).ask(PROMPT, within_s=30)
    assert time.monotonic() - start < 3
