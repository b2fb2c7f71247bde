"""What every host adapter must do; each adapter's tests inherit the class.

A subclass gives the adapter, and renders a plain session as a transcript of its host.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from abc import ABC, abstractmethod
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lamina.errors import NoSuchFile, UnreadableFile
from lamina.formats.event import Author, Damage, Event, Kind, Position
from lamina.hosts.base import Host, detect, host_named
from lamina.hosts.reading import RESULT_LIMIT, TEXT_LIMIT
from lamina.hosts.render import Compacted, Injected, Pause, Said, Tool, Turn

STARTED = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
CWD = "/home/mira/tidepool"
TURNS: list[Turn] = [
    Injected("memory card: be brief", "SessionStart"),
    Said("user", "Add a retry to the uploader."),
    Said("assistant", "I look at the uploader first."),
    Tool("Read", {"file_path": f"{CWD}/src/upload.py"}, "def upload(): ..."),
    Tool("Bash", {"command": "pytest -q"}, "E   assert 1 == 2\n1 failed", failed=True),
    Tool("Bash", {"command": "grep -rn error src"}, "src/upload.py:3: # no error handling"),
    Said("assistant", "Retries are in, with 3 attempts."),
    Said("user", "No, use exponential backoff — 不要固定间隔。"),
    Said("assistant", "Done: 1, 2, 4 seconds."),
]

_MEASURE = """
import resource, sys
from pathlib import Path
from lamina.formats.event import Event
from lamina.hosts.base import detect
host = detect(Path(sys.argv[1]))
longest = count = 0
for event in host.read(Path(sys.argv[1])):
    assert isinstance(event, Event), event
    longest, count = max(longest, len(event.text)), count + 1
