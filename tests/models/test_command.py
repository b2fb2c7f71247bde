"""Hosts' programs as models: fakes that print what the real ones print, and what no program should do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from lamina import errors
from lamina.models.base import Prompt
from lamina.models.command import command_model
from lamina.models.heard import Heard, events
from lamina.models.programs import PROGRAMS

NAMES = {host: program.name for host, program in PROGRAMS.items()}
USAGE = {"input_tokens": 1234, "output_tokens": 42}


def lines(*objects):
    return "".join(json.dumps(each) + "\n" for each in objects)


# Recorded of Claude Code 2.1.332, Codex 0.171.0, Gemini CLI 0.61.0, Qwen Code 0.24.4, OpenCode 1.18.33.
GOOD = {
    "claude-code": lines(
        {"type": "system", "subtype": "ui_invalidate", "event": "ui.render"},
        {"type": "system", "subtype": "init", "tools": [], "mcp_servers": [], "plugins": [{"name": "x"}]},
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "model": "m",
                "content": [{"type": "thinking", "thinking": "hm"}],
            },
            "parent_tool_use_id": None,
        },
        {
            "type": "assistant",
            "message": {
                "role": "assistant",
                "model": "m",
                "content": [{"type": "text", "text": "SAID"}],
                "stop_reason": None,
            },
            "parent_tool_use_id": None,
        },
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "stop_reason": "end_turn",
            "usage": {**USAGE, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0},
            "result": "SAID",
        },
    ),
    "codex": lines(
        {"type": "thread.started", "thread_id": "t"},
        {
            "type": "item.completed",
            "item": {"id": "0", "type": "error", "message": "Model metadata not found."},
        },
        {"type": "turn.started"},
        {"type": "error", "message": "Reconnecting... 1/5 (unexpected status 503)"},
        {"type": "item.completed", "item": {"id": "1", "type": "reasoning", "text": "hm"}},
        {"type": "item.completed", "item": {"id": "2", "type": "agent_message", "text": "SAID"}},
        {
            "type": "turn.completed",
            "usage": {**USAGE, "cached_input_tokens": 0, "reasoning_output_tokens": 0},
        },
    ),
    "gemini": lines(
        {"type": "init", "session_id": "s", "model": "m"},
        {"type": "message", "role": "user", "content": "the prompt"},
        {"type": "message", "role": "assistant", "content": "SA", "delta": True},
        {"type": "message", "role": "assistant", "content": "ID", "delta": True},
        {"type": "result", "status": "success", "stats": {"total_tokens": 1276, **USAGE, "cached": 0}},
    ),
    "qwen": lines(
        {"type": "system", "subtype": "init", "tools": [], "mcp_servers": []},
        {
            "type": "assistant",
            "parent_tool_use_id": None,
            "message": {
                "role": "assistant",
                "content": [{"type": "text", "text": "SAID"}],
                "stop_reason": None,
            },
        },
        {
            "type": "result",
            "subtype": "success",
            "is_error": False,
            "result": "SAID",
            "usage": {**USAGE, "cache_read_input_tokens": 1000},
        },
    ),
    "opencode": lines(
        {"type": "step_start", "part": {"type": "step-start"}},
        {"type": "reasoning", "part": {"type": "reasoning", "text": "hm"}},
        {"type": "text", "part": {"type": "text", "text": "SAID"}},
        {
            "type": "step_finish",
            "part": {
                "reason": "stop",
                "tokens": {"input": 1234, "output": 42, "reasoning": 0, "cache": {"write": 0, "read": 0}},
            },
        },
    ),
}
BAD = {
    "claude-code": (
        {
            "type": "assistant",
            "message": {"model": "<synthetic>", "content": [{"type": "text", "text": "Not logged in"}]},
        },
        {"type": "result", "subtype": "success", "is_error": True, "result": "Not logged in"},
    ),
    "codex": (
        {"type": "error", "message": "unexpected status 401 Unauthorized"},
        {"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}},
    ),
    "gemini": (
        {
            "type": "result",
            "status": "error",
            "error": {"type": "unknown", "message": "[API Error: 401]"},
            "stats": {},
        },
    ),
    "qwen": (
        {
            "type": "assistant",
            "message": {"model": "m", "content": [{"type": "text", "text": "[API Error: 401]"}]},
        },
        {
            "type": "result",
            "subtype": "error_during_execution",
            "is_error": True,
            "error": {"message": "[API Error: 401]"},
        },
    ),
    "opencode": ({"type": "error", "error": {"name": "APIError", "data": {"message": "invalid API key"}}},),
}


class Place:
    """A PATH with one program on it, and the folder that runs may use."""

    def __init__(self, root: Path) -> None:
        self.root, self.bin, self.folder = root, root / "bin", root / "state"
        self.bin.mkdir()
        self.folder.mkdir(mode=0o700)
        self.env = {
            "PATH": f"{self.bin}:/usr/bin:/bin",
            "HOME": str(root),
            "CLAUDECODE": "1",
            "OPENAI_API_KEY": "k",
        }

    def program(self, host, body):
        file = self.bin / NAMES[host]
        file.write_text(f"#!{sys.executable} -I\nimport json, os, signal, subprocess, sys, time\n{body}\n")
        file.chmod(0o755)

    def says(self, host, text, *, code=0):
        (self.root / "said").write_bytes(text.encode() if isinstance(text, str) else text)
        self.program(
            host,
            f"sys.stdin.read(); sys.stdout.buffer.write(open({str(self.root / 'said')!r}, 'rb').read()); sys.stdout.flush(); sys.exit({code})",
        )

    def ask(self, host="codex", *, within_s=20.0):
        return command_model(host, env=self.env, folder=self.folder).ask(
            Prompt("how", "MATERIAL"), within_s=within_s
        )

    def rest(self):
        return list(self.folder.iterdir())


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("host", GOOD)
def test_only_the_text_of_each_host_counts(place, host):
    place.says(host, "a banner\n\x1b[32mready\x1b[0m\n" + GOOD[host])
    reply = place.ask(host)
    assert (reply.text, reply.cut, reply.tokens_in, reply.tokens_out, reply.counted) == (
        "SAID",
        False,
        1234,
        42,
        True,
    )
    assert place.rest() == []


@pytest.mark.parametrize("host", BAD)
@pytest.mark.parametrize("code", [0, 1])
def test_a_failure_told_in_json_is_no_reply(place, host, code):
    place.says(host, lines(*BAD[host]), code=code)
    with pytest.raises(errors.ModelFailed, match=r"401|logged in|invalid API key") as caught:
        place.ask(host)
    assert "log in" in caught.value.hint


@pytest.mark.parametrize("host", GOOD)
def test_the_program_gets_the_prompt_on_stdin_alone_in_an_empty_folder(place, host):
    seen = place.root / "seen"
    place.program(
        host,
        f"json.dump(dict(argv=sys.argv, text=sys.stdin.read(), cwd=os.getcwd(), here=os.listdir('.'), "
        f"mode=os.stat('..').st_mode & 0o777, env=dict(os.environ)), open({str(seen)!r}, 'w')); "
        f"print({GOOD[host]!r})",
    )
    assert place.ask(f"{host}/big:model").text == "SAID"
    told = json.loads(seen.read_text())
    assert told["text"] == "LAMINA_CHILD=1\n\nhow\n\nMATERIAL\n"
    assert "MATERIAL" not in " ".join(told["argv"])
    assert "--model=big:model" in told["argv"]
    assert told["here"] == []
    assert told["mode"] == 0o700
    assert Path(told["cwd"]).is_relative_to(place.folder.resolve())
    assert not Path(told["cwd"]).exists()
    assert told["env"]["LAMINA_CHILD"] == "1"
    assert ("OPENAI_API_KEY" in told["env"]) == (host in ("codex", "qwen", "opencode"))
    assert "CLAUDECODE" not in told["env"]


KEYS = {
    "claude-code": (
        "ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN CLAUDE_CODE_MAX_OUTPUT_TOKENS "
        "MAX_THINKING_TOKENS AWS_SECRET_ACCESS_KEY AWS_BEARER_TOKEN_BEDROCK GOOGLE_APPLICATION_CREDENTIALS"
    ),
    "codex": "OPENAI_API_KEY CODEX_API_KEY AZURE_OPENAI_API_KEY",
    "gemini": "GEMINI_API_KEY GOOGLE_API_KEY GOOGLE_APPLICATION_CREDENTIALS",
    "qwen": "OPENAI_API_KEY DASHSCOPE_API_KEY",
    "opencode": "OPENCODE_API_KEY OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY AWS_SECRET_ACCESS_KEY",
}
FOREIGN = (
    "GITHUB_TOKEN GH_TOKEN LAMINA_GIT_TOKEN LAMINA_MODEL_KEY LAMINA_ROOT LAMINA_MODEL lamina_git_token "
    "NPM_TOKEN npm_config__auth MY_API_KEY DATABASE_PASSWORD PGPASSWORD STRIPE_SECRET_KEY KUBE_CREDENTIALS "
    "MY_ACCESS_KEY DEPLOY_PRIVATE_KEY GITHUB_PAT VAULT_SECRET github_token 日本_TOKEN CLIENT_SECRETS"
)
PLAIN = "LANG HTTPS_PROXY SSL_CERT_FILE NODE_EXTRA_CA_CERTS XDG_CONFIG_HOME OPENAI_BASE_URL SSH_AUTH_SOCK KEYBOARD"


def environment(place, host) -> dict[str, str]:
    """Return what the host's program finds in its environment."""
    seen = place.root / "seen"
    place.program(host, f"json.dump(dict(os.environ), open({str(seen)!r}, 'w')); print({GOOD[host]!r})")
    assert place.ask(host).text == "SAID"
    return json.loads(seen.read_text())


