"""Memory as another program uses it."""

from __future__ import annotations

import ast
import inspect
import multiprocessing
import shutil
from pathlib import Path

import pytest
from tests.pipeline.opening import NOW, Clock, git, opened, tree

import lamina
from lamina import errors
from lamina.hosts.render import Said, render_claude
from lamina.memory import Memory
from lamina.memory.reading import Reading

METHODS = set(
    "search list show why log card remember decision codebase state set_state working set_working edit move forget "
    "undo capture import_sessions pending consolidate init tick status doctor rebuild_index check_index embed vectors export "
    "workspaces associate trust pause resume config config_value set_config workspace_of resolve_key open".split()
)


def public(kind: type) -> dict[str, object]:
    return {name: member for name, member in inspect.getmembers(kind) if not name.startswith("_")}


def test_the_public_names():
    assert set(lamina.__all__) == {"LaminaError", "Memory", "__version__"}
    assert lamina.Memory is Memory
    assert lamina.LaminaError is errors.LaminaError
    assert set(public(Memory)) >= METHODS
    with pytest.raises(AttributeError):
        lamina.nonsense  # noqa: B018


def test_every_public_method_says_what_it_does_and_has_types():
    for name, member in public(Memory).items():
        assert inspect.getdoc(member), name
        if inspect.isfunction(member):
            assert inspect.signature(member).return_annotation is not inspect.Signature.empty, name


def test_whoever_may_only_read_has_no_way_to_write():
    assert not {"remember", "edit", "forget", "undo", "import_sessions", "tick", "set_state"} & set(
        public(Reading)
    )


