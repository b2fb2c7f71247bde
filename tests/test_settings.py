import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lamina import errors
from lamina.settings import SETTINGS, Settings, config_file, markdown_table, nearest, parse_value
from lamina.settings.capture import capture_off
from lamina.settings.file import set_value, unset_value
from lamina.store import pause
from lamina.store import project as projects
from lamina.store.store import Store

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


@pytest.fixture
def home(tmp_path):
    path = tmp_path / "home"
    path.mkdir()
    return path


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def user_file(home):
    return home / ".config" / "lamina" / "config.toml"


def load(home, *, env=None, flags=None, cwd=None):
    return Settings.load(env=env or {}, home=home, flags=flags, cwd=cwd, platform="linux")


def project(home, text, *, trusted=False):
    return projects.read(write(home / "proj" / ".lamina.toml", text))._replace(trusted=trusted)


def test_defaults_hold_where_nothing_is_said(home):
    settings = load(home)
    assert settings["card_chars"] == 6000
    assert settings.value("capture") == ("on", "default")
    assert settings.root == home / ".lamina"
    assert settings.warnings == ()
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    "key, default",
    [
        ("capture_interval_s", 300),
        ("commit_debounce_s", 10),
        ("sync_interval_s", 3600),
        ("refresh_interval_s", 86400),
        ("history_interval_s", 3600),
        ("consolidate_interval_s", 1800),
        ("consolidate_pending", 3),
        ("consolidate_batch", 6),
        ("consolidate_attempts", 3),
        ("consolidate_bytes", 48000),
        ("consolidate_note_bytes", 8000),
        ("card_chars", 6000),
        ("card_interval_s", 1800),
        ("note_turns", 40),
        ("note_gists", 40),
        ("note_message_chars", 600),
        ("note_bytes", 24000),
        ("note_bullets", 12),
        ("note_signal_chars", 400),
        ("note_attempts", 2),
        ("history_commits", 200),
        ("notes_kept", 50),
        ("rerank", False),
        ("review", "doubtful"),
        ("model_daily_calls", 300),
        ("model_daily_tokens", 2_000_000),
        ("git_branch", "main"),
        ("model_routes", []),
        ("cross_workspace", False),
        ("semantic", "builtin"),
    ],
)
def test_the_defaults_are_those_of_the_specification(home, key, default):
    assert load(home)[key] == default


def test_each_layer_overrules_the_one_below_and_says_so(home):
    root = home / ".lamina"
    said = []

    def origin(**more):
        settings = load(home, env=more.get("env"), flags=more.get("flags")).with_project(more.get("project"))
        said.append(settings.value("git_branch"))

    origin()
    write(root / "memory.json", '{"schemaVersion": 2, "git": {"remote": "", "branch": "shared"}}')
    origin()
    write(user_file(home), 'git_branch = "mine"\n')
    origin()
    trusted = project(home, 'git_branch = "theirs"\n', trusted=True)
    origin(project=trusted)
    origin(project=trusted, env={"LAMINA_GIT_BRANCH": "env"})
    origin(project=trusted, env={"LAMINA_GIT_BRANCH": "env"}, flags={"git_branch": "flag"})
    assert said == [
        ("main", "default"),
        ("shared", "memory.json"),
        ("mine", str(user_file(home))),
        ("theirs", str(trusted.path)),
        ("env", "LAMINA_GIT_BRANCH"),
        ("flag", "--git-branch"),
    ]


def test_an_empty_remote_in_the_store_says_nothing(home):
    write(home / ".lamina" / "memory.json", '{"git": {"remote": "", "branch": 7}}')
    settings = load(home)
    assert settings.value("git_remote") == ("", "default")
    assert settings.value("git_branch") == ("main", "default")


def test_the_root_may_come_from_anywhere_but_a_project(home):
    assert load(home, env={"LAMINA_ROOT": "~/elsewhere"}).root == home / "elsewhere"
    assert load(home, flags={"root": "/srv/memory"}).root == Path("/srv/memory")
    write(user_file(home), 'root = "~"\n')
    assert load(home).root == home
    asked = project(home, 'root = "/tmp/theirs"\n', trusted=True)
    assert load(home).with_project(asked).root == home
    assert "root" in asked.warnings[0]


