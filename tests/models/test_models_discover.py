"""What is found on a machine, and that nothing is sent while finding it."""

from __future__ import annotations

import time

import pytest
from tests.models.raw import listening
from tests.models.scripted import Say, scripted

from lamina.models.discover import COMMANDS, found
from lamina.models.routes import PROVIDERS, parse_route

NOWHERE = "http://127.0.0.1:9"
"""Nobody listens on the discard port."""


def routes(env, **more):
    return [each.route for each in found(env, **{"which": lambda _: None, "local": (), **more})]


def test_a_key_offers_one_model_of_its_vendor():
    env = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "y", "GOOGLE_API_KEY": "z", "MISTRAL_API_KEY": "  "}
    assert routes(env) == ["openai/gpt-5-mini", "anthropic/claude-haiku-4-5", "gemini/gemini-3.5-flash-lite"]


def test_a_reason_names_the_variable_and_not_the_key():
    (only,) = found({"GOOGLE_API_KEY": "very" + "-secret"}, which=lambda _: None, local=())
    assert only.why == "GOOGLE_API_KEY is set"


def test_installed_commands_are_offered():
    assert routes({}, which=lambda name: f"/bin/{name}") == list(COMMANDS.values())
    assert routes({}, which=lambda name: "/bin/codex" if name == "codex" else None) == ["host/codex"]


def test_ollama_lists_its_models_and_gets_no_prompt():
    with scripted(Say("caught"), models=["qwen3:8b", "gemma3"]) as server:
        assert routes({"OLLAMA_HOST": server.url}, local=["ollama"]) == ["ollama/qwen3:8b", "ollama/gemma3"]
    assert [(each.method, each.path) for each in server.requests] == [("GET", "/api/tags")]


@pytest.mark.parametrize(
    "provider, variable",
    [("llamacpp", "LLAMACPP_BASE_URL"), ("vllm", "VLLM_BASE_URL"), ("lmstudio", "LMSTUDIO_BASE_URL")],
)
def test_local_servers_list_their_models(provider, variable):
    with scripted(Say("caught"), models=["Qwen/Qwen3-8B"]) as server:
        assert routes({variable: server.url}, local=[provider]) == [f"{provider}/Qwen/Qwen3-8B"]
    assert [(each.method, each.path) for each in server.requests] == [("GET", "/v1/models")]


def test_no_key_and_no_prompt_goes_out_with_every_variable_set():
    secret = "very" + "-secret"
    with scripted(Say("caught"), models=["m"]) as server:
        env = {name: secret for each in PROVIDERS.values() for name in each.keys}
        env |= {name: server.url for each in PROVIDERS.values() for name in each.addresses}
        env |= {"http_proxy": server.url, "HTTPS_PROXY": server.url}
        listed = routes(env, local=["ollama", "llamacpp", "vllm", "lmstudio"])
    assert len(server.requests) == 4
    assert server.asked == []
    assert secret not in str([(each.path, each.headers, each.body) for each in server.requests])
    assert {parse_route(each).provider for each in listed} >= {
        "openai",
        "anthropic",
        "gemini",
        "ollama",
        "vllm",
    }


def test_another_machine_is_named_and_not_asked():
    (only,) = found({"OLLAMA_HOST": "192.0.2.1:11434"}, which=lambda _: None, local=["ollama"])
    assert parse_route(only.route).provider == "ollama"
    assert "192.0.2.1:11434" in only.why


def test_a_redirect_to_another_server_is_not_followed():
    with scripted(Say("caught"), models=["m"]) as other:

        def send(raw, peer):
            raw.send(peer, f"HTTP/1.1 302 Found\r\nlocation: {other.url}/api/tags\r\n\r\n".encode())

        with listening(send) as raw:
            assert routes({"OLLAMA_HOST": raw.url}, local=["ollama"]) == []
    assert other.requests == []


def test_what_does_not_answer_in_time_is_not_waited_for():
    start = time.monotonic()
    with listening(lambda raw, peer: raw.send(peer, b"H", times=100, every_s=0.1)) as raw:
        assert routes({"OLLAMA_HOST": raw.url}, local=["ollama"], within_s=0.3) == []
        assert time.monotonic() - start < 1


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b"5",
        b'{"models": 5}',
        b'{"models": [5, {}, {"name": 7}]}',
        b"[" * 90_000,
        b"\xff\x00",
    ],
)
def test_what_is_no_list_of_models_offers_none(body):
    def answer(raw, peer):
        raw.send(peer, b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))

    with listening(answer) as raw:
        assert routes({"OLLAMA_HOST": raw.url}, local=["ollama"]) == []


def test_names_that_are_no_names_and_too_many_are_left_out():
    names = ["good", "good", "bad name", "bad\nname", "x" * 900, *(f"m{n}" for n in range(500))]
    with scripted(models=names) as server:
        listed = routes({"OLLAMA_HOST": server.url}, local=["ollama"])
    assert listed[:2] == ["ollama/good", "ollama/m0"]
    assert len(listed) == 50


def test_an_address_that_is_none_is_no_route():
    assert routes({"OLLAMA_HOST": "http://me:pw@127.0.0.1"}, local=["ollama"]) == []
    assert routes({"OLLAMA_HOST": NOWHERE}, local=["ollama"]) == []


def test_all_that_is_found_can_be_named_as_a_route():
    env = {name: "x" for each in PROVIDERS.values() for name in each.keys}
    for each in found(env, which=lambda name: f"/bin/{name}", local=()):
        assert parse_route(each.route).name == each.route