@pytest.mark.parametrize("host", GOOD)
def test_a_program_gets_its_own_keys_and_those_of_nobody_else(place, host):
    names = {name for text in (*KEYS.values(), FOREIGN, PLAIN) for name in text.split()}
    place.env |= {name: f"value of {name}" for name in names - {"XDG_CONFIG_HOME"}}
    told = environment(place, host)
    assert set(KEYS[host].split()) <= set(told)
    assert not set(FOREIGN.split()) & set(told)
    assert set(PLAIN.split()) - {"XDG_CONFIG_HOME"} <= set(told)
    assert [name for name in told if name.upper().startswith("LAMINA")] == ["LAMINA_CHILD"]
    assert not any("GIT_TOKEN" in value for value in told.values())


def test_gemini_gets_no_key_of_another_vendor(place):
    place.env |= {name: "x" for text in KEYS.values() for name in text.split()}
    left = {name for name in environment(place, "gemini") if "KEY" in name or "TOKEN" in name}
    assert left == {"GEMINI_API_KEY", "GOOGLE_API_KEY"}


SETTINGS = {
    "codex": (
        ".codex/config.toml",
        """
        [model_providers.a]
        env_key = "MY_API_KEY"
        env_http_headers = { "X-Org" = "ORG_SECRET" }
        [mcp_servers.x]
        bearer_token_env_var = "GITHUB_TOKEN"
        """,
    ),
    "qwen": (
        ".qwen/settings.json",
        '{"modelProviders": {"openai": [{"envKey": "MY_API_KEY"}, {"envKey" : "ORG_SECRET"}]}, "a": "GITHUB_TOKEN"}',
    ),
    "opencode": (
        ".config/opencode/opencode.jsonc",
        '{"provider": {"a": {"options": {"apiKey": "{env:MY_API_KEY}", "b": "{env:ORG_SECRET}"}}}} // GITHUB_TOKEN',
    ),
}


