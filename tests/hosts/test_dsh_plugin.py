"""The plugin for DeepSeek Harness, run by Node with hooks that are real processes.

What it is like in the host's own runtime is for the tests with real clients.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

NODE = shutil.which("node")
DRIVER = Path(__file__).with_name("dsh_driver.mjs")
ANSWERS = {
    "start": {"additionalContext": "the card"},
    "prompt": {"additionalContext": "a nudge"},
    "subagent": {"additionalContext": "a note"},
}
_RECORDS = (
    '#!/bin/sh\ncat > "{seen}/$$" && echo "$1 $2" > "{seen}/$$.event"\ncat "{answers}/$2" 2>/dev/null\n'
)

pytestmark = pytest.mark.skipif(NODE is None, reason="needs node")


class Stage:
    """A home with the plugin and a hook in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.hook = folder / "state" / "bin" / "hook"
        self.plugin = folder / "state" / "hosts" / "dsh" / "src" / "index.js"
        for place in (self.hook.parent, self.plugin.parent, folder / "seen", folder / "answers"):
            place.mkdir(parents=True)
        shipped = files("lamina.hosts") / "assets" / "dsh"
        self.plugin.write_text((shipped / "src" / "index.js").read_text("utf-8"), "utf-8")
        (self.plugin.parents[1] / "package.json").write_text((shipped / "package.json").read_text("utf-8"))
        self.set_hook(_RECORDS.format(seen=folder / "seen", answers=folder / "answers"))
        for event, answer in ANSWERS.items():
            self.answers(event, json.dumps(answer))

    def set_hook(self, text: str) -> None:
        self.hook.write_text(text)
        self.hook.chmod(0o755)

    def answers(self, event: str, text: str) -> None:
        (self.folder / "answers" / event).write_text(text)

    def run(self, config: Any = None, **header: Any) -> dict[str, Any]:
        assert NODE
        told = {"id": "session-1", "cwd": str(self.folder), "delegationDepth": 0, "isSeeded": False, **header}
        command = [NODE, str(DRIVER), str(self.plugin), json.dumps(config), json.dumps(told)]
        env = {"HOME": str(self.folder), "PATH": os.environ["PATH"]}
        ran = subprocess.run(command, capture_output=True, text=True, check=False, env=env, timeout=60)
        assert ran.returncode == 0, ran.stderr
        found: dict[str, Any] = json.loads(ran.stdout)
        return found

    def seen(self) -> list[tuple[str, dict[str, Any]]]:
        """Return what the hook was called with, by event."""
        events = sorted((self.folder / "seen").glob("*.event"), key=lambda path: path.stat().st_mtime_ns)
        return [(path.read_text().strip(), json.loads(path.with_suffix("").read_text())) for path in events]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path / "o'neil store 家")


def test_card_and_nudge_follow_the_prompt_and_the_card_comes_again_after_a_compaction(stage: Stage) -> None:
    found = stage.run()
    assert found["steps"] == {
        "first": ["Fix it.", "snapshot", "the card", "a nudge"],
        "second": [],
        "failed": ["Go on.", "a nudge"],
        "after": ["the card"],
        "empty": [],
    }
    assert found["kept"]
    assert found["message"]["role"] == "user"
    assert found["message"]["source"]["kind"] != "user"
    assert found["message"]["id"]


def test_what_the_hook_is_told(stage: Stage) -> None:
    kept = stage.folder / ".dsh" / "sessions" / "--x--" / "session-1"
    kept.mkdir(parents=True)
    for name in ("session.jsonl", "session.v4.jsonl.zstd", "session.v10.jsonl.zstd", "session.lock"):
        (kept / name).touch()
    stage.run()
    seen = stage.seen()
    assert sorted(event for event, _ in seen) == [
        "dsh compact", "dsh end", "dsh prompt", "dsh prompt", "dsh start", "dsh start", "dsh tool", "dsh turn",
    ]  # fmt: skip
    for _, payload in seen:
        assert payload["session_id"] == "session-1"
        assert payload["cwd"] == str(stage.folder)
        assert payload["depth"] == 0
        assert payload["transcript_path"] == str(kept / "session.v10.jsonl.zstd")
    prompts = [(payload["prompt"], payload["prompt_id"]) for event, payload in seen if event == "dsh prompt"]
    assert sorted(prompts) == [("Fix it.", "m1"), ("Go on.", "m3")]
    (tool,) = [payload for event, payload in seen if event == "dsh tool"]
    assert tool["tool_name"] == "mcp__lamina__memory_remember"
    assert tool["tool_input"]["text"] == "x"


