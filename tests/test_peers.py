"""The comparison with other tools: its figures, the way back from text to turns, and the two baselines for real."""

import json
import os
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import pytest
from benchmarks.peers import __main__ as command
from benchmarks.peers import data, environments, table
from benchmarks.peers import page as pages
from benchmarks.peers.figures import Shown, middle_and_high, quality
from benchmarks.peers.handshake import Handshake, shake_hands
from benchmarks.peers.measure import Costs, Measured, measure
from benchmarks.peers.pages import Chunk, Places, page_text, turns_of
from benchmarks.peers.processes import ProcessFailed, Worker, closed_environment, run
from benchmarks.peers.tools import TOOLS, Here

from lamina.evaluation.corpora import Corpus, Question, Unit

LONG = "The importer keeps a watermark per file, so that a second run reads only what is new since then. " * 6
DAY = date(2026, 3, 4)
UNITS = (
    Unit("A:0", "A", 0, "user", DAY, "Which database do we take for the billing page?"),
    Unit("A:1", "A", 1, "assistant", DAY, "SQLite, because one file is easy to back up."),
    Unit("A:2", "A", 2, "user", DAY, "Ok."),
    Unit("B:0", "B", 0, "user", DAY, LONG),
    Unit(
        "B:1", "B", 1, "assistant", DAY, "The deploy script\nlives in `tools/ship.sh`.\n\nIt needs port 8443."
    ),
    Unit("B:2", "B", 2, "user", DAY, "Ok."),
)
QUESTIONS = (
    Question("1", "why SQLite for billing", frozenset({"A:1"}), "rationale", "en"),
    Question("2", "deploy script port", frozenset({"B:1"}), "fact", "de"),
    Question("3", "watermark", frozenset({"B:0"}), "fact", "en"),
    Question("4", "xylophone lessons", frozenset({"B:0"}), "fact", "en"),
)
CORPUS = Corpus("tiny", UNITS, QUESTIONS, DAY)
TURNS = turns_of(CORPUS)
PAGE_A, PAGE_B = TURNS[0].page, TURNS[3].page


def test_figures_of_known_answers():
    shown = [
        Shown({"a", "b"}, [["x"], ["a", "y"]], 100),
        Shown({"c"}, [["c"]], 20),
        Shown({"d"}, [], 0),
    ]
    found = quality(shown)
    assert found.questions == 3
    assert found.recall == pytest.approx((0.5 + 1 + 0) / 3)
    assert found.hit == pytest.approx(2 / 3)
    assert found.mrr == pytest.approx((0.5 + 1 + 0) / 3)
    assert found.turns == pytest.approx((3 + 1 + 0) / 3)
    assert found.characters == pytest.approx(40)


def test_a_result_with_many_turns_gains_nothing_within_the_first_ten_turns():
    crowd = [[f"x{number}" for number in range(12)] + ["gold"]]
    found = quality([Shown({"gold"}, crowd, 1)])
    assert found.recall == 1
    assert found.recall_turns == 0


def test_only_five_results_count_as_a_hit_and_ten_for_recall():
    results = [[str(number)] for number in range(12)]
    assert quality([Shown({"4"}, results, 0)]).hit == 1
    assert quality([Shown({"5"}, results, 0)]).hit == 0
    assert quality([Shown({"10"}, results, 0)]).recall == 0


def test_median_and_95th_percentile():
    assert middle_and_high([]) == (0, 0)
    assert middle_and_high([3.0]) == (3.0, 3.0)
    middle, high = middle_and_high([float(number) for number in range(101)])
    assert (middle, high) == (50.0, 95.0)


def found(text, page=""):
    return Places(TURNS).turns_in(Chunk(text, page))


def test_one_turn_is_found_with_and_without_its_label():
    assert found(UNITS[1].text) == ("A:1",)
    assert found(f"assistant, 2026-03-04: {UNITS[1].text}") == ("A:1",)
    assert found(f"## assistant, 2026-03-04\n\n{UNITS[1].text}", PAGE_A) == ("A:1",)


def test_a_short_turn_counts_only_where_its_place_is_known():
    assert found("user, 2026-03-04: Ok.", PAGE_B) == ("B:2",)
    assert found("Smoke on the water. Ok. And more of the kind.") == ()


def test_a_whole_page_shows_all_its_turns_in_order():
    turns = [turn for turn in TURNS if turn.page == PAGE_A]
    assert found(page_text(turns), PAGE_A) == ("A:0", "A:1", "A:2")


def test_a_piece_counts_with_half_of_the_turn_or_200_characters():
    assert found(LONG[97:310], PAGE_B) == ("B:0",)
    assert found(LONG[300:400], PAGE_B) == ()
    assert found("SQLite, because one file is easy", PAGE_A) == ("A:1",)
    assert found("SQLite, because", PAGE_A) == ()


def test_pieces_that_a_tool_joined_are_found_one_by_one():
    joined = f"{UNITS[4].text}\n---\n{UNITS[0].text}"
    assert set(found(joined)) == {"A:0", "B:1"}