@pytest.mark.parametrize("host", SETTINGS)
@pytest.mark.parametrize("state", ["said", "absent", "damaged"])
def test_a_key_that_the_hosts_own_settings_name_for_a_provider_goes_along(place, host, state):
    name, text = SETTINGS[host]
    file = place.root / name
    file.parent.mkdir(parents=True)
    if state != "absent":
        file.write_bytes(text.encode() if state == "said" else b"\xff\xfe[[model_providers]]\n{")
    place.env |= {
        "MY_API_KEY": "x", "ORG_SECRET": "y", "GITHUB_TOKEN": "z", "LAMINA_GIT_TOKEN": "{env:LAMINA_GIT_TOKEN}",
    }  # fmt: skip
    told = environment(place, host)
    assert ("MY_API_KEY" in told, "ORG_SECRET" in told) == (state == "said",) * 2
    assert not {"GITHUB_TOKEN", "LAMINA_GIT_TOKEN"} & set(told)


@pytest.mark.parametrize(
    "text",
    [
        "model_providers = 5",
        "[[model_providers]]\nenv_key = 'X'",
        "[model_providers]\na = 1\nb.env_key = [1]",
    ],
)
def test_settings_of_the_wrong_kind_name_nothing(place, text):
    (place.root / ".codex").mkdir()
    (place.root / ".codex/config.toml").write_text(text)
    assert "OPENAI_API_KEY" in environment(place, "codex")