def test_memory_is_the_only_place_where_the_parts_meet():
    package = Path(inspect.getfile(lamina)).parent
    for path in sorted((package / "interfaces").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert not node.module.startswith(("lamina.store", "lamina.index", "lamina.settings")), path


def test_reading_makes_nothing(tmp_path):
    memory = opened(tmp_path)
    before = tree(tmp_path)
    assert memory.search("x").hits == ()
    assert memory.list() == ([], ())
    assert (memory.card(), memory.log(), memory.workspaces(), list(memory.pending())) == ("", [], [], [])
    assert memory.export()["entries"] == 0
    assert memory.status()["root"] == str(memory.root)
    assert memory.consolidate()["notes"] == 0
    assert memory.warnings == ()
    assert tree(tmp_path) == before


def test_init_makes_a_store_once(tmp_path):
    memory = opened(tmp_path)
    assert memory.init() == {"root": str(memory.root), "existed": False, "remote": None}
    before = git(memory.root, "rev-parse", "HEAD")
    assert memory.init()["existed"]
    assert git(memory.root, "rev-parse", "HEAD") == before
    memory.init(remote="https://example.com/me/memory.git")
    assert '"remote": "https://example.com/me/memory.git"' in (memory.root / "memory.json").read_text()
    with pytest.raises(errors.Refused, match="password or token"):
        memory.init(remote="https://me:" + "hunter2hunter2" + "@example.com/x.git")
    assert "hunter2" not in (memory.root / "memory.json").read_text()


def test_undo_goes_back_write_by_write_and_skips_what_is_no_memory(tmp_path):
    clock = Clock()
    memory = opened(tmp_path, clock=clock)
    first = memory.remember("One").id
    memory.remember("Two")
    memory.forget([first])
    clock.forward(minutes=1)
    memory.tick()
    memory.search("One")
    assert memory.undo(dry_run=True)["label"] == "forget"
    assert memory.undo()["label"] == "forget"
    assert memory.show(first)["trust"] == "approved"
    assert memory.remember("One").status == "known"
    memory.tick()
    assert memory.undo()["label"] == "remember"
    assert [item["heading"] for item in memory.list()[0]] == ["One"]
    assert memory.undo()["label"] == "remember"
    assert memory.list()[0] == []
    with pytest.raises(errors.Refused):
        memory.undo()
    assert memory.check_index() == []


def test_undo_never_overwrites_what_a_person_changed_since(tmp_path):
    memory = opened(tmp_path)
    path = memory.root / memory.remember("One").file
    path.write_text(path.read_text() + "by hand\n")
    with pytest.raises(errors.Refused, match="was changed"):
        memory.undo()
    assert "by hand" in path.read_text()


def test_undo_without_a_store_says_so_and_makes_none(tmp_path):
    memory = opened(tmp_path)
    with pytest.raises(errors.Refused, match="no write left"):
        memory.undo()
    assert not memory.exists


def test_undo_after_a_capture_does_not_unregister_the_workspace(tmp_path):
    memory = opened(tmp_path)
    memory.remember("Global", scope="global")
    memory.capture(transcript(tmp_path), final=True)
    assert memory.undo()["label"] == "remember"
    assert [known["key"] for known in memory.workspaces()] == ["harbor"]


def transcript(tmp_path: Path, *, project: str = "harbor", number: int = 0) -> Path:
    said = [
        Said("user", "No, use port 8081 for staging, never 8080; the proxy owns that one."),
        Said("assistant", "Staging now listens on port 8081 and the proxy keeps 8080. " * 10),
    ]
    id_ = f"4f3a1b2c-0000-4000-8000-{number:012}"
    path = tmp_path / f"{id_}.jsonl"
    path.write_text(render_claude(id_, said, cwd=str(tmp_path / project), started=NOW))
    return path


def test_a_session_goes_the_whole_way(tmp_path):
    memory = opened(tmp_path)
    captured = memory.capture(transcript(tmp_path), final=True)
    assert captured["status"] == "captured"
    assert memory.pending() == ["claude-code_4f3a1b2c-0000-4000-8000-000000000000"]
    assert memory.consolidate()["entries"] == 1
    assert "8081" in memory.search("staging port").hits[0].heading
    assert "8081" in memory.card()


def test_an_import_leaves_nothing_to_do(tmp_path):
    memory = opened(tmp_path)
    memory.import_sessions([transcript(tmp_path)])
    status = memory.status()
    assert status["due"] == []
    assert not status["system_doc_stale"]
    assert status["sync"]["at"] is not None


def test_an_import_finds_the_hosts_own_places(tmp_path):
    memory = opened(tmp_path)
    place = tmp_path / "home" / ".claude" / "projects" / "-harbor"
    place.mkdir(parents=True)
    transcript(tmp_path).rename(place / "4f3a1b2c-0000-4000-8000-000000000000.jsonl")
    steps: list[dict] = []
    done = memory.import_sessions(progress=lambda step: steps.append(dict(step)))
    assert (done["sessions"], done["entries"]) == (1, 1)
    assert [step["status"] for step in steps] == ["captured"]
    assert memory.import_sessions()["skipped"]["known"] == 1


def test_the_variable_of_this_shell_does_not_rename_other_sessions(tmp_path):
    memory = opened(tmp_path, env={"LAMINA_WORKSPACE": "quay"})
    memory.import_sessions([transcript(tmp_path)])
    assert {item["scope"] for item in memory.list(scope="all")[0]} == {"workspace:harbor"}
    named = opened(tmp_path, workspace="quay")
    named.import_sessions([transcript(tmp_path, number=1)])
    assert {item["scope"] for item in named.list(scope="all")[0]} == {"workspace:harbor", "workspace:quay"}


def test_excluded_folders_are_left_out(tmp_path):
    memory = opened(tmp_path, env={"LAMINA_EXCLUDE": str(tmp_path / "harbor")})
    done = memory.import_sessions([transcript(tmp_path)])
    assert (done["sessions"], done["skipped"]["off"]) == (0, 1)
    with pytest.raises(errors.Refused):
        memory.capture(transcript(tmp_path, number=1), final=True)


@pytest.mark.parametrize("how", ["LAMINA_OFF", "LAMINA_CAPTURE", "pause"])
def test_capture_that_is_off_refuses(tmp_path, how):
    memory = opened(tmp_path, env={how: {"LAMINA_OFF": "1"}.get(how, "off")} if how != "pause" else {})
    if how == "pause":
        memory.pause()
    for call in (
        lambda: memory.import_sessions([transcript(tmp_path)]),
        lambda: memory.capture(transcript(tmp_path)),
    ):
        with pytest.raises(errors.Refused, match=r"capture is off: (?!capture is)") as refused:
            call()
        assert how in refused.value.message or (how == "pause" and "resume" in refused.value.hint)
    assert memory.remember("Still allowed").status == "written"


@pytest.mark.parametrize(
    ("env", "why"),
    [
        ({}, None),
        ({"LAMINA_OFF": "1"}, "LAMINA_OFF is set"),
        ({"LAMINA_CAPTURE": "off"}, "capture = off (LAMINA_CAPTURE)"),
        ({"LAMINA_EXCLUDE": "harbor"}, "the folder is excluded by 'harbor' (LAMINA_EXCLUDE)"),
    ],
)
def test_status_says_whether_sessions_here_are_captured(tmp_path, env, why):
    memory = opened(tmp_path, env=env)
    assert memory.status()["capture_off"] == why
    memory.remember("Something")
    assert memory.status()["capture_off"] == why
    assert memory.status()["paused"] is False
    memory.pause("2h")
    assert memory.status()["paused"] is True
    assert memory.status()["capture_off"] == (
        "LAMINA_OFF is set" if "LAMINA_OFF" in env else "paused until 2026-11-30 14:00 UTC"
    )


def test_limits_come_from_the_settings(tmp_path):
    memory = opened(tmp_path, env={"LAMINA_NOTE_SIGNAL_CHARS": "100000"})
    assert memory.capture(transcript(tmp_path))["status"] == "thin"
    assert list(memory.pending()) == []


def test_the_card_budget_is_a_setting(tmp_path):
    memory = opened(tmp_path, env={"LAMINA_CARD_CHARS": "500"})
    for number in range(20):
        memory.remember(f"Fact {number} that is told at some length, so that few of them fit")
    assert len(memory.card()) <= 500


def test_a_workspace_is_listed_with_its_folders_and_counted(tmp_path):
    folder = tmp_path / "harbor"
    folder.mkdir()
    git(folder, "init", "-q")
    git(folder, "remote", "add", "origin", "https://me@example.com/a/harbor.git")
    memory = opened(tmp_path)
    memory.remember("One")
    memory.forget([memory.remember("Two").id])
    assert memory.workspaces() == [
        {
            "key": "harbor",
            "title": "harbor",
            "remotes": ["example.com/a/harbor"],
            "paths": [str(folder.resolve())],
            "entries": 1,
            "current": True,
        }
    ]
    assert memory.resolve_key(folder) == "harbor"
    assert memory.resolve_key(tmp_path / "home") is None


def test_a_moved_folder_is_bound_by_hand(tmp_path):
    memory = opened(tmp_path)
    memory.remember("One")
    (tmp_path / "harbor").rename(tmp_path / "moved")
    assert opened(tmp_path, project="moved").scope.key == "moved"
    assert memory.associate("harbor", tmp_path / "moved")["key"] == "harbor"
    assert opened(tmp_path, project="moved").list()[0][0]["heading"] == "One"
    with pytest.raises(errors.Refused):
        memory.associate("harbor", tmp_path / "home")


def test_trust_changes_what_a_project_may_say(tmp_path):
    memory = opened(tmp_path)
    (tmp_path / "harbor" / ".lamina.toml").write_text("card_chars = 700\n")
    assert any("lamina trust" in warning for warning in opened(tmp_path).warnings)
    assert memory.trust(tmp_path / "harbor")["state"] == "trusted as it is now"
    assert opened(tmp_path).settings["card_chars"] == 700
    assert opened(tmp_path).warnings == ()
    memory.trust(tmp_path / "harbor", revoke=True)
    assert opened(tmp_path).settings["card_chars"] == 6000


def test_a_setting_is_written_where_it_is_asked_for(tmp_path):
    memory = opened(tmp_path)
    file = memory.set_config("card_chars", "700", dry_run=True)["file"]
    assert not Path(file).exists()
    memory.set_config("card_chars", "700")
    assert opened(tmp_path).config_value("card_chars")["value"] == "700"
    with pytest.raises(errors.BadSetting):
        memory.set_config("card_chars", "many", dry_run=True)
    for key in ("git_token", "stage"):
        with pytest.raises(errors.BadSetting):
            memory.set_config(key, "branch", dry_run=True)
    with pytest.raises(errors.Refused):
        opened(tmp_path, project="home").set_config("capture", "off", project=True)


def test_it_can_be_closed_and_used_again(tmp_path):
    with opened(tmp_path) as memory:
        memory.remember("One")
    assert memory.search("One").hits


def write(root: str, number: int) -> None:
    memory = Memory.open(root, cwd=root, env={"HOME": root}, workspace="harbor")
    for each in range(10):
        memory.remember(f"Process {number} says {each}")


def test_several_processes_write_at_once(tmp_path):
    (tmp_path / "home").mkdir()
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=write, args=(str(tmp_path / "store"), n)) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * 4
    items = opened(tmp_path).list(scope="all")[0]
    assert len({item["id"] for item in items}) == len(items) == 40
    assert len(opened(tmp_path).workspaces()) == 1


