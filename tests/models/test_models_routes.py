"""Names of routes and addresses of providers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.errors import BadSetting
from lamina.models.routes import PROVIDERS, address, is_loopback, ollama_url, parse_route


@pytest.mark.parametrize(
    "text, provider, model",
    [
        ("openai/gpt-5-mini", "openai", "gpt-5-mini"),
        ("ollama/qwen3:8b", "ollama", "qwen3:8b"),
        ("openrouter/deepseek/deepseek-chat", "openrouter", "deepseek/deepseek-chat"),
        (" Anthropic/claude-haiku-4-5\n", "anthropic", "claude-haiku-4-5"),
        ("ollama/hf.co/unsloth/Qwen3-GGUF:Q4_K_M", "ollama", "hf.co/unsloth/Qwen3-GGUF:Q4_K_M"),
        ("custom/模型", "custom", "模型"),
        ("host/claude-code", "host", "claude-code"),
    ],
)
def test_a_route_is_read_up_to_the_first_slash(text, provider, model):
    assert parse_route(text) == (provider, model)


@pytest.mark.parametrize(
    "text, hint",
    [
        ("opnai/gpt-5-mini", "openai/gpt-5-mini"),
        ("google/gemini-3.5-flash-lite", "gemini/"),
        ("claude/claude-haiku-4-5", "anthropic/"),
        ("gpt-5-mini", "openai/gpt-5-mini"),
        ("", "provider/model"),
        ("/", "provider/model"),
        ("anthropic", "anthropic/claude-haiku-4-5"),
        ("anthropic/ ", "anthropic/claude-haiku-4-5"),
        ("host/", "host/claude-code"),
        ("openai/a b", "provider/model"),
        ("openai/a\nb", "provider/model"),
        ("openai/" + "a" * 500, "provider/model"),
    ],
)
def test_what_is_no_route_is_refused_with_an_example(text, hint):
    with pytest.raises(BadSetting) as caught:
        parse_route(text)
    assert hint in caught.value.hint
    assert len(caught.value.message) < 150


@given(st.text(st.characters(exclude_categories=()), max_size=40))
def test_any_text_is_a_route_or_a_bad_setting(text):
    try:
        route = parse_route(text)
    except BadSetting:
        return
    assert parse_route(route.name) == route


@pytest.mark.parametrize(
    "host, url",
    [
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8080", "http://127.0.0.1:8080"),
        (":8080", "http://127.0.0.1:8080"),
        ("", "http://127.0.0.1:11434"),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("gpu.lan", "http://gpu.lan:11434"),
        ("gpu.lan:1234", "http://gpu.lan:1234"),
        ("http://gpu.lan", "http://gpu.lan"),
        ("https://gpu.lan/ollama", "https://gpu.lan/ollama"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("::1", "http://[::1]:11434"),
        ("[::]", "http://[::1]:11434"),
        ('"127.0.0.1:11434"', "http://127.0.0.1:11434"),
    ],
)
def test_ollamas_variable_is_read_as_ollama_reads_it(host, url):
    assert ollama_url(host) == url


@pytest.mark.parametrize(
    "provider, given, url",
    [
        ("openai", "http://127.0.0.1:8000", "http://127.0.0.1:8000/v1"),
        ("openai", "http://127.0.0.1:8000/", "http://127.0.0.1:8000/v1"),
        ("openai", "https://host/api/v1/chat/completions", "https://host/api/v1"),
        ("openai", "https://host/deep/path/", "https://host/deep/path"),
        ("custom", "http://[::1]:9", "http://[::1]:9/v1"),
        ("anthropic", "https://host/v1", "https://host"),
        ("anthropic", "https://host/v1/messages", "https://host"),
        ("anthropic", "https://host/anthropic/", "https://host/anthropic"),
        ("gemini", "https://host/v1beta", "https://host"),
        ("deepseek", "https://host", "https://host"),
    ],
)
def test_an_address_is_completed_for_its_protocol(provider, given, url):
    assert address(PROVIDERS[provider], {}, given) == (url, "model_base_url")


@pytest.mark.parametrize(
    "url",
    [
        "host:8000",
        "ftp://host",
        "http://",
        "http://me:pw@host/v1",
        "http://@host",
        "http://host:99999",
        "http://host:0",
        "http://ho st",
        "http://host/v1?key=x",
        "http://host\n/v1",
        "file:///etc/passwd",
        "C:\\models",
    ],
)
def test_what_is_no_address_is_refused_without_repeating_it(url):
    with pytest.raises(BadSetting) as caught:
        address(PROVIDERS["openai"], {}, url)
    assert "pw" not in caught.value.message + caught.value.hint


@given(st.text(max_size=40))
def test_any_text_is_an_address_or_a_bad_setting(text):
    for name in ("openai", "anthropic", "gemini"):
        try:
            found = address(PROVIDERS[name], {"OPENAI_BASE_URL": ""}, text)
        except BadSetting:
            continue
        assert found.url.startswith(("http://", "https://"))


@given(st.text(max_size=30))
def test_any_ollama_host_is_an_address_or_a_bad_setting(text):
    try:
        assert address(PROVIDERS["ollama"], {"OLLAMA_HOST": text}).url.startswith("http")
    except BadSetting:
        return


@pytest.mark.parametrize(
    "host, here",
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("a.localhost", True),
        ("localhost.example.org", False),
        ("10.0.0.1", False),
        ("127.0.0.1.example.org", False),
        ("", False),
    ],
)
def test_this_machine_is_known_by_its_own_addresses(host, here):
    assert is_loopback(host) is here


def test_every_provider_is_named_by_itself_and_reachable():
    for name, provider in PROVIDERS.items():
        assert provider.name == name
        assert provider.url.startswith(("https://", "http://127.0.0.1")) or name in ("custom", "host")
        assert provider.keys or name == "host"