def test_a_page_name_keeps_other_pages_out():
    assert found(UNITS[1].text, PAGE_B) == ()


def test_white_space_does_not_matter():
    assert found("The deploy script lives in `tools/ship.sh`.   It needs port 8443.", PAGE_B) == ("B:1",)


def tool(name):
    return next(each for each in TOOLS if each.name == name)


def test_fts5_is_measured_from_install_to_update(tmp_path):
    told = []
    fts5 = tool("fts5")
    done = measure(fts5, [CORPUS], tmp_path, "", told.append)
    assert done.reason == ""
    assert done.quality.questions == 4
    assert done.quality.hit == pytest.approx(0.75)
    assert done.quality.turns <= 6
    assert set(done.kinds) == {"de", "en"}
    assert done.costs.index_s > 0
    assert done.costs.update_s > 0
    assert done.costs.disk_mb > 0
    assert told
    here = Here(Path(sys.executable).parent, tmp_path / "runs" / "fts5" / "00", "")
    again = run(fts5.cold(here, "edited afterwards"), closed_environment(here.folder / "home"), here.folder)
    assert "Edited afterwards" in again.out


def test_grep_needs_no_index(tmp_path):
    done = measure(tool("ripgrep"), [CORPUS], tmp_path, "", lambda _: None)
    assert done.reason == ""
    assert done.quality.hit == pytest.approx(0.75)
    assert done.costs.index_s is None
    assert done.costs.update_s is None
    assert done.costs.disk_mb == 0
    assert done.costs.cold_s > 0


def test_a_tool_that_cannot_be_installed_is_listed_with_its_reason(tmp_path):
    def refuse(_):
        raise environments.Unusable("needs Python 9.9 or newer, and none was found here")

    done = measure(tool("fts5")._replace(install=refuse), [CORPUS], tmp_path, "", lambda _: None)
    text = table.report([done])
    assert "- FTS5 script: needs Python 9.9 or newer" in text


def test_a_tool_that_fails_is_listed_with_what_it_said(tmp_path):
    broken = tool("fts5")._replace(
        index=lambda _: [sys.executable, "-c", "raise SystemExit('no such model')"]
    )
    done = measure(broken, [CORPUS], tmp_path, "", lambda _: None)
    assert done.reason == "no such model"


def test_a_python_that_is_too_old_is_refused():
    with pytest.raises(environments.Unusable, match=r"3\.99"):
        environments.python_for("# python 3.99 or newer", [sys.executable])


def test_every_installed_tool_is_pinned_with_a_date():
    for each in TOOLS:
        if each.endpoint:
            assert environments.version_of(each.name)
    for path in environments.PINS.iterdir():
        first, *pins = path.read_text(encoding="utf-8").splitlines()
        assert "pinned 2026-" in first
        assert all("==" in pin for pin in pins)


def measured(name, *, recall=0.5, index_s=1.0, handshake=""):
    figures = quality([Shown({"a"}, [["a"]], 10)])._replace(recall=recall)
    costs = Costs(index_s, 1.0, 1.0, (1.0, 2.0), 10.0, 10.0, 1.0)
    return Measured(name, name, "", figures, {}, costs, handshake)


def test_where_a_peer_is_better_the_table_says_so():
    text = table.report([measured("lamina"), measured("other", recall=0.6, index_s=None)])
    assert "**60.0 (×1.20)**" in text
    assert "- recall@10: other 60.0 (Lamina 50.0)" in text
    assert "- index: other needs none (Lamina 1.00 s)" in text


def test_what_is_equal_as_written_is_not_better():
    text = table.report([measured("lamina", recall=0.5), measured("other", recall=0.50001)])
    assert "**" not in text
    assert "- in no figure" in text


def test_words_alone_are_no_peer():
    text = table.report([measured("lamina"), measured("lamina-words", recall=0.9)])
    assert "**" not in text


def test_a_process_that_keeps_search_warm_is_told_below_the_costs():
    lamina = measured("lamina")
    text = table.report([lamina._replace(costs=lamina.costs._replace(kept_warm=(0.09, 200.0)))])
    assert (
        "lamina: 0.09 s for a cold search while its own process keeps search warm; that process takes 200 MB."
        in text
    )


def test_servers_stand_in_a_table_of_their_own():
    text = table.report([measured("lamina", handshake=Handshake(0.1, 0.2, 14, 900))])
    assert "| lamina | 0.10 s | 0.20 s | 14 | 900 |" in text


def test_questions_are_sampled_evenly_and_corpora_without_any_left_out():
    other = CORPUS._replace(name="other")
    assert [c.name for c in data.sampled([CORPUS, other], 2)] == ["tiny", "other"]
    assert [c.name for c in data.sampled([CORPUS, other], 1)] == ["tiny"]
    assert data.sampled([CORPUS], None) == [CORPUS]