@pytest.mark.parametrize(
    "header",
    [{"delegationDepth": 1}, {"origin": "subagent", "delegationDepth": None}, {"parentSession": "p"}],
)
def test_a_subagent_gets_the_note_and_is_no_session_of_its_own(stage: Stage, header: dict[str, Any]) -> None:
    refusal = {"permissionDecision": "deny", "permissionDecisionReason": "memory belongs to the main agent"}
    stage.answers("tool", json.dumps(refusal))
    found = stage.run(**header)
    assert found["steps"]["first"] == ["Fix it.", "snapshot", "a note"]
    assert found["write"] == {"kind": "deny", "reason": "memory belongs to the main agent"}
    assert found["other"] == {"kind": "allow"}
    assert {event for event, _ in stage.seen()} == {"dsh subagent", "dsh tool"}
    assert all(payload["depth"] == 1 for _, payload in stage.seen())


def test_a_session_that_is_left_open_ends_with_the_host(stage: Stage) -> None:
    stage.run(left=True)
    assert [event for event, _ in stage.seen()].count("dsh end") == 1


def test_a_fork_is_a_session_of_its_own(stage: Stage) -> None:
    found = stage.run(parentSession="p", isSeeded=True)
    assert found["steps"]["first"][2] == "the card"


def test_recall_asks_before_every_tool_and_goes_into_the_next_step(stage: Stage) -> None:
    stage.answers("tool", json.dumps({"additionalContext": "it failed last time"}))
    found = stage.run({"recall": True})
    assert found["other"] == {"kind": "allow"}
    assert [message["content"][0]["text"] for message in found["injected"]] == ["it failed last time"] * 2
    assert sum(event == "dsh tool" for event, _ in stage.seen()) == 2


def test_a_configured_hook_comes_first(stage: Stage) -> None:
    other = stage.folder / "other"
    stage.hook.rename(other)
    assert stage.run()["steps"]["first"] == ["Fix it.", "snapshot"]
    assert stage.run({"hook": str(other)})["steps"]["first"][2] == "the card"


@pytest.mark.parametrize(
    "answer", ["", "no json", "[]", "null", '"x"', '{"additionalContext": 7}', "{" * 100_000]
)
def test_an_answer_that_is_none_is_passed_over(stage: Stage, answer: str) -> None:
    for event in ("start", "prompt", "tool"):
        stage.answers(event, answer)
    found = stage.run()
    assert found["steps"]["first"] == ["Fix it.", "snapshot"]
    assert found["write"] == {"kind": "allow"}


@pytest.mark.parametrize(
    "hook",
    [
        "#!/bin/sh\nexit 3\n",
        "#!/nowhere/sh\n",
        "#!/bin/sh\nkill -9 $$\n",
        "#!/bin/sh\nexec head -c 5000000 /dev/zero\n",
        "not a program",
    ],
)
def test_a_hook_that_fails_disturbs_nothing(stage: Stage, hook: str) -> None:
    stage.set_hook(hook)
    found = stage.run()
    assert found["steps"]["first"] == ["Fix it.", "snapshot"]
    assert found["write"] == {"kind": "allow"}


def test_a_hook_that_hangs_is_left_after_four_seconds_and_not_waited_for_again(stage: Stage) -> None:
    stage.set_hook("#!/bin/sh\nsleep 9\n")
    started = time.monotonic()
    found = stage.run()
    assert found["steps"]["first"] == ["Fix it.", "snapshot"]
    assert 3000 < found["waited"] < 6000
    assert time.monotonic() - started < 15  # those that only take note are given up, too, when the host ends


def test_strange_events_are_survived(stage: Stage) -> None:
    found = stage.run()
    assert found["strange"] == {"kind": "enter"}
    assert found["warnings"]
