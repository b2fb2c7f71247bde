"""From a route to a model: what the environment given decides, and what the process's own must not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.models.laws import KEY, PROMPT
from tests.models.scripted import Say, scripted

from lamina.errors import BadSetting, ModelFailed
from lamina.models.choose import model_for
from lamina.models.routes import PROVIDERS

HERE = Path("/nowhere")
KEYS = {
    "openai": "OPENAI_API_KEY",
    "anthropic": "ANTHROPIC_API_KEY",
    "gemini": "GEMINI_API_KEY",
}
DECOY = "decoy" + "-0123456789"


@pytest.mark.parametrize(
    "name", [name for name, each in PROVIDERS.items() if not each.local and each.kind != "host"]
)
def test_a_vendor_without_its_key_names_the_variable(name):
    model = model_for(f"{name}/some", env={}, folder=HERE)
    with pytest.raises(ModelFailed, match=f"{PROVIDERS[name].keys[0]} is not set"):
        model.ask(PROMPT)


@pytest.mark.parametrize("provider", KEYS)
def test_what_stands_in_the_process_environment_does_not_count(provider, monkeypatch, tmp_path):
    with scripted(Say("caught")) as trap, scripted(Say("yes")) as server:
        for name, value in decoys(trap.url, tmp_path).items():
            monkeypatch.setenv(name, value)
        model = model_for(f"{provider}/m", env={KEYS[provider]: KEY}, base_url=server.url, folder=HERE)
        assert model.ask(PROMPT).text == "yes"
    assert trap.requests == []
    told = str(server.requests[0].headers) + server.requests[0].path
    assert DECOY not in told
    assert KEY in told


@pytest.mark.parametrize("provider", KEYS)
def test_without_a_key_no_other_way_to_sign_in_is_tried(provider, monkeypatch, tmp_path):
    with scripted(Say("caught")) as trap, scripted(Say("yes")) as server:
        for name, value in decoys(trap.url, tmp_path).items():
            monkeypatch.setenv(name, value)
        assert model_for(f"{provider}/m", env={}, base_url=server.url, folder=HERE).ask(PROMPT).text == "yes"
    assert trap.requests == []
    assert DECOY not in str(server.requests[0].headers)


def decoys(url, folder):
    """Everything that the vendors' clients read by themselves, pointing elsewhere."""
    custom = f"Authorization: Bearer {DECOY}\nX-Api-Key: {DECOY}\nX-Other: {DECOY}"
    named = {f"{name}_proxy": url for name in ("http", "https", "all")}
    return {
        **named,
        **{name.upper(): value for name, value in named.items()},
        **dict.fromkeys(("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"), DECOY),
        **dict.fromkeys(("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE"), DECOY),
        **dict.fromkeys(("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_CLOUD_PROJECT"), DECOY),
        **dict.fromkeys(("OPENAI_CUSTOM_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"), custom),
        **dict.fromkeys(("OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GOOGLE_GEMINI_BASE_URL"), url),
        "ANTHROPIC_CONFIG_DIR": str(folder),
        "GOOGLE_APPLICATION_CREDENTIALS": str(folder / "none.json"),
        "GOOGLE_CLOUD_LOCATION": "nowhere",
        "GOOGLE_GENAI_USE_VERTEXAI": "true",
        "GOOGLE_GENAI_USE_ENTERPRISE": "true",
        "GOOGLE_GENAI_API_VERSION": DECOY,
    }


@pytest.mark.parametrize(
    "route, variable",
    [
        ("openai/m", "OPENAI_BASE_URL"),
        ("anthropic/m", "ANTHROPIC_BASE_URL"),
        ("gemini/m", "GOOGLE_GEMINI_BASE_URL"),
        ("gemini/m", "GEMINI_BASE_URL"),
        ("ollama/m", "OLLAMA_HOST"),
        ("deepseek/m", "DEEPSEEK_BASE_URL"),
    ],
)
def test_the_vendors_own_variable_points_elsewhere_and_the_setting_wins(route, variable):
    with scripted(Say("variable")) as first, scripted(Say("setting")) as second:
        env = {variable: first.url}
        assert model_for(route, env=env, folder=HERE).ask(PROMPT).text == "variable"
        assert model_for(route, env=env, base_url=second.url, folder=HERE).ask(PROMPT).text == "setting"