status = Path("/proc/self/status")  # ru_maxrss of a child begins with its parent's
peak = int(status.read_text().split("VmHWM:")[1].split()[0]) if status.exists() else resource.getrusage(0).ru_maxrss // 1024
print(host.name, count, longest, peak // 1024)
"""


class HostLaws(ABC):
    """What every adapter must do, whatever its transcripts are; a subclass says how one is written."""

    host: Host
    branch = "main"
    """What the transcript tells of the branch; "" for a host that does not note it."""
    notes_start = True
    """Whether the transcript holds what a hook gave at the start of the session."""

    @pytest.fixture
    @abstractmethod
    def path(self, tmp_path: Path) -> Path:
        """Say where the session is to be written."""

    @abstractmethod
    def write(self, path: Path, turns: list[Turn] | None = None) -> Path:
        """Write a session of these turns, of `TURNS` by default."""

    def events(self, path: Path, position: Position | None = None) -> list[Event]:
        return [item for item in self.host.read(path, position) if isinstance(item, Event)]

    def test_is_registered_and_recognised_by_content(self, path: Path) -> None:
        self.write(path)
        assert host_named(self.host.name) is self.host
        assert detect(path) is self.host

    def test_kinds_authors_and_texts(self, path: Path) -> None:
        told = [
            (event.kind, event.author, event.text)
            for event in self.events(self.write(path))
            if event.kind != Kind.META
        ]
        person, model, tool = Author.PERSON, Author.MODEL, Author.TOOL
        failure = next(text for kind, _, text in told if kind == Kind.TOOL_RESULT and "assert" in text)
        assert [item[:2] for item in told] == [
            (Kind.USER, person),
            (Kind.ASSISTANT, model),
            (Kind.TOOL_CALL, model),
            (Kind.TOOL_RESULT, tool),
            (Kind.TOOL_CALL, model),
            (Kind.TOOL_RESULT, tool),
            (Kind.TOOL_CALL, model),
            (Kind.TOOL_RESULT, tool),
            (Kind.ASSISTANT, model),
            (Kind.USER, person),
            (Kind.ASSISTANT, model),
        ]
        assert told[0][2] == "Add a retry to the uploader."
        assert told[9][2] == "No, use exponential backoff — 不要固定间隔。"
        assert failure.endswith(("1 failed", "1 failed\n"))

    def test_session(self, path: Path) -> None:
        session = self.host.read(self.write(path)).session
        assert session.host == self.host.name
        assert session.id
        assert session.cwd == CWD
        assert session.path == str(path)
        assert session.branch == self.branch
        assert session.started is not None
        assert abs(session.started - STARTED) < timedelta(minutes=2)
        assert not session.subagent
        assert not session.fork
        assert session.parent == ""

    def test_only_failures_failed_not_the_word_error(self, path: Path) -> None:
        results = [event for event in self.events(self.write(path)) if event.kind == Kind.TOOL_RESULT]
        assert [event.failed for event in results] == [False, True, False]
        assert "error" in results[2].text

    def test_results_name_their_call(self, path: Path) -> None:
        events = self.events(self.write(path))
        calls = {event.call: event.tool for event in events if event.kind == Kind.TOOL_CALL}
        results = [event for event in events if event.kind == Kind.TOOL_RESULT]
        assert len(calls) == 3
        assert [calls[event.call] for event in results] == [event.tool for event in results]

    def test_paths_come_from_arguments_and_are_relative(self, path: Path) -> None:
        turns: list[Turn] = [
            Said("user", "See /etc/passwd and docs/a.md"),
            Tool("Read", {"file_path": f"{CWD}/src/upload.py"}, "mentions other/file.py"),
            Tool("Read", {"file_path": "/var/log/syslog"}),
            Tool("Fetch", {"path": "gs://bucket/key", "url": "https://example.org/a"}),
            Tool("Bash", {"command": "cat secret/notes.txt"}, "x"),
            Tool("Glob", {"pattern": "*.py", "path": CWD}),
        ]
        events = self.events(self.write(path, turns))
        assert [event.paths for event in events if event.kind == Kind.TOOL_CALL] == [
            ("src/upload.py",),
            ("/var/log/syslog",),
            (),
            (),
            (".",),
        ]
        assert not any(event.paths for event in events if event.kind != Kind.TOOL_CALL)

    def test_what_is_injected_is_the_hosts(self, path: Path) -> None:
        for event in self.events(self.write(path)):
            assert (event.kind == Kind.USER) == (event.author == Author.PERSON)
            if event.kind in {Kind.META, Kind.COMPACTION}:
                assert event.author == Author.HOST
        injected = [event.text for event in self.events(path) if event.kind == Kind.META]
        assert any("memory card" in text for text in injected) == self.notes_start

    def test_compaction_summary_is_the_hosts(self, path: Path) -> None:
        summary = "1. Primary Request: the user wants X.\n" * 50
        turns: list[Turn] = [
            *TURNS,
            Compacted(summary),
            Said("user", "Go on."),
            Said("assistant", "Going on."),
        ]
        events = self.events(self.write(path, turns))
        compactions = [event for event in events if event.kind == Kind.COMPACTION]
        assert len(compactions) == 1
        assert compactions[0].author == Author.HOST
        assert "Primary Request" in compactions[0].text
        assert not any("Primary Request" in event.text for event in events if event.author != Author.HOST)
        assert events[-1].text == "Going on."

    def test_system_reminders_inside_other_text_are_cut(self, path: Path) -> None:
        reminder = "<system-reminder>\nThe user prefers tabs.\n</system-reminder>"
        turns: list[Turn] = [
            Said("user", f"Fix it.\n{reminder}"),
            Said("user", reminder),
            Tool("Bash", {"command": "ls"}, f"a.txt\n{reminder}"),
        ]
        events = self.events(self.write(path, turns))
        assert [event.text for event in events if event.kind == Kind.USER] == ["Fix it."]
        assert not any("tabs" in event.text for event in events if event.author != Author.HOST)

    def test_times_are_utc_and_in_order(self, path: Path) -> None:
        times = [event.time for event in self.events(self.write(path)) if event.time]
        assert times == sorted(times)
        assert all(time.tzinfo is UTC for time in times)

    def test_keys_tell_records_apart(self, path: Path) -> None:
        keys = [event.key for event in self.events(self.write(path))]
        assert all(keys)
        assert len(set(keys)) == len(keys)

    def test_long_texts_keep_head_and_tail(self, path: Path) -> None:
        long = "start " + "word " * 500_000 + "the error at the end"
        turns: list[Turn] = [Said("user", long), Tool("Bash", {"command": long}, long, failed=True)]
        events = [event for event in self.events(self.write(path, turns)) if event.kind != Kind.META]
        for event in events:
            assert "start word" in event.text[:30]
            assert "the error at the end" in event.text[-30:]
        assert len(events[0].text) < TEXT_LIMIT + 50
        assert max(len(event.text) for event in events[1:]) < RESULT_LIMIT + 50
        assert events[2].failed

    def test_resuming_anywhere_loses_and_repeats_nothing(self, path: Path) -> None:
        whole = self.events(self.write(path))
        for stop in range(len(whole)):
            transcript = self.host.read(path)
            taken = []
            for item in transcript:
                taken.append(item)
                if len(taken) > stop:
                    break
            position = transcript.position
            kept = [item for item in taken if isinstance(item, Event) and item.seq < position.line]
            assert kept + list(self.host.read(path, position)) == whole

    def test_nothing_new_costs_nothing(self, path: Path) -> None:
        transcript = self.host.read(self.write(path))
        list(transcript)
        again = self.host.read(path, transcript.position)
        assert list(again) == []
        assert again.position == transcript.position

    def test_damaged_position_starts_over(self, path: Path) -> None:
        whole = self.events(self.write(path))
        for position in (
            Position(10, 1, "", ""),
            Position(99_999_999, 5, "abc", "{"),
            Position(5, 1, "zz", "[]"),
        ):
            assert self.events(path, position) == whole

    def test_a_repeated_prompt_is_said_twice(self, path: Path) -> None:
        turns: list[Turn] = [Said("user", "continue"), Said("assistant", "ok"), Said("user", "continue")]
        events = self.events(self.write(path, turns))
        assert [event.text for event in events if event.kind == Kind.USER] == ["continue", "continue"]


class HostConformance(HostLaws):
    """What adapters of files of JSON lines must do besides.

    Inherit, and fill in the adapter and the two ways to write its transcripts.
    """

    @abstractmethod
    def render(self, turns: list[Turn], session: str = "") -> str:
        """Render a session as this host's transcript; without an id, as the same one each time."""

    @abstractmethod
    def place(self, home: Path, session: str) -> Path:
        """Say where the transcript of this session lies under `home`."""

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "transcript.jsonl"

    def write(self, path: Path, turns: list[Turn] | None = None) -> Path:
        path.write_text(self.render(TURNS if turns is None else turns), encoding="utf-8", newline="")
        return path

    def test_seq_is_the_physical_line(self, path: Path) -> None:
        events = self.events(self.write(path))
        lines = path.read_text(encoding="utf-8").split("\n")
        for event in events:
            if event.kind == Kind.USER:
                assert event.text[:20] in lines[event.seq]
        assert [event.seq for event in events] == sorted(event.seq for event in events)

    def test_the_same_session_in_two_files(self, path: Path, tmp_path: Path) -> None:
        copy = self.write(tmp_path / "copy-of-it.jsonl")
        one, two = self.host.read(self.write(path)), self.host.read(copy)
        assert one.session.id == two.session.id
        keys = [{item.key for item in transcript if isinstance(item, Event)} for transcript in (one, two)]
        assert keys[0] == keys[1]

    def test_damaged_line_in_the_middle(self, path: Path) -> None:
        whole = self.events(self.write(path))
        lines = path.read_bytes().splitlines(keepends=True)
        seq = next(event.seq for event in whole if event.kind == Kind.TOOL_CALL)
        lines[seq] = lines[seq][:40] + b"\n"
        path.write_bytes(b"".join(lines))
        found = list(self.host.read(path))
        damage = [item for item in found if isinstance(item, Damage)]
        assert [(item.file, item.line) for item in damage] == [(str(path), seq + 1)]
        assert damage[0].reason
        rest = [item for item in found if isinstance(item, Event)]
        assert [event.seq for event in rest] == [event.seq for event in whole if event.seq != seq]

    def test_lines_that_are_no_objects(self, path: Path) -> None:
        whole = self.events(self.write(path))
        junk = [b"[1, 2]", b"null", b'"text"', b"[" * 100_000, b"9" * 5000, b"\xff\xfe\x00", b"", b"   "]
        path.write_bytes(path.read_bytes() + b"\n".join(junk) + b"\n")
        found = list(self.host.read(path))
        assert [item for item in found if isinstance(item, Event)] == whole
        assert len([item for item in found if isinstance(item, Damage)]) == 6

    def test_truncated_last_line_waits(self, path: Path) -> None:
        self.write(path)
        data = path.read_bytes()
        last = data.rindex(b"\n", 0, len(data) - 1) + 1
        whole = self.events(path)
        path.write_bytes(data[: last + 30])
        transcript = self.host.read(path)
        first = list(transcript)
        assert not any(isinstance(item, Damage) for item in first)
        assert transcript.position.offset == last
        path.write_bytes(data)
        assert [*first, *self.host.read(path, transcript.position)] == whole

    def test_whole_last_line_without_newline_counts_once(self, path: Path) -> None:
        whole = self.events(self.write(path))
        data = path.read_bytes()
        cut = [event.seq for event in whole if event.kind == Kind.USER][-1]
        lines = data.splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: cut + 1]).rstrip(b"\n"))
        transcript = self.host.read(path)
        first = list(transcript)
        assert first[-1].seq == cut if isinstance(first[-1], Event) else False
        assert list(self.host.read(path, transcript.position)) == []
        path.write_bytes(data)
        assert [*first, *self.host.read(path, transcript.position)] == whole

    @pytest.mark.parametrize("marks", [1, 2])
    def test_byte_order_marks(self, path: Path, marks: int) -> None:
        whole = self.events(self.write(path))
        path.write_bytes(b"\xef\xbb\xbf" * marks + path.read_bytes())
        assert detect(path) is self.host
        assert list(self.host.read(path)) == whole

    def test_crlf_and_blank_lines(self, path: Path) -> None:
        whole = self.events(self.write(path))
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
        assert list(self.host.read(path)) == whole
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\r\n\r\n"))
        assert [event.text for event in self.events(path)] == [event.text for event in whole]

    def test_lone_surrogates_and_nuls(self, path: Path) -> None:
        self.write(path, [Said("user", "half MARK face"), Said("assistant", "MARK")])
        path.write_bytes(path.read_bytes().replace(b"MARK", rb"a\ud800b\u0000c\uD83D\ude00"))
        texts = [event.text for event in self.events(path) if event.kind != Kind.META]
        assert texts == ["half a\ufffdbc😀 face", "a\ufffdbc😀"]

    def test_invalid_utf8_and_raw_control_characters(self, path: Path) -> None:
        self.write(path, [Said("user", "one MARK two")])
        path.write_bytes(path.read_bytes().replace(b"MARK", b"\xff\x01"))
        assert [event.text for event in self.events(path) if event.kind == Kind.USER] == [
            "one \ufffd\x01 two"
        ]

    def test_odd_timestamps(self, path: Path) -> None:
        self.write(path, [Said("user", "hello")])
        stamp = next(event for event in self.events(path) if event.kind == Kind.USER).time
        assert stamp is not None
        text = stamp.strftime("%Y-%m-%dT%H:%M:%S.") + f"{stamp.microsecond // 1000:03d}Z"
        for value, expected in [
            ('"2026-03-02T11:00:00+02:00"', STARTED),
            ('"2026-03-02T09:00:00"', STARTED),
            ("1772442000", STARTED),
            ("1772442000000", STARTED),
            ('"soon"', None),
            ("null", None),
            ("true", None),
            ("1e400", None),
            ("{}", None),
        ]:
            odd = path.with_name("odd.jsonl")
            odd.write_text(path.read_text(encoding="utf-8").replace(f'"{text}"', value), encoding="utf-8")
            event = next(event for event in self.events(odd) if event.kind == Kind.USER)
            assert event.time == expected, value

    @pytest.mark.parametrize("filling", ["x", "😀"])
    def test_a_20_mb_line_in_bounded_memory(self, path: Path, filling: str) -> None:
        turns: list[Turn] = [
            Said("user", "Look."),
            Tool("Bash", {"command": "cat big"}, "BIG"),
            Said("user", "BIG end"),
        ]
        self.write(path, turns)
        big = filling * (20_000_000 // len(filling.encode()))
        with path.open("r+", encoding="utf-8", newline="") as file:
            text = file.read()
            file.seek(0)
            file.write(text.replace("BIG", f"start {big} stop"))
        del text, big
        env = os.environ | {"PYTHONPATH": "src"}
        root = Path(__file__).parents[2]
        run = subprocess.run(
            [sys.executable, "-c", _MEASURE, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env=env,
            cwd=root,
        )
        assert run.returncode == 0, run.stderr
        name, count, longest, peak = run.stdout.split()
        assert name == self.host.name
        assert int(count) >= 4
        assert int(longest) < TEXT_LIMIT + 100
        assert int(peak) < 120

    def test_growing_line_by_line(self, path: Path) -> None:
        whole = self.events(self.write(path))
        data = path.read_bytes()
        found, position = [], None
        for size in [*range(0, len(data), 777), len(data)]:
            path.write_bytes(data[:size])
            transcript = self.host.read(path, position)
            found.extend(transcript)
            position = transcript.position
        assert found == whole

    def test_changed_beginning_starts_over(self, path: Path) -> None:
        transcript = self.host.read(self.write(path))
        whole = list(transcript)
        position, data = transcript.position, path.read_bytes()
        for changed in (data.replace(b"mira", b"nora"), data.replace(b"1, 2, 4", b"2, 4, 8"), b"{}\n" + data):
            path.write_bytes(changed)
            assert len(list(self.host.read(path, position))) == len(whole)
        path.write_bytes(data[:200])
        assert list(self.host.read(path, position)) == []

    def test_repeated_records_are_read_once(self, path: Path) -> None:
        whole = self.events(self.write(path))
        data = path.read_bytes()
        path.write_bytes(data + data)
        assert self.events(path) == whole

    def test_repeated_records_after_a_position_are_read_once(self, path: Path) -> None:
        self.write(path)
        data = path.read_bytes()
        transcript = self.host.read(path)
        list(transcript)
        longer = self.render(
            [*TURNS, Pause(600), Said("user", "Back again."), Said("assistant", "Welcome back.")]
        )
        path.write_bytes(data + longer.encode())
        texts = [item.text for item in self.host.read(path, transcript.position) if isinstance(item, Event)]
        assert [text for text in texts if text in {"Back again.", "Welcome back."}] == [
            "Back again.",
            "Welcome back.",
        ]
        assert "Add a retry to the uploader." not in texts

    def test_is_lazy(self, path: Path) -> None:
        self.write(path)
        with path.open("ab") as file:
            file.write(b"not json\n" * 1000)
        reading = iter(self.host.read(path))
        assert isinstance(next(reading), Event)

    def test_empty_fields(self, path: Path) -> None:
        whole = self.events(self.write(path))
        data = path.read_text(encoding="utf-8")
        first = json.loads(data.split("\n")[0])
        empty = [
            {**first, **{key: value for key in first if key != "type"}}
            for value in ("", None, [], {}, 0, False)
        ]
        path.write_text(data + "".join(json.dumps(item) + "\n" for item in empty) + "{}\n", encoding="utf-8")
        found = list(self.host.read(path))
        assert found[: len(whole)] == whole
        assert not any(
            isinstance(item, Event) and item.author == Author.PERSON for item in found[len(whole) :]
        )

    @pytest.mark.parametrize("depth", [110, 480, 970, 20_000])
    @pytest.mark.parametrize(
        ("opening", "inner", "closing"),
        [
            ("[", "", "]"),
            ('{"result":', '"x"', "}"),
            ('{"content":', '"x"', "}"),
            ('{"a":', r'"\ud800"', "}"),
        ],
    )
    def test_deep_nesting_anywhere_is_damage_and_reading_goes_on(
        self, path: Path, depth: int, opening: str, inner: str, closing: str
    ) -> None:
        turns: list[Turn] = [
            Said("user", "before"),
            Said("user", "@nest@"),
            Said("assistant", "@nest@"),
            Tool("Bash", {"command": "@nest@", "other": "@nest@"}, "@nest@"),
            Injected("@nest@", "SessionStart"),
            Said("user", "after"),
        ]
        nest = opening * depth + inner + closing * depth
        self.write(path, turns)
        path.write_text(path.read_text(encoding="utf-8").replace('"@nest@"', nest), encoding="utf-8")
        read = list(self.host.read(path))
        words = [item.text for item in read if isinstance(item, Event) and item.author == Author.PERSON]
        assert words == ["before", "after"]
        assert any(isinstance(item, Damage) for item in read)

    @pytest.mark.parametrize("in_place", [True, False])
    def test_a_file_replaced_while_it_is_read_is_read_anew(self, path: Path, in_place: bool) -> None:
        self.write(path)
        transcript = self.host.read(path)
        list(transcript)
        changed = path.read_text(encoding="utf-8").replace("Retries are in, with 3 attempts.", "R" * 32)
        changed = changed.replace("4 seconds", "9 seconds")
        other = path if in_place else path.with_suffix(".new")
        other.write_text(changed + self.render([Said("user", "Later.")], "s2"), encoding="utf-8", newline="")
        other.replace(path)
        texts = [event.text for event in self.events(path, transcript.position)]
        assert "R" * 32 in texts
        assert "Later." in texts

    def test_unknown_record_types_are_no_words(self, path: Path) -> None:
        whole = self.events(self.write(path))
        data = path.read_text(encoding="utf-8")
        odd = [{**json.loads(line), "type": "hologram"} for line in data.splitlines()]
        path.write_text(data + "".join(json.dumps(item) + "\n" for item in odd), encoding="utf-8")
        assert [event for event in self.events(path) if event.kind != Kind.META] == [
            event for event in whole if event.kind != Kind.META
        ]

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.differing_executors, HealthCheck.function_scoped_fixture],
    )
    @given(data=st.data())
    def test_any_field_may_hold_anything(self, path: Path, data: st.DataObject) -> None:
        lines = [json.loads(line) for line in self.render(TURNS).splitlines()]
        json_value = st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
            ),
            max_leaves=4,
        )
        for _ in range(data.draw(st.integers(1, 6))):
            target: Any = data.draw(st.sampled_from(lines))
            while True:
                keys = list(target) if isinstance(target, dict) else list(range(len(target)))
                if not keys:
                    break
                key = data.draw(st.sampled_from(keys))
                if isinstance(target[key], dict | list) and target[key] and data.draw(st.booleans()):
                    target = target[key]
                    continue
                target[key] = data.draw(json_value)
                break
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8", newline="")
        detect(path)
        transcript = self.host.read(path)
        for item in transcript:
            assert isinstance(item, Event), item
            for text in (item.text, item.tool, item.key, item.call, *item.paths):
                assert isinstance(text, str)
                text.encode()
            assert (item.kind == Kind.USER) == (item.author == Author.PERSON)
        session = transcript.session
        for text in (session.id, session.cwd, session.branch, session.remote, session.title, session.parent):
            text.encode()
        assert list(self.host.read(path, transcript.position)) == []

    def test_finds_transcripts_and_survives_loops_and_locked_folders(self, tmp_path: Path) -> None:
        places = [self.place(tmp_path, f"0000000{n}-1111-4111-8111-111111111111") for n in (1, 2)]
        for place in places:
            place.parent.mkdir(parents=True, exist_ok=True)
            self.write(place)
        (places[0].parent / "loop").symlink_to(tmp_path)
        (places[0].parent / "notes.txt").write_text("no transcript")
        (places[0].parent / "gone.jsonl").symlink_to(tmp_path / "nowhere")
        locked = places[0].parent / "locked"
        locked.mkdir()
        locked.chmod(0)
        try:
            assert list(self.host.transcripts(tmp_path, {})) == sorted(places)
        finally:
            locked.chmod(0o700)
        assert list(self.host.transcripts(tmp_path / "nowhere", {})) == []

    def test_files_that_cannot_be_read(self, tmp_path: Path) -> None:
        with pytest.raises(NoSuchFile, match="nothing"):
            self.host.read(tmp_path / "nothing.jsonl")
        with pytest.raises(UnreadableFile, match="folder"):
            self.host.read(tmp_path)
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(UnreadableFile, match="pipe"):
            self.host.read(tmp_path / "pipe")
        for other in ("nothing.jsonl", ".", "pipe"):
            assert not self.host.recognises(tmp_path / other)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"\n\n",
            b"# Notes\n",
            b"\x00\x01\x02",
            b'{"a": 1}\n',
            b"[]\n",
            b'{"type":"user"}\n',
            b'{"type":"user","uuid":',
        ],
    )
    def test_other_files_are_not_recognised(self, path: Path, content: bytes) -> None:
        path.write_bytes(content)
        assert not self.host.recognises(path)
        assert [
            item for item in self.host.read(path) if isinstance(item, Event) and item.author == Author.PERSON
        ] == []
