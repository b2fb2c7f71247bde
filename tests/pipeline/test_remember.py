"""What a person says is stored as it was said: once, without secrets, in the right place."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.pipeline.opening import NOW, Clock, holding, opened

from lamina import errors
from lamina.formats.decision import Decision, parse_decision
from lamina.formats.scope import Scope
from lamina.formats.slug import heading_of
from lamina.pipeline.remember import decision_draft, entry_draft

TODAY = NOW.date()
HARBOR = Scope("harbor")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def test_the_body_holds_the_full_text_and_the_heading_its_first_sentence(tmp_path):
    memory = opened(tmp_path)
    text = "The staging port is 8081. It was 8080 before the proxy moved.\n\nSee the wiki."
    outcome = memory.remember(text)
    shown = memory.show(outcome.id)
    assert (outcome.id, outcome.status) == ("harbor-sem-0001", "written")
    assert shown["heading"] == heading_of(text)
    assert shown["body"] == text
    assert shown["fields"]["Source"] == "user"
    assert shown["date"] == "2026-11-30"


def test_sixty_thousand_characters_are_kept(tmp_path):
    memory = opened(tmp_path)
    text = "Long story. " + "".join(f"sentence {n} of it. " for n in range(3_000))
    assert len(text) > 50_000
    assert memory.show(memory.remember(text).id)["body"] == text.strip()


def test_the_same_content_is_known_and_points_to_where_it_stands(tmp_path):
    memory = opened(tmp_path)
    first = memory.remember("Tests run with pytest")
    again = memory.remember("Tests  run with pytest", topic="Elsewhere")
    assert (again.status, again.id, again.file, again.line) == ("known", first.id, first.file, first.line)
    assert memory.remember("Tests run with pytest", scope="global").status == "written"


def test_content_that_a_person_wrote_by_hand_without_an_id_is_known(tmp_path):
    memory = opened(tmp_path)
    memory.remember("Something first")
    path = memory.root / "workspaces/harbor/semantic/by-hand.md"
    path.write_text("# By hand\n\n## Tests run with pytest\n\nTests run with pytest\n")
    assert memory.remember("Tests run with pytest").status == "known"


def test_nearly_the_same_is_written_and_named(tmp_path):
    memory = opened(tmp_path)
    first = memory.remember("The staging server listens on port 8081")
    second = memory.remember("The staging server listens on port 8082")
    assert second.status == "written"
    assert second.similar == (first.id,)


def test_what_was_forgotten_is_refused_with_the_reason(tmp_path):
    memory = opened(tmp_path)
    first = memory.remember("The staging port is 8081")
    memory.forget([first.id], reason="never true")
    again = memory.remember("The staging port is 8081")
    assert again.status == "refused"
    assert "never true" in again.reason
    assert memory.remember("The staging port is 8082").status == "written"


def test_a_refused_write_leaves_no_trace_of_its_workspace(tmp_path):
    clock = Clock()
    memory = opened(tmp_path, clock=clock)
    first = memory.remember("I prefer tabs", scope="global")
    memory.forget([first.id])
    other = opened(tmp_path, project="quay", clock=clock)
    assert other.remember("I prefer tabs").status == "refused"
    assert not (memory.root / "workspaces" / "quay").exists()
    assert "quay" not in (memory.root / "memory.json").read_text()


def test_the_first_write_makes_the_workspace_known(tmp_path):
    memory = opened(tmp_path)
    memory.remember("One")
    assert [known["key"] for known in memory.workspaces()] == ["harbor"]
    assert memory.workspaces()[0]["paths"] == [str((tmp_path / "harbor").resolve())]


def test_another_workspace_that_is_named_becomes_known_too(tmp_path):
    memory = opened(tmp_path)
    outcome = memory.remember("One", scope="workspace:lighthouse")
    assert outcome.id == "lighthouse-sem-0001"
    assert [known["key"] for known in memory.workspaces()] == ["lighthouse"]
    assert (memory.root / "workspaces/lighthouse/meta.json").is_file()
    assert memory.workspaces()[0]["paths"] == []


def test_two_projects_of_one_name_that_meet_at_once_get_keys_of_their_own(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    first, second = opened(tmp_path, project="a/harbor"), opened(tmp_path, project="b/harbor")
    assert first.scope == second.scope  # neither is known yet
    one, two = first.remember("The queue is SQLite"), second.remember("The queue is Redis")
    assert one.id == "harbor-sem-0001"
    assert two.id.startswith("harbor-")
    assert not two.id.startswith("harbor-sem")


def test_a_topic_can_be_given_and_a_heading(tmp_path):
    memory = opened(tmp_path)
    outcome = memory.remember("Port 8081", topic="Ports\nand hosts", heading="The staging\nport")
    shown = memory.show(outcome.id)
    assert (shown["topic"], shown["heading"]) == ("Ports and hosts", "The staging port")


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        ({"layer": "nonsense"}, errors.UnknownLayer),
        ({"layer": "working"}, errors.BadInput),
        ({"layer": "junk"}, errors.BadInput),
        ({"importance": "6"}, errors.BadInput),
        ({"importance": "²"}, errors.BadInput),
        ({"importance": "urgent"}, errors.BadInput),
        ({"until": "tomorrow"}, errors.BadInput),
        ({"volatility": "vile"}, errors.BadInput),
        ({"scope": "harbor"}, errors.UnknownScope),
        ({"scope": "workspace:../x"}, errors.BadKey),
        ({"scope": "workspace:con"}, errors.BadKey),
        ({"scope": "global", "layer": "codebase"}, errors.UnknownScope),
    ],
)
def test_a_field_that_cannot_be_is_refused_and_nothing_is_made(tmp_path, fields, kind):
    memory = opened(tmp_path)
    with pytest.raises(kind):
        memory.remember("Text", **fields)
    assert not memory.exists


def test_importance_reads_words(tmp_path):
    drafts = [
        entry_draft("x", scope=HARBOR, today=TODAY, importance=word) for word in ("low", "normal", "high", 4)
    ]
    assert [each.importance for each in drafts] == [2, 3, 5, 4]


def test_text_that_is_private_alone_is_not_stored(tmp_path):
    memory = opened(tmp_path)
    with pytest.raises(errors.BadInput):
        memory.remember("<private>pw123</private>")
    assert not memory.exists


def test_half_a_character_is_refused(tmp_path):
    memory = opened(tmp_path)
    with pytest.raises(errors.BadInput, match="half a character"):
        memory.remember("caf\udce9")


def test_a_decision_keeps_all_its_parts(tmp_path):
    memory = opened(tmp_path)
    outcome = memory.decision(
        "Use SQLite for the queue",
        rationale="One file is easy to back up.",
        context="The queue must survive a restart.",
        alternatives=["Redis, a server to run", " "],
        consequences="One writer at a time.",
    )
    shown = memory.show(outcome.id)
    said = parse_decision(shown["heading"], shown["body"])
    assert said == Decision(
        "Use SQLite for the queue",
        "The queue must survive a restart.",
        "One file is easy to back up.",
        ("Redis, a server to run",),
        "One writer at a time.",
    )
    assert outcome.file == "workspaces/harbor/decisions/use-sqlite-for-the-queue.md"


def test_a_long_decision_loses_nothing():
    words = (
        "Use SQLite for the queue and Postgres for everything that several machines write to at the same time"
    )
    draft = decision_draft(Decision(words, context="Load.", rationale="Simple."), scope=HARBOR, today=TODAY)
    assert len(draft.heading) <= 80
    assert words in parse_decision(draft.heading, draft.body).context
    assert parse_decision(draft.heading, draft.body).context.endswith("Load.")


def test_a_decision_wants_its_reason(tmp_path):
    with pytest.raises(errors.BadInput, match="reason"):
        opened(tmp_path).decision("Use SQLite", rationale=" ")


def test_a_newer_description_of_a_path_supersedes_the_older_one(tmp_path):
    memory = opened(tmp_path)
    first = memory.codebase("src/queue", "A queue in Redis")
    second = memory.codebase("src/queue", "A queue in SQLite")
    other = memory.codebase("src/mail", "A queue in SQLite")
    assert memory.show(first.id)["trust"] == "superseded"
    assert memory.show(second.id)["trust"] == "approved"
    assert other.status == "written", "another path may be described in the same words"
    assert memory.codebase("src/queue", "A queue in SQLite").status == "known"


def test_codebase_wants_a_workspace_and_a_topic(tmp_path):
    with pytest.raises(errors.UnknownScope):
        opened(tmp_path, project="home").codebase("src", "x")
    with pytest.raises(errors.BadInput):
        opened(tmp_path).codebase(" ", "x")


@pytest.mark.parametrize("place", ["text", "heading", "topic", "source"])
def test_no_field_lets_a_secret_through(tmp_path, place):
    memory = opened(tmp_path)
    given = {"text": "Deploys need a token", place: f"the token is {TOKEN}"}
    memory.remember(given.pop("text"), **given)
    assert holding(tmp_path, TOKEN, history=True) == []
    assert holding(tmp_path, TOKEN.lower(), history=True) == []


@pytest.mark.parametrize(
    "place", ["rationale", "context", "consequences", "alternatives", "topic", "decision"]
)
def test_no_part_of_a_decision_lets_a_secret_through(tmp_path, place):
    memory = opened(tmp_path)
    said = f"with {TOKEN}"
    parts = {
        "decision": "Use a token",
        "rationale": "It works",
        place: [said] if place == "alternatives" else said,
    }
    memory.decision(parts.pop("decision"), **parts)
    assert holding(tmp_path, TOKEN, history=True) == []
    assert holding(tmp_path, TOKEN.lower(), history=True) == []


@given(
    text=st.text(min_size=1, max_size=300).filter(
        lambda text: text.strip() and not any("\ud800" <= c <= "\udfff" for c in text)
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_comes_back_or_is_refused_clearly(tmp_path_factory, text):
    memory = opened(tmp_path_factory.mktemp("any"))
    try:
        outcome = memory.remember(text)
    except errors.BadInput:
        return
    shown = memory.show(outcome.id)
    assert " ".join(shown["body"].split()) == " ".join(
        entry_draft(text, scope=HARBOR, today=TODAY).body.split()
    )
    assert memory.remember(text).status == "known"
    assert len(memory.list(scope="workspace")[0]) == 1


@pytest.mark.parametrize("text", [">", "#", "- ", "***"])
def test_marks_alone_are_known_the_second_time(tmp_path, text):
    memory = opened(tmp_path)
    first = memory.remember(text)
    assert memory.remember(text) == first.__class__(first.id, first.file, first.line, "known")


def test_a_failed_commit_does_not_fail_the_write(tmp_path):
    clock = Clock()
    memory = opened(tmp_path, clock=clock)
    memory.remember("One")
    hooks = memory.root / ".git" / "objects"
    for path in sorted(hooks.rglob("*")):
        if path.is_file():
            path.unlink()
    (memory.root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (memory.root / ".git" / "index").write_bytes(b"damaged")
    clock.forward(minutes=1)
    assert memory.remember("Two").status == "written"
    status = memory.status()["sync"]
    assert not status["ok"]
    assert status["error"]
    (memory.root / ".git" / "index").unlink()
    clock.forward(minutes=1)
    memory.remember("Three")
    assert memory.status()["sync"] | {"at": ""} == {"at": "", "ok": True, "conflict": False, "error": None}