def test_turns_are_gold_where_sessions_were():
    question = Question("1", "why SQLite", frozenset({"A"}), "fact", "en", frozenset({"A:1", "gone"}))
    lost = Question("2", "what else", frozenset({"A"}), "fact")
    (corpus,) = data.by_turn([CORPUS._replace(questions=(question, lost, QUESTIONS[1]), unit="session")])
    assert [(each.id, each.gold) for each in corpus.questions] == [("1", {"A:1"}), ("2", {"B:1"})]


def test_the_page_names_the_command_without_paths():
    arguments = [
        "--locomo",
        "/home/someone/data.json",
        "--work=/scratch",
        "--questions",
        "40",
        "--markdown",
        "page.md",
    ]
    text = pages.page(arguments, "1 turn.\n")
    assert "python -m benchmarks.peers --locomo FILE --questions 40\n" in text
    assert "someone" not in text


def test_an_unknown_tool_is_named():
    with pytest.raises(SystemExit, match="nosuch"):
        command.chosen("fts5,nosuch")
    assert [each.name for each in command.chosen("ripgrep,fts5")] == ["fts5", "ripgrep"]


def test_json_holds_every_figure():
    assert json.loads(json.dumps(command.plain(measured("lamina"))))["costs"]["index_s"] == 1.0


def test_a_closed_environment_keeps_the_real_home_out(tmp_path):
    env = closed_environment(tmp_path / "home", {"MORE": "1"})
    assert env["HOME"] == str(tmp_path / "home")
    assert env["MORE"] == "1"
    assert env["MEM0_TELEMETRY"] == "False"
    assert os.environ.get("HOME", "") not in {value for name, value in env.items() if name.startswith("XDG")}


def test_a_run_tells_time_memory_and_output(tmp_path):
    code = "import time; x = b'x' * 20_000_000; time.sleep(0.1); print(len(x))"
    done = run([sys.executable, "-c", code], closed_environment(tmp_path / "home"), tmp_path)
    assert done.out == "20000000\n"
    assert done.seconds >= 0.1
    assert done.peak_mb > 20 or not Path("/proc/self/status").exists()


def test_a_run_that_takes_too_long_is_ended(tmp_path):
    env = closed_environment(tmp_path / "home")
    with pytest.raises(ProcessFailed, match="longer"):
        run([sys.executable, "-c", "import time; time.sleep(60)"], env, tmp_path, limit_s=0.2)


def test_a_worker_that_dies_says_why(tmp_path):
    code = "import sys; sys.exit('the index is damaged')"
    env = closed_environment(tmp_path / "home")
    with (
        Worker([sys.executable, "-c", code], env, tmp_path) as worker,
        pytest.raises(ProcessFailed, match="the index is damaged"),
    ):
        worker.hear()


def test_a_worker_is_ended_with_what_it_started(tmp_path):
    code = (
        "import json, subprocess, sys\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(json.dumps({'child': child.pid}), flush=True)\n"
        "sys.stdin.read()\n"
    )
    with Worker([sys.executable, "-c", code], closed_environment(tmp_path / "home"), tmp_path) as worker:
        child = worker.hear()["child"]
    assert worker.process.returncode is not None
    until = time.monotonic() + 5
    while is_running(child) and time.monotonic() < until:
        time.sleep(0.01)
    assert not is_running(child)


def is_running(pid):
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return done.stdout.strip()[:1] not in {"", "Z"}


SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        tools = [{"name": "search", "description": "x" * 389}]
        result = {"tools": tools} if asked["method"] == "tools/list" else {"capabilities": {}}
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


def test_a_handshake_counts_tools_and_tokens(tmp_path):
    script = tmp_path / "server.py"
    script.write_text(SERVER)
    done = shake_hands([sys.executable, str(script)], closed_environment(tmp_path / "home"), tmp_path)
    assert done.tools == 1
    assert (
        done.tokens
        == len(json.dumps([{"name": "search", "description": "x" * 389}], separators=(",", ":"))) // 4
    )
    assert 0 < done.first_s <= done.listed_s


def test_a_tool_whose_every_search_fails_is_listed_with_the_reason(tmp_path):
    """The baseline's database is taken away after it was indexed."""
    broken = tool("fts5")._replace(index=lambda here: here.driver("grep", "index"), cold=tool("ripgrep").cold)
    done = measure(broken, [CORPUS], tmp_path, "", lambda _: None)
    assert done.reason.startswith("every search failed: OperationalError: no such table")


def test_each_set_gets_its_tables_and_the_notes_come_once():
    results = [
        (data.Data("One", [CORPUS]), [measured("lamina")]),
        (data.Data("Two", [CORPUS, CORPUS]), [measured("lamina")]),
    ]
    text = pages.body(results, 120.0)
    assert text.index("## One\n\n6 turns, 4 questions.") < text.index(
        "## Two\n\n2 corpora searched one by one, 12 turns"
    )
    assert text.count("## Notes") == 1
    assert "first's" in text


def test_lamina_comes_with_a_set_of_five_languages():
    (own,) = data.load(command.parse(["--questions", "50"]))
    assert own.title == data.OWN_TITLE
    assert len(own.corpora[0].questions) == 50
    assert {each.language for each in own.corpora[0].questions} == {"en", "ja", "ko", "mixed", "zh"}
