"""Which models a memory asks: those that the person named, and no other, whatever is on the machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.models.scripted import Say, scripted
from tests.pipeline.opening import Clock, opened

from lamina import errors
from lamina.formats.standing import Standing
from lamina.memory import Memory, distilling, models
from lamina.models.base import Prompt, Reply
from lamina.models.discover import COMMANDS
from lamina.models.routes import PROVIDERS
from lamina.store import meter, standing
from lamina.store.layout import Layout

ASKED = Prompt("Summarise.", "The pier is 80 m long.")
SESSIONS = Path(__file__).parents[1] / "examples" / "sessions"


def key() -> str:
    return "sk-" + "test-" + "k3y" * 9


def baited(url: str, folder: Path) -> dict[str, str]:
    """Return an environment with every vendor's key, every address at one server, and every host's program."""
    bin_ = folder / "bin"
    bin_.mkdir()
    for name in [*COMMANDS, "claude", "codex", "gemini", "opencode", "qwen", "ollama"]:
        program = bin_ / name
        program.write_text(f'#!/bin/sh\necho "$0 $*" >> {folder / "started"}\necho "- a fact"\n')
        program.chmod(0o700)
    keys = {name: key() for provider in PROVIDERS.values() for name in provider.keys}
    addresses = {name: url for provider in PROVIDERS.values() for name in provider.addresses}
    addresses["OLLAMA_HOST"] = url
    return {**keys, **addresses, "PATH": f"{bin_}:{os.environ['PATH']}", "HOME": str(folder / "home")}


@pytest.fixture
def trap(tmp_path):
    (tmp_path / "home").mkdir()
    with scripted(Say("- a fact"), models=["qwen3"]) as server:
        yield server, baited(server.url, tmp_path), tmp_path


def lamina(env, folder, *arguments) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "lamina", *arguments],
        env={"PYTHONDONTWRITEBYTECODE": "1", **env},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
def test_no_model_is_asked_that_the_person_did_not_name(trap):
    server, env, folder = trap
    for command in (
        ["import", str(SESSIONS)],
        ["remember", "The staging port is 8081"],
        ["consolidate"],
        ["tick"],
        ["search", "staging", "port"],
        ["card"],
        ["status"],
        ["doctor"],
        ["config"],
    ):
        done = lamina(env, folder, *command)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert server.requests == []
    assert not (folder / "started").exists()
    assert not (folder / "home" / ".lamina" / "state" / "usage").exists()
    found = json.loads(lamina(env, folder, "config", "models", "--json").stdout)
    assert {"openai/gpt-5-mini", "ollama/qwen3", "host/claude-code"} <= {
        row["route"] for row in found["routes"]
    }
    assert not any(row["permitted"] for row in found["routes"])
    assert server.requests, "the trap itself does not work"
    assert not server.asked
    assert not (folder / "started").exists()


def test_without_a_name_there_is_nobody_to_ask(trap, tmp_path):
    server, env, _folder = trap
    memory = opened(tmp_path, env=env)
    assert memory._at.asker is None
    assert models.waiting(memory._at) == ""
    assert server.requests == []


def test_making_one_that_asks_sends_nothing_and_looks_for_nothing(trap, tmp_path):
    server, env, _folder = trap
    memory = opened(tmp_path, env=env | {"LAMINA_MODEL_ROUTES": "auto", "LAMINA_MODEL": "openai/gpt-5-mini"})
    assert memory._at.asker.waiting() == ""
    assert memory.status()["models"]["named"] == ["openai/gpt-5-mini", "auto"]
    assert server.requests == []


def test_the_named_one_alone_is_asked(trap, tmp_path):
    server, env, folder = trap
    memory = opened(tmp_path, env=env | {"LAMINA_MODEL": "openai/gpt-5-mini"})
    memory.init()
    answer = memory._at.asker.ask("summarise", ASKED, own="anthropic/claude-haiku-4-5")
    assert (answer.route, answer.reply.text) == ("openai/gpt-5-mini", "- a fact")
    assert [request.kind for request in server.requests] == ["openai"]
    assert not (folder / "started").exists()
    used = memory.status()["models"]
    assert (used["calls"], used["today"]["calls"], used["by_purpose"]["summarise"]["calls"]) == (1, 1, 1)
    assert used["routes"][0]["route"] == "openai/gpt-5-mini"
    assert (used["cost"], used["unpriced"]) == (0, 0), "an endpoint on this machine costs nothing"


def test_auto_looks_once_in_a_process_and_only_for_a_question(trap, tmp_path):
    server, env, folder = trap
    env |= {"LAMINA_MODEL_ROUTES": "auto"}
    for number in range(3):
        memory = opened(tmp_path, env=env, project=f"p{number}")
        memory._at.asker.ask("summarise", ASKED)
    looks = [request for request in server.requests if request.method == "GET"]
    assert 0 < len(looks) <= 4
    assert len(server.asked) == 3
    assert not (folder / "started").exists()


def test_auto_looks_for_nothing_while_the_named_model_or_the_last_winner_answers(trap, tmp_path):
    server, env, folder = trap
    env |= {"LAMINA_MODEL_ROUTES": "auto", "LAMINA_MODEL": "mistral/small"}
    asker = opened(tmp_path, env=env)._at.asker
    assert asker.ask("summarise", ASKED, own="ollama/qwen3").route == "mistral/small"
    assert {request.method for request in server.requests} == {"POST"}
    models._found.cache_clear()
    env.pop("LAMINA_MODEL")
    first = opened(tmp_path, env=env)._at.asker.ask("summarise", ASKED, own="ollama/qwen3").route
    assert first == "ollama/qwen3"
    models._found.cache_clear()
    server.requests.clear()
    assert opened(tmp_path, env=env)._at.asker.ask("summarise", ASKED).route == first
    assert [request.method for request in server.requests] == ["POST"]
    assert not (folder / "started").exists()


WATCHED = """
import sys
told = []
def hear(event, given):
    if event == "socket.getaddrinfo" or event == "socket.connect" and isinstance(given[1], tuple):
        told.append(f"{event} {given[1:2]}")