def test_what_is_not_there_makes_no_store(tmp_path):
    memory = opened(tmp_path)
    (tmp_path / "no.jsonl").write_text("no transcript\n")
    for call, kind in (
        (lambda: memory.import_sessions([tmp_path / "gone"]), errors.NoSuchFile),
        (lambda: memory.import_sessions(host="nonsense"), errors.BadInput),
        (lambda: memory.capture(tmp_path / "gone.jsonl"), errors.NoSuchFile),
        (lambda: memory.capture(tmp_path / "no.jsonl"), errors.BadTranscript),
        (lambda: memory.capture(tmp_path / "no.jsonl", host="nonsense"), errors.BadInput),
        (lambda: memory.edit("harbor-sem-0001", text="x"), errors.NoEntry),
        (lambda: memory.move("harbor-sem-0001", layer="procedural"), errors.NoEntry),
        (lambda: memory.forget(["harbor-sem-0001"]), errors.NoEntry),
        (lambda: memory.forget(["harbor-sem-0001"], undo=True), errors.NoEntry),
    ):
        with pytest.raises(kind):
            call()
    assert not memory.exists


def test_an_index_that_cannot_be_written_is_told_and_searches_go_on(tmp_path: Path) -> None:
    """No success is reported for what is lost when the process ends."""
    root = tmp_path / "store"
    with Memory.open(root, cwd=tmp_path, env={"HOME": str(tmp_path)}) as memory:
        memory.remember("The gateway listens on 8080")
    index = root / "index"
    shutil.rmtree(index)
    index.write_text("in the way", encoding="utf-8")
    with Memory.open(root, cwd=tmp_path, env={"HOME": str(tmp_path)}) as memory:
        with pytest.raises(errors.UnwritableStore, match="could not be written"):
            memory.rebuild_index()
        assert [hit.heading for hit in memory.search("gateway").hits] == ["The gateway listens on 8080"]