def test_the_users_file_follows_xdg(home, tmp_path):
    assert config_file({}, home, platform="linux") == home / ".config/lamina/config.toml"
    assert config_file({"XDG_CONFIG_HOME": str(tmp_path)}, home) == tmp_path / "lamina/config.toml"
    assert (
        config_file({"XDG_CONFIG_HOME": "relative"}, home, platform="linux")
        == home / ".config/lamina/config.toml"
    )
    write(tmp_path / "xdg" / "lamina" / "config.toml", "card_chars = 100\n")
    assert load(home, env={"XDG_CONFIG_HOME": str(tmp_path / "xdg")})["card_chars"] == 100


def test_a_table_in_the_file_reads_as_the_longer_name(home):
    write(user_file(home), '[git]\nremote = "https://example.org/m.git"\n')
    assert load(home)["git_remote"] == "https://example.org/m.git"


@pytest.mark.parametrize(
    "text, line",
    [
        ('card_chars = "many"\n', "config.toml:1: card_chars = 'many': expected a whole number"),
        ("\nrerank = 3\n", "config.toml:2: rerank = 3: expected true or false"),
        ("sync_interval_s = -1\n", "expected seconds, or a text such as 30m"),
        ('review = "harsh"\n', 'expected one of "off", "doubtful", "decisions", "all"'),
        ("exclude = [1]\n", "expected a list of texts"),
        ("card_charz = 3\n", "config.toml:1: no setting is called 'card_charz'; did you mean 'card_chars'?"),
        (
            "\ngitRemote = 'x'\n",
            "config.toml:2: no setting is called 'gitRemote'; did you mean 'git_remote'?",
        ),
        ('isolate = "worktree"\n', "isolate belongs into a project's .lamina.toml"),
        ('workspace = "x"\n', "workspace belongs into a project's .lamina.toml"),
        ('git_token = "x"\n', "git_token is not read from a file; set LAMINA_GIT_TOKEN"),
    ],
)
def test_a_fault_in_the_users_file_is_a_warning_with_its_line(home, text, line):
    write(user_file(home), text + "note_gists = 7\n")
    settings = load(home)
    assert line in settings.warnings[0]
    assert settings["note_gists"] == 7


def test_a_damaged_users_file_is_told_and_its_other_lines_count(home):
    write(user_file(home), 'capture = "off"\nexclude = ["~/private"]\ncard_chars = = 3\n')
    settings = load(home)
    assert f"{user_file(home)}:3: not TOML" in settings.warnings[0]
    assert (settings["capture"], settings["exclude"], settings["card_chars"]) == ("off", ["~/private"], 6000)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"\x00", b"[" * 5000, b"a = " + b"[" * 3000])
def test_a_users_file_of_any_bytes_is_never_fatal(home, content):
    user_file(home).parent.mkdir(parents=True)
    user_file(home).write_bytes(content)
    assert load(home).warnings


def test_a_damaged_memory_json_is_a_warning(home):
    write(home / ".lamina" / "memory.json", "{")
    assert "memory.json:1: not JSON" in load(home).warnings[0]


def test_the_environment_is_read_by_type(home):
    env = {
        "LAMINA_RERANK": "yes",
        "LAMINA_CARD_CHARS": "1_000",
        "LAMINA_SYNC_INTERVAL_S": "2h",
        "LAMINA_EXCLUDE": "~/a, /b",
        "LAMINA_MODEL_ROUTES": '["ollama/qwen3"]',
        "LAMINA_MODEL": "",
        "LAMINA_OFF": "1",
        "LAMINA_CHILD": "1",
        "LAMINA_EMBEDDER_KEY_ENV": "MY_KEY",
    }
    settings = load(home, env=env)
    assert [
        settings[key]
        for key in ("rerank", "card_chars", "sync_interval_s", "exclude", "model_routes", "model")
    ] == [
        True,
        1000,
        7200,
        ["~/a", "/b"],
        ["ollama/qwen3"],
        "",
    ]
    assert settings.warnings == ()
    assert load(home, env={"LAMINA_MODEL_ROUTES": "auto"})["model_routes"] == "auto"