sys.addaudithook(hear)
from lamina.interfaces.cli.main import answer
code = answer(sys.argv[1:])
print(*told, sep=chr(10), file=sys.stderr)
clients = {"openai", "anthropic", "google.genai", "httpx2", "lamina.models.wire", "lamina.models.discover"}
print("loaded", *sorted(clients & set(sys.modules)), file=sys.stderr)
raise SystemExit(code)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
@pytest.mark.parametrize("command", [["status"], ["search", "staging", "port"], ["card"]])
def test_looking_loads_no_client_and_connects_to_nobody_whatever_may_be_asked(trap, command):
    server, env, folder = trap
    assert lamina(env, folder, "remember", "The staging port is 8081").returncode == 0
    env |= {
        "LAMINA_MODEL_ROUTES": "auto",
        "LAMINA_MODEL": "openai/gpt-5-mini",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    assert watched(env, folder, *command) == ["loaded"]
    assert (server.requests, (folder / "started").exists()) == ([], False)
    connected = watched(env, folder, "config", "models")
    assert len(connected) > 1, "the watch itself does not work"
    assert "lamina.models.discover" in connected[-1]


def watched(env, folder, *command) -> list[str]:
    """Run a command; return what it connected to and which clients it loaded."""
    ran = subprocess.run(
        [sys.executable, "-c", WATCHED, *command],
        env=env,
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return [line for line in ran.stderr.splitlines() if line.startswith(("socket", "loaded"))]


@pytest.mark.parametrize("route", ["openai/gpt-5-pro", "custom/x", "host/other", "nobody/x", "x", ""])
def test_a_standing_that_somebody_else_wrote_permits_no_model(trap, tmp_path, route):
    server, env, _folder = trap
    env |= {"LAMINA_MODEL_ROUTES": "auto", "LAMINA_MODEL_BASE_URL": server.url}
    memory = opened(tmp_path, env=env)
    wishes = models.permitted(memory._at).wishes
    standing.change(Layout(memory.root), lambda _: Standing(route, memory._at.clock(), wishes))
    assert memory._at.asker.ask("summarise", ASKED).route != route
    assert "gpt-5-pro" not in str([request.body for request in server.requests])


def test_the_sessions_own_route_is_asked_before_the_others_if_it_is_permitted(trap, tmp_path):
    _server, env, _folder = trap
    env |= {"LAMINA_MODEL_ROUTES": "openai/gpt-5-mini, anthropic/claude-haiku-4-5"}
    asker = opened(tmp_path, env=env)._at.asker
    assert (
        asker.ask("summarise", ASKED, own="anthropic/claude-haiku-4-5").route == "anthropic/claude-haiku-4-5"
    )
    assert asker.ask("summarise", ASKED, own="gemini/gemini-3.5-flash").route == "anthropic/claude-haiku-4-5"


def test_the_address_of_the_settings_is_for_the_named_model_alone(tmp_path):
    with scripted([Say(status=500)]) as named, scripted(Say("yes")) as other:
        env = {
            "LAMINA_MODEL": "custom/small",
            "LAMINA_MODEL_BASE_URL": named.url,
            "LAMINA_MODEL_ROUTES": "vllm/large",
            "VLLM_BASE_URL": other.url,
        }
        memory = opened(tmp_path, env=env)
        assert memory._at.asker.ask("summarise", ASKED).route == "vllm/large"
        assert (len(named.asked), len(other.asked)) == (1, 1)


@pytest.mark.parametrize(
    ("named", "model"),
    [
        ("openai/gpt-5-mini", "custom/foo"),
        ("anthropic/claude-haiku-4-5", "custom/foo"),
        ("gemini/gemini-3.5-flash", "openai/gpt-5-mini"),
        ("ollama/qwen3", "custom/foo"),
        ("custom/bar", "custom/foo"),
        ("openai/gpt-5-mini", ""),
        ("OpenAI/gpt-5-mini", "custom/foo"),
    ],
)
@pytest.mark.parametrize("how", ["for one command", "as another route"])
def test_nothing_and_no_key_goes_to_the_address_of_another_model(trap, tmp_path, named, model, how):
    vendor, env, _folder = trap
    with scripted(Say(status=500)) as foreign:
        env |= {"LAMINA_MODEL": model, "LAMINA_MODEL_BASE_URL": foreign.url}
        if how == "as another route":
            asker = opened(tmp_path, env=env | {"LAMINA_MODEL_ROUTES": named})._at.asker
        else:
            asker = distilling.asker_for(opened(tmp_path, env=env)._at, named)
        with suppress(errors.NoModelAnswered):
            asker.ask("summarise", ASKED)
    meant = [model.partition("/")[2]] if model and how == "as another route" else []
    assert [request.body["model"] for request in foreign.requests] == meant
    assert len(vendor.asked) == (0 if named == "custom/bar" else 1)


@pytest.mark.parametrize("named", ["custom/foo", "Custom/foo", "vllm/foo"])
@pytest.mark.parametrize("model", ["", "the same"])
def test_the_address_of_the_settings_holds_for_the_model_itself_and_for_a_local_one_where_none_is_set(
    trap, tmp_path, named, model
):
    vendor, env, _folder = trap
    with scripted(Say("- a fact")) as own:
        env |= {"LAMINA_MODEL": named if model else "", "LAMINA_MODEL_BASE_URL": own.url}
        asker = distilling.asker_for(opened(tmp_path, env=env)._at, named)
        assert asker.ask("summarise", ASKED).reply.text == "- a fact"
        env |= {"LAMINA_MODEL": "", "LAMINA_MODEL_ROUTES": named}
        assert opened(tmp_path, env=env)._at.asker.ask("summarise", ASKED).reply.text == "- a fact"
    assert (len(own.asked), vendor.requests) == (2, [])


def test_what_is_found_on_this_machine_is_asked_where_it_was_found(tmp_path):
    with scripted(Say("caught")) as foreign, scripted(Say("- a fact"), models=["qwen3"]) as here:
        env = {"LAMINA_MODEL_ROUTES": "auto", "LAMINA_MODEL_BASE_URL": foreign.url, "OLLAMA_HOST": here.url}
        env |= dict.fromkeys(
            ("LLAMACPP_BASE_URL", "VLLM_BASE_URL", "LMSTUDIO_BASE_URL"), "http://127.0.0.1:9"
        )
        assert opened(tmp_path, env=env)._at.asker.ask("summarise", ASKED).route == "ollama/qwen3"
    assert (foreign.requests, len(here.asked)) == ([], 1)


@pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")
def test_a_command_sends_no_key_to_the_address_of_another_model(trap):
    vendor, env, folder = trap
    with scripted(Say("caught")) as foreign:
        env |= {"LAMINA_MODEL": "custom/foo", "LAMINA_MODEL_BASE_URL": foreign.url}
        done = lamina(env, folder, "import", str(SESSIONS), "--model", "openai/gpt-5-mini")
        assert "Traceback" not in done.stderr
    assert foreign.requests == []
    assert vendor.asked


@pytest.mark.parametrize(
    "say", [Say(reasoning="hm"), Say("max_tokens?", status=400), Say("grammar?", status=400)]
)
@pytest.mark.parametrize("cap", [1, 2, 9])
def test_the_server_gets_no_request_that_is_not_counted(tmp_path, say, cap):
    env = {"LAMINA_MODEL": "llamacpp/m", "LAMINA_MODEL_DAILY_CALLS": str(cap)}
    with scripted(say) as server:
        memory = opened(tmp_path, env=env | {"LAMINA_MODEL_BASE_URL": server.url})
        memory.init()
        for _ in range(3):
            with suppress(errors.NoModelAnswered, errors.CapReached):
                memory._at.asker.ask("summarise", replace(ASKED, grammar='root ::= "a"'))
    assert len(server.asked) == memory.status()["models"]["calls"] == min(cap, 6)


def test_a_route_without_its_key_or_program_is_told_and_counts_as_no_call(tmp_path):
    env = {"LAMINA_MODEL": "openai/gpt-5-mini", "LAMINA_MODEL_ROUTES": "host/codex", "PATH": str(tmp_path)}
    memory = opened(tmp_path, env=env)
    with pytest.raises(
        errors.NoModelAnswered, match=r"openai/gpt-5-mini: .*OPENAI_API_KEY.*codex is not on PATH"
    ):
        memory._at.asker.ask("summarise", ASKED)
    assert not Layout(memory.root).state.joinpath("usage").exists()


def test_a_name_that_is_none_in_the_environment_is_told_when_it_is_asked(tmp_path):
    memory = opened(tmp_path, env={"LAMINA_MODEL": "gpt-5-mini"})
    with pytest.raises(errors.NoModelAnswered, match="names no model"):
        memory._at.asker.ask("summarise", ASKED)
    assert memory.status()["models"]["waiting"]


def test_a_lent_function_is_the_only_one(trap, tmp_path):
    server, env, _folder = trap
    asked = []

    def my_model(text: str) -> str:
        asked.append(text)
        return "- a fact"

    env |= {"LAMINA_MODEL": "openai/gpt-5-mini", "LAMINA_MODEL_ROUTES": "auto"}
    with opened(tmp_path, env=env, model=my_model) as memory:
        answer = memory._at.asker.ask("summarise", ASKED, own="openai/gpt-5-mini")
        assert answer.route == "lent/my_model"
        assert asked == ["Summarise.\n\nThe pier is 80 m long."]
        assert server.requests == []
        used = memory.status()["models"]
        assert (used["named"], used["calls"], used["unpriced"]) == (["lent/my_model"], 1, 1)


class Sampling:
    """A model of somebody else's, as an MCP client offers one."""

    route = "sampling/client"

    def ask(self, prompt: Prompt, *, within_s: float = 0) -> Reply:
        return Reply(f"{prompt.system}|{within_s}")


def test_a_model_can_be_lent_too(tmp_path):
    memory = opened(tmp_path, model=Sampling(), env={"LAMINA_MODEL_TIMEOUT_S": "7"})
    answer = memory._at.asker.ask("rerank", ASKED)
    assert (answer.route, answer.reply.text) == ("lent/sampling/client", "Summarise.|7")


@pytest.mark.parametrize("name", ["throws", "gives nothing", "gives None", "has no name"])
def test_a_function_that_misbehaves_is_skipped_like_any_other(tmp_path, name):
    class Odd(Exception):
        pass

    def throws(_: str) -> str:
        raise Odd("no luck today")

    function = {
        "throws": throws,
        "gives nothing": lambda _: " ",
        "gives None": lambda _: None,
        "has no name": lambda _: "- a fact",
    }[name]
    asker = opened(tmp_path, model=function)._at.asker
    if name == "has no name":
        assert asker.ask("summarise", ASKED).route == "lent/lambda"
        return
    with pytest.raises(errors.NoModelAnswered, match=r"no luck today|nothing|NoneType") as told:
        asker.ask("summarise", ASKED)
    assert told.value.replied == (name == "gives nothing")


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("model", "gpt-5-mini"),
        ("model", "auto"),
        ("model_routes", "openai/gpt-5-mini, nonsense"),
        ("model", "openai/"),
    ],
)
def test_a_name_that_no_model_can_have_is_not_written(tmp_path, setting, value):
    memory = opened(tmp_path)
    with pytest.raises(errors.BadSetting):
        memory.set_config(setting, value)
    assert not memory.settings.file.exists()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("model", "ollama/qwen3:8b"),
        ("model", ""),
        ("model_routes", "auto"),
        ("model_routes", "[]"),
        ("model_timeout_s", "2m"),
    ],
)
def test_what_can_be_set_is_written(tmp_path, setting, value):
    memory = opened(tmp_path)
    memory.set_config(setting, value)
    assert memory.settings.file.exists()