def test_a_key_goes_to_no_other_machine_in_the_clear():
    model = model_for("openai/m", env={"OPENAI_API_KEY": KEY}, base_url="http://192.0.2.1/v1", folder=HERE)
    with pytest.raises(ModelFailed, match="unencrypted"):
        model.ask(PROMPT)


def test_a_local_servers_key_stays_here_in_the_clear():
    with scripted(Say("yes")) as proxy:
        env = {"OLLAMA_HOST": "gpu.invalid", "OLLAMA_API_KEY": KEY, "http_proxy": proxy.url}
        assert model_for("ollama/qwen3", env=env, folder=HERE).ask(PROMPT).text == "yes"
    assert KEY not in str(proxy.requests[0].headers)


def test_a_key_for_a_custom_server_is_sent_where_the_person_says():
    with scripted(Say("yes")) as proxy:
        env = {"LAMINA_MODEL_KEY": KEY, "http_proxy": proxy.url}
        model_for("custom/m", env=env, base_url="http://gpu.invalid/v1", folder=HERE).ask(PROMPT)
    assert proxy.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_a_host_is_a_model_and_an_unknown_one_is_refused(tmp_path):
    assert model_for("host/codex", env={}, folder=tmp_path).route == "host/codex"
    with pytest.raises(BadSetting):
        model_for("host/nobody", env={}, folder=tmp_path)


def test_what_is_no_key_is_not_sent():
    with scripted(Say("yes")) as server, pytest.raises(ModelFailed, match="is no key"):
        model_for("openai/m", env={"OPENAI_API_KEY": "a\nb: c"}, base_url=server.url, folder=HERE).ask(PROMPT)
    assert server.requests == []


def test_a_proxy_stands_before_other_machines_only(monkeypatch):
    with scripted(Say("through the proxy")) as proxy, scripted(Say("direct")) as server:
        env = {"http_proxy": proxy.url, "all_proxy": proxy.url, "LAMINA_MODEL_KEY": KEY}
        near = model_for("custom/m", env=env, base_url=server.url, folder=HERE)
        far = model_for("custom/m", env=env, base_url="http://models.invalid/v1", folder=HERE)
        assert near.ask(PROMPT).text == "direct"
        assert far.ask(PROMPT).text == "through the proxy"


@pytest.mark.parametrize(
    "proxy", ["socks5://127.0.0.1:9", "http://[", "gopher://x", "http://me:pw@127.0.0.1:9"]
)
def test_a_proxy_that_cannot_be_used_is_a_failure_of_this_model(proxy):
    model = model_for("custom/m", env={"http_proxy": proxy}, base_url="http://models.invalid/v1", folder=HERE)
    with pytest.raises(ModelFailed) as caught:
        model.ask(PROMPT, within_s=5)
    assert "me:pw" not in caught.value.message


def test_a_certificate_file_that_is_missing_is_a_failure_of_this_model():
    env = {"SSL_CERT_FILE": "/nowhere/ca.pem"}
    with pytest.raises(ModelFailed):
        model_for("custom/m", env=env, base_url="https://127.0.0.1:9/v1", folder=HERE).ask(PROMPT, within_s=5)


def test_an_endpoint_that_speaks_no_tls_is_a_failure():
    with scripted(Say("yes")) as server:
        model = model_for("custom/m", env={}, base_url=server.url.replace("http:", "https:"), folder=HERE)
        with pytest.raises(ModelFailed):
            model.ask(PROMPT, within_s=5)


def test_a_custom_provider_needs_an_address():
    with pytest.raises(BadSetting, match="address"):
        model_for("custom/m", env={}, folder=HERE)


def test_choosing_loads_no_client():
    code = (
        "import sys; from pathlib import Path; from lamina.models.choose import model_for; import lamina.models.discover\n"
        "for route in ('openai/a', 'anthropic/b', 'gemini/c', 'ollama/d'): model_for(route, env={}, folder=Path('/'))\n"
        "print(sorted({'openai', 'anthropic', 'google', 'httpx', 'httpx2', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"