def test_faults_in_the_environment_are_warnings_and_faults_in_flags_are_errors(home):
    settings = load(home, env={"LAMINA_CARD_CHARS": "many", "LAMINA_CARD_CHAR": "3"})
    assert "LAMINA_CARD_CHARS: card_chars = 'many': expected a whole number" in settings.warnings[0]
    assert "did you mean 'card_chars'" in settings.warnings[1]
    with pytest.raises(errors.BadSetting, match="card_chars = 'many'"):
        load(home, flags={"card_chars": "many"})
    with pytest.raises(errors.BadSetting) as caught:
        load(home, flags={"card_charz": 1})
    assert "card_chars" in caught.value.hint


def test_a_switch_that_cannot_be_read_is_off(home):
    settings = load(home, env={"LAMINA_CAPTURE": "fo"})
    assert settings["capture"] == "off"
    assert "'off' until then" in settings.warnings[0]


def test_an_unknown_key_names_the_nearest(home):
    with pytest.raises(errors.BadSetting) as caught:
        load(home)["summaryModel"]
    assert "model" in caught.value.hint
    assert nearest("LAMINA_MODEL") == "model"
    assert nearest("note-bullet") == "note_bullets"
    assert nearest("zzzzzz") == ""


def test_a_secret_is_shown_as_set_or_unset_only(home):
    token = "gh" + "p_" + "x" * 36
    settings = load(home, env={"LAMINA_GIT_TOKEN": token})
    assert (settings["git_token"], settings.shown("git_token")) == (token, "set")
    assert load(home).shown("git_token") == "unset"
    assert (settings.shown("rerank"), settings.shown("exclude")) == ("false", "[]")


# Projects.


def test_a_project_may_only_narrow_what_is_remembered(home):
    asked = project(
        home, 'capture = "off"\nexclude = ["gen"]\nreview = "all"\nmodel = "evil/model"\ncard_chars = 1\n'
    )
    write(user_file(home), 'exclude = ["~/private"]\n')
    settings = load(home).with_project(asked)
    assert (settings["capture"], settings["review"]) == ("off", "all")
    assert settings["exclude"] == ["~/private", "gen"]
    assert (settings["model"], settings["card_chars"]) == ("", 6000)


def test_a_project_cannot_widen_what_is_remembered(home):
    write(user_file(home), 'capture = "off"\nreview = "decisions"\nexclude = ["~/private"]\n')
    settings = load(home).with_project(project(home, 'capture = "on"\nreview = "off"\nexclude = []\n'))
    assert (settings["capture"], settings["review"], settings["exclude"]) == (
        "off",
        "decisions",
        ["~/private"],
    )
    assert "review = 'off': ignored until `lamina trust`" in settings.warnings[0]


def test_a_trusted_project_may_say_anything(home):
    write(user_file(home), 'capture = "off"\nreview = "decisions"\n')
    text = 'capture = "on"\nreview = "off"\nmodel = "ollama/qwen3"\ncard_charz = 1\n'
    settings = load(home).with_project(project(home, text, trusted=True))
    assert (settings["capture"], settings["review"], settings["model"]) == ("on", "off", "ollama/qwen3")
    assert "did you mean 'card_chars'" in settings.warnings[0]


def test_a_folders_project_is_found_by_loading_for_the_folder(home):
    project(home, 'capture = "off"\n')
    (home / "proj" / "sub").mkdir()
    assert load(home, cwd=home / "proj" / "sub")["capture"] == "off"
    assert load(home, cwd=home)["capture"] == "on"


# Writing.


def test_setting_a_value_keeps_comments_order_and_line_ends(home):
    path = user_file(home)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"# mine\r\ncard_chars = 1 # why\r\n\r\nrerank = true\r\n")
    assert set_value(path, "card_chars", "7000") == 7000
    assert path.read_bytes() == b"# mine\r\ncard_chars = 7000 # why\r\n\r\nrerank = true\r\n"
    unset_value(path, "card_chars")
    assert load(home).value("card_chars").origin == "default"
    assert load(home)["rerank"] is True


def test_setting_a_value_makes_the_file_and_its_folder(home):
    set_value(user_file(home), "exclude", "~/a,~/b")
    set_value(user_file(home), "sync_interval_s", "1h30m")
    assert user_file(home).read_text() == 'exclude = ["~/a", "~/b"]\nsync_interval_s = 5400\n'