def test_claude_code_never_reads_a_file_that_the_material_names(place):
    program = PROGRAMS["claude-code"]
    settings = json.loads(program.args[program.args.index("--settings") + 1])
    assert "Read" in settings["permissions"]["deny"]
    assert program.env["CLAUDE_CODE_DISABLE_ATTACHMENTS"] == "1"


def test_codex_is_told_to_start_none_of_the_servers_set_up(place):
    (place.root / ".codex").mkdir()
    (place.root / ".codex/config.toml").write_text(
        '[mcp_servers.one]\ncommand = "x"\n[mcp_servers."a b"]\ncommand = "y"\n'
    )
    place.program(
        "codex", f"open({str(place.root / 'seen')!r}, 'w').write(repr(sys.argv)); print({GOOD['codex']!r})"
    )
    place.ask()
    assert "mcp_servers.one.enabled=false" in (place.root / "seen").read_text()


def test_the_route_is_the_name_asked_for(place):
    for name in ("claude-code", "claude-code:opus", "opencode/openai/gpt"):
        assert command_model(name, env={}, folder=place.folder).route == f"host/{name}"


def test_a_host_without_a_program_is_refused(place):
    with pytest.raises(errors.BadSetting, match="cursor"):
        command_model("cursor", env={}, folder=place.folder)


@pytest.mark.parametrize("path", ["", "/nowhere", ":bin:."])
def test_a_program_that_is_not_on_an_absolute_path_is_named(place, monkeypatch, path):
    place.says("codex", GOOD["codex"])
    monkeypatch.chdir(place.bin)
    place.env["PATH"] = path
    with pytest.raises(errors.ModelFailed, match="codex is not on PATH"):
        place.ask()


def test_a_failure_is_told_by_its_last_line_without_colours_and_short(place):
    place.program(
        "codex",
        "sys.stderr.write('at x\\n\\x1b[31mcredentials are missing ' + 'x' * 900 + '\\x1b[0m\\n    at f (file:1)\\n\\n'); sys.exit(1)",
    )
    with pytest.raises(errors.ModelFailed, match="codex: credentials are missing") as caught:
        place.ask()
    assert len(caught.value.message) <= 300
    assert "\x1b" not in caught.value.message


def test_an_old_version_is_told_to_be_updated(place):
    place.program("claude-code", "sys.stderr.write(\"error: unknown option '--safe-mode'\\n\"); sys.exit(1)")
    with pytest.raises(errors.ModelFailed) as caught:
        place.ask("claude-code")
    assert caught.value.hint.startswith("update claude")


@pytest.mark.parametrize("text", ["", "  \n", "Hello, I am a model\n", "{broken\n[[[[\n"])
def test_output_that_is_not_understood_is_a_failure(place, text):
    place.says("codex", text)
    with pytest.raises(errors.ModelFailed):
        place.ask()


@pytest.mark.parametrize("host", GOOD)
def test_a_turn_without_text_is_an_empty_reply(place, host):
    place.says(
        host,
        "\n".join(line for line in GOOD[host].splitlines() if "SAID" not in line or '"result"' in line)
        .replace('"SA"', '""')
        .replace('"ID"', '""'),
    )
    assert place.ask(host).text == ""