def test_a_project_names_no_model(tmp_path):
    memory = opened(tmp_path)
    for setting, value in (
        ("model", "ollama/qwen3"),
        ("model_routes", "auto"),
        ("model_base_url", "http://127.0.0.1"),
    ):
        with pytest.raises(errors.BadSetting, match="a person's own setting"):
            memory.set_config(setting, value, project=True)
    file = tmp_path / "harbor" / ".lamina.toml"
    file.write_text('model = "ollama/qwen3"\nmodel_routes = "auto"\n')
    memory.init()
    memory.trust(tmp_path / "harbor")
    assert opened(tmp_path)._at.asker is None


def test_status_says_what_the_cap_holds_up(tmp_path):
    clock = Clock()
    memory = opened(tmp_path, clock=clock, model=lambda _: "- a fact", env={"LAMINA_MODEL_DAILY_CALLS": "1"})
    memory.init()
    memory._at.asker.ask("summarise", ASKED)
    used = memory.status()["models"]
    assert used["cap"] == {"calls": 1, "tokens": 2_000_000}
    assert "model_daily_calls" in used["waiting"]
    clock.forward(days=1)
    used = memory.status()["models"]
    assert (used["waiting"], used["calls"], used["today"]["calls"]) == ("", 1, 0)


def test_a_person_sees_the_models_in_status(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    assert lamina(env, tmp_path, "init").returncode == 0
    assert "\nmodels" not in lamina(env, tmp_path, "status").stdout
    env |= {"LAMINA_MODEL": "openai/gpt-5-mini", "LAMINA_MODEL_DAILY_CALLS": "0"}
    said = lamina(env, tmp_path, "status").stdout
    assert (
        "models      openai/gpt-5-mini: 0 of 0 calls and 0 of 2000000 tokens today, about $0.0000\n" in said
    )
    assert "            waiting: the day's cap model_daily_calls is reached" in said
    layout = Layout(home / ".lamina")
    caps = meter.Caps(9, 10**6)
    from datetime import UTC, datetime

    call = meter.reserve(layout, "judge", "a/b", at=datetime.now(UTC), tokens=5, caps=caps)
    meter.settle(layout, call, meter.Use(tokens_in=1200, tokens_out=34, cost=0.01, unpriced=1))
    env["LAMINA_MODEL_DAILY_CALLS"] = "30"
    said = lamina(env, tmp_path, "status").stdout
    assert "1 of 30 calls and 1234 of 2000000 tokens today, about $0.0100, unpriced calls: 1\n" in said
    assert "waiting:" not in said


def test_config_models_shows_who_won_and_who_is_benched(trap, tmp_path):
    _server, env, folder = trap
    env |= {
        "LAMINA_MODEL": "openai/gpt-5-mini",
        "LAMINA_MODEL_ROUTES": "anthropic/claude-haiku-4-5, mistral/x",
    }
    env.pop("MISTRAL_API_KEY")
    env.pop("MISTRAL_BASE_URL")
    said = iter([Say(reasoning="I only think"), Say("- a fact")])
    with scripted(lambda _: next(said)) as first:
        env |= {"OPENAI_BASE_URL": first.url, "ANTHROPIC_BASE_URL": first.url}
        Memory.open(cwd=folder, env=env)._at.asker.ask("summarise", ASKED)
    rows = {
        row["route"]: row
        for row in json.loads(lamina(env, folder, "config", "models", "--json").stdout)["routes"]
    }
    assert rows["openai/gpt-5-mini"]["benched_until"]
    assert rows["anthropic/claude-haiku-4-5"]["won"]
    assert "MISTRAL_API_KEY" in rows["mistral/x"]["problem"]
    assert not rows["deepseek/deepseek-flash"]["permitted"]
    shown = lamina(env, folder, "config", "models").stdout
    assert "answered last" in shown
    assert "asked last until" in shown
    assert key() not in shown + json.dumps(rows)
    assert lamina(env, folder, "config", "models", "extra").returncode == 2


def test_a_store_that_is_moved_takes_its_meter_along(tmp_path):
    memory = opened(tmp_path, model=lambda _: "- a fact")
    memory.init()
    memory._at.asker.ask("summarise", ASKED)
    shutil.move(memory.root, tmp_path / "moved")
    assert Memory.open(tmp_path / "moved", env={"HOME": str(tmp_path)}).status()["models"]["calls"] == 1