def test_a_new_value_goes_before_the_tables(home):
    write(user_file(home), '[git]\nremote = "x"\n')
    set_value(user_file(home), "card_chars", 9)
    settings = load(home)
    assert (settings["card_chars"], settings["git_remote"]) == (9, "x")


def test_setting_a_value_that_stands_in_a_table_changes_it_there(home):
    write(user_file(home), '[git]\nremote = "x" # old\n')
    set_value(user_file(home), "git_remote", "y")
    assert load(home)["git_remote"] == "y"
    assert user_file(home).read_text() == '[git]\nremote = "y" # old\n'
    unset_value(user_file(home), "git_remote")
    assert load(home)["git_remote"] == ""


def test_setting_a_wrong_value_writes_nothing(home):
    for key, value in (("card_chars", "x"), ("nonsense", "1"), ("isolate", "worktree"), ("git_token", "x")):
        with pytest.raises(errors.BadSetting):
            set_value(user_file(home), key, value)
    assert not user_file(home).exists()
    write(user_file(home), "a = = 1\n")
    with pytest.raises(errors.BadInput, match=r"config.toml:1: not TOML"):
        set_value(user_file(home), "card_chars", 1)
    assert user_file(home).read_text() == "a = = 1\n"


def test_a_linked_file_stays_a_link(home):
    real = write(home / "dotfiles" / "lamina.toml", "card_chars = 1\n")
    user_file(home).parent.mkdir(parents=True)
    user_file(home).symlink_to(real)
    assert load(home)["card_chars"] == 1
    set_value(user_file(home), "card_chars", 2)
    assert user_file(home).is_symlink()
    assert real.read_text() == "card_chars = 2\n"


def test_a_project_file_takes_project_settings_and_never_the_root(home):
    path = home / "proj" / ".lamina.toml"
    set_value(path, "isolate", "worktree")
    set_value(path, "capture", False)
    assert path.read_text() == 'isolate = "worktree"\ncapture = "off"\n'
    with pytest.raises(errors.BadSetting, match="can't move the store"):
        set_value(path, "root", "/x")


# Whether a session is captured.


def off(home, folder, *, env=None, now=NOW):
    return capture_off(load(home, env=env), folder, env=env or {}, now=now)


def test_capture_is_on_until_something_switches_it_off(home):
    assert off(home, home / "work") is None
    assert off(home, home, env={"LAMINA_OFF": "0"}) is None
    assert off(home, home, env={"LAMINA_OFF": "1"}) == "LAMINA_OFF is set"
    write(user_file(home), 'capture = "off"\n')
    assert off(home, home) == f"capture = off ({user_file(home)})"


@pytest.mark.parametrize(
    "pattern, folder, excluded",
    [
        ("~/private", "private", True),
        ("~/private", "private/deep/er", True),
        ("~/private", "private-not", False),
        ("~/clients/*", "clients/a/src", True),
        ("~/clients/*", "clients", False),
        ("secret", "work/secret/src", True),
        ("secret", "work/secrets", False),
        ("a/b", "x/a/b/c", True),
        ("**/gen", "x/y/gen", True),
        ("~/**/gen", "gen", True),
        ("~/x?", "xy", True),
        ("~/x?", "x/y", False),
        ("private/", "private", True),
        ("~", "anything", True),
        (" ", "anything", False),
        ("[x]", "x", False),
    ],
)
def test_patterns_exclude_folders_and_all_below(home, pattern, folder, excluded):
    set_value(user_file(home), "exclude", [pattern])
    assert bool(off(home, home / folder)) == excluded


def test_a_linked_folder_is_excluded_by_either_name(home):
    (home / "private").mkdir()
    (home / "link").symlink_to(home / "private")
    set_value(user_file(home), "exclude", ["~/private"])
    assert "excluded by '~/private'" in off(home, home / "link")
    set_value(user_file(home), "exclude", ["~/link"])
    assert off(home, home / "link")
    assert off(home, home / "private") is None