def test_a_reply_at_the_length_limit_is_cut(place):
    place.says("opencode", GOOD["opencode"].replace('"stop"', '"length"'))
    assert place.ask("opencode").cut


def test_json_spread_over_lines_is_read(place):
    text = "".join(json.dumps(json.loads(line), indent=2) + "\n" for line in GOOD["gemini"].splitlines())
    place.says("gemini", text)
    assert place.ask("gemini").text == "SAID"
    place.says("gemini", json.dumps([json.loads(line) for line in GOOD["gemini"].splitlines()], indent=1))
    assert place.ask("gemini").text == "SAID"


def test_invalid_utf8_does_no_harm(place):
    place.says("codex", b"\xff\xfe\n" + GOOD["codex"].encode().replace(b"SAID", b"SA\xffID \xe4\xb8\xad"))
    assert place.ask().text == "SA\ufffdID 中"


def test_damaged_json_costs_no_more_than_a_moment():
    began = time.monotonic()
    assert list(events('{"a":' * 200_000)) == []
    assert list(events('{"a":\n' * 20_000)) == []
    assert list(events("{\n" * 300_000)) == []
    assert time.monotonic() - began < 10


def test_fields_of_the_wrong_kind_never_raise():
    for host, program in PROGRAMS.items():
        for line in GOOD[host].splitlines():
            event = json.loads(line)
            for key in event:
                for wrong in (None, 1, "x", [], [1], {}, {"message": {"data": [None]}}):
                    heard = Heard()
                    program.hear(heard, {**event, key: wrong})
                    assert all(isinstance(text, str) for text in heard.texts), (host, key, wrong)


@pytest.mark.parametrize("where", ["stdout", "stderr"])
def test_a_flood_is_ended(place, where):
    place.program("codex", f"for _ in range(50_000): sys.{where}.write('x' * 10_000 + chr(10))")
    began = time.monotonic()
    with pytest.raises(errors.ModelFailed, match="more than 1 MB"):
        place.ask()
    assert time.monotonic() - began < 15
    assert place.rest() == []


def test_text_before_a_flood_is_a_cut_reply(place):
    place.program(
        "codex",
        f"print({GOOD['codex'].splitlines()[5]!r}); print('x' * 5_000_000, flush=True); time.sleep(60)",
    )
    reply = place.ask()
    assert (reply.text, reply.cut, reply.counted) == ("SAID", True, False)


def test_sleeping_for_ever_is_ended_in_time_and_leaves_nothing(place):
    place.program("codex", f"open({str(place.root / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)")
    began = time.monotonic()
    with pytest.raises(errors.ModelFailed, match="took longer than 1 s"):
        place.ask(within_s=1)
    assert time.monotonic() - began < 5
    assert not is_alive((place.root / "pid").read_text())
    assert place.rest() == []


def test_text_before_the_time_was_up_is_a_cut_reply(place):
    place.program("codex", f"print({GOOD['codex'].splitlines()[5]!r}, flush=True); time.sleep(600)")
    reply = place.ask(within_s=1)
    assert (reply.text, reply.cut) == ("SAID", True)


def test_a_program_that_ignores_sigterm_is_killed_with_its_children(place):
    pids = place.root / "pids"
    place.program(
        "codex",
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen(['/bin/sh', '-c', 'trap \"\" TERM; while :; do sleep 1; done'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\ntime.sleep(600)",
    )
    with pytest.raises(errors.ModelFailed):
        place.ask(within_s=1)
    assert [pid for pid in pids.read_text().split() if is_alive(pid)] == []


def test_a_grandchild_that_keeps_the_output_open_holds_nobody_up(place):
    pid = place.root / "pid"
    place.program(
        "codex",
        f"child = subprocess.Popen(['/bin/sleep', '600'])\nopen({str(pid)!r}, 'w').write(str(child.pid))\nprint({GOOD['codex']!r})",
    )
    began = time.monotonic()
    assert place.ask().text == "SAID"
    assert time.monotonic() - began < 6
    assert not is_alive(pid.read_text())


def test_a_program_that_never_reads_its_input_is_heard(place):
    place.program("codex", f"os.close(0); print({GOOD['codex']!r})")
    model = command_model("codex", env=place.env, folder=place.folder)
    assert model.ask(Prompt("how", "x" * 3_000_000), within_s=20).text == "SAID"


STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"


@pytest.mark.parametrize(
    ("number", "again", "first", "code"),
    [
        (signal.SIGINT, 0, "", None),
        (signal.SIGTERM, 0, "", 128 + signal.SIGTERM),
        (signal.SIGHUP, 0, "", 128 + signal.SIGHUP),
        (signal.SIGTERM, 3, STUBBORN, 128 + signal.SIGTERM),
    ],
)
def test_whoever_stops_lamina_stops_the_program_too(place, number, again, first, code):
    place.program(
        "codex", f"{first}open({str(place.root / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    )
    asker = asking(place)
    pid = (place.root / "pid").read_text()
    try:
        asker.send_signal(number)
        for _ in range(again):
            time.sleep(0.3)
            asker.send_signal(number)
        ended = asker.wait(20)
        assert ended == code if code else ended != 0
        assert not is_alive(pid)
        assert place.rest() == []
    finally:
        with suppress(OSError):
            os.kill(int(pid), signal.SIGKILL)


def test_a_handler_of_somebody_elses_stays_theirs(place):
    place.program(
        "codex", f"open({str(place.root / 'pid')!r}, 'w').write('1'); time.sleep(1); print({GOOD['codex']!r})"
    )
    heard = []
    before = signal.signal(signal.SIGTERM, lambda number, _frame: heard.append(number))
    try:
        killer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGTERM))
        killer.start()
        assert place.ask().text == "SAID"
        killer.join()
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]
    assert place.ask().text == "SAID"
    assert signal.getsignal(signal.SIGTERM) is before


def test_a_program_runs_in_any_thread(place):
    place.says("codex", GOOD["codex"])
    with ThreadPoolExecutor(3) as pool:
        assert {reply.text for reply in pool.map(lambda _: place.ask(), range(3))} == {"SAID"}


def asking(place) -> subprocess.Popen[bytes]:
    """Start a process that asks, and wait until the program that it asks runs."""
    code = (
        "import json, sys; from pathlib import Path; from lamina.models.base import Prompt\n"
        "from lamina.models.command import command_model\n"
        f"command_model('codex', env=json.loads(sys.argv[1]), folder=Path({str(place.folder)!r})).ask(Prompt('a', 'b'))"
    )
    asker = subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(place.env)],
        stderr=subprocess.DEVNULL,
        env={**place.env, "PATH": os.environ["PATH"]},
    )
    until = time.monotonic() + 20
    while (
        not ((place.root / "pid").exists() and (place.root / "pid").read_text()) and time.monotonic() < until
    ):
        time.sleep(0.05)
    return asker


def test_two_at_once_have_folders_of_their_own_and_names_come_again(place):
    (place.folder / "model-0").mkdir()
    place.program(
        "codex",
        f"open({str(place.root / 'seen')!r}, 'a').write(os.getcwd() + chr(10)); print({GOOD['codex']!r})",
    )
    place.ask()
    place.ask()
    first, second = (place.root / "seen").read_text().split()
    assert first == second
    assert "model-1" in first
    assert [path.name for path in place.rest()] == ["model-0"]


def test_what_a_killed_run_left_a_day_ago_is_cleared_away(place):
    (place.folder / "model-0" / "work").mkdir(parents=True)
    os.utime(place.folder / "model-0", (1, 1))
    place.says("codex", GOOD["codex"])
    place.ask()
    assert place.rest() == []


def test_a_folder_that_is_not_there_is_told(place):
    place.says("codex", GOOD["codex"])
    with pytest.raises(errors.UnwritableStore):
        command_model("codex", env=place.env, folder=place.root / "gone").ask(Prompt("a", "b"))


def test_a_variable_that_no_program_can_have_is_told(place):
    place.says("codex", GOOD["codex"])
    place.env["ODD"] = "a\0b"
    with pytest.raises(errors.ModelFailed, match="can't be started"):
        place.ask()
    assert place.rest() == []