def test_a_pause_ends_by_itself_or_by_hand(home):
    store = Store.open(home / ".lamina", create=True, now=NOW)
    with store.writing(label="pause", at=NOW) as batch:
        pause.pause(batch, NOW + timedelta(hours=2))
    assert off(home, home) == "paused until 2026-11-30 14:00 UTC"
    assert off(home, home, now=NOW + timedelta(hours=2)) is None
    with store.writing(label="pause", at=NOW) as batch:
        pause.pause(batch)
    assert off(home, home, now=NOW + timedelta(days=900)) == "paused until `lamina resume`"
    with store.writing(label="resume", at=NOW) as batch:
        pause.resume(batch)
    assert off(home, home) is None
    with store.writing(label="resume", at=NOW) as batch:
        pause.resume(batch)


def test_pauses_that_are_over_are_known(home):
    store = Store.open(home / ".lamina", create=True, now=NOW)
    hours = [NOW + timedelta(hours=number) for number in range(6)]
    for at, until in ((hours[0], hours[1]), (hours[2], None)):
        with store.writing(label="pause", at=at) as batch:
            pause.pause(batch, until)
    with store.writing(label="resume", at=hours[3]) as batch:
        pause.resume(batch)
    with store.writing(label="pause", at=hours[4]) as batch:
        pause.pause(batch)
    silences = pause.silences(home / ".lamina")
    held = [any(each.holds(at + timedelta(minutes=30)) for each in silences) for at in hours]
    assert held == [True, False, True, False, True, True]
    write(home / ".lamina" / "state" / "pauses.json", "[")
    assert len(pause.silences(home / ".lamina")) == 1


def test_a_damaged_pause_is_a_pause(home):
    write(home / ".lamina" / "state" / "paused.json", "{")
    assert off(home, home) == "paused until `lamina resume`"


def test_what_was_said_right_before_a_resume_stays_silent(home):
    store = Store.open(home / ".lamina", create=True, now=NOW)
    with store.writing(label="pause", at=NOW) as batch:
        pause.pause(batch)
    end = NOW + timedelta(seconds=60, milliseconds=900)
    with store.writing(label="resume", at=end) as batch:
        pause.resume(batch)
    (silence,) = pause.silences(home / ".lamina")
    assert silence.holds(end - timedelta(milliseconds=1))
    assert not silence.holds(end + timedelta(seconds=1))


@pytest.mark.parametrize("text", ["{", "[]", '{"paused": true}'])
def test_a_damaged_pause_leaves_a_silence_when_it_ends(home, text):
    store = Store.open(home / ".lamina", create=True, now=NOW)
    file = home / ".lamina" / "state" / "paused.json"
    write(file, text)
    os.utime(file, (NOW.timestamp(), NOW.timestamp()))
    meanwhile = NOW + timedelta(minutes=30)
    assert any(each.holds(meanwhile) for each in pause.silences(home / ".lamina"))
    with store.writing(label="resume", at=NOW + timedelta(hours=1)) as batch:
        pause.resume(batch)
    (silence,) = pause.silences(home / ".lamina")
    assert silence.holds(meanwhile)
    assert not silence.holds(NOW + timedelta(hours=2))


# Documentation and cost.


def test_the_table_of_the_documentation_names_every_setting():
    table = markdown_table()
    for key in SETTINGS:
        assert f"| `{key}` |" in table
    assert "| `card_chars` | `LAMINA_CARD_CHARS` | `injectionMaxChars` | `6000` |" in table
    assert all(line.count(" | ") == 4 for line in table.splitlines())


@pytest.mark.parametrize("setting", SETTINGS.values(), ids=lambda setting: setting.key)
def test_every_default_is_a_value_of_its_type(setting):
    if setting.default != "":
        assert parse_value(setting, setting.default) == setting.default
    assert setting.meaning.endswith(".")


def test_loading_without_files_imports_nothing_heavy(home):
    code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from lamina.settings import Settings\n"
        "started = time.process_time()\n"
        f"Settings.load(env={{}}, home=Path({str(home)!r}), platform='linux')\n"
        "spent = time.process_time() - started\n"
        "heavy = {'tomllib', 'tomlkit', 'platformdirs', 'difflib', 'json', 'subprocess', 'tempfile', 'email', 'hashlib'}\n"
        "print(sorted(heavy & set(sys.modules)), spent < 0.003)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True"
