"""What the plan that needs no judgement does, what it only hints at, and what the rewritten digest keeps."""

from datetime import UTC, datetime

import pytest

from lamina import errors
from lamina.formats.digestreader import parse_digest
from lamina.formats.origin import key_of
from lamina.pipeline.refine.account import sound
from lamina.pipeline.refine.personal import personal
from lamina.pipeline.refine.plan import proposed
from pipeline.refined import Desk, Kept, digest_of, item, ref
from pipeline.test_refine_account import change


def actions(*sections):
    plan = sound(proposed(parse_digest(digest_of(*sections))))
    return {name: choice.into or choice.reason or choice.action for name, choice in plan.choices.items()}


# --- what needs no judgement


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use plain ESM.", "use  plain ESM"),
        ("Use plain ESM.", "Use plain ESM, because what we ship is what we test."),
        ("Use plain ESM.", "Use plain ESM, because CommonJS does not work."),
        ("Use plain ESM", "Use plain ESM: it needs no build step."),
        ("日志保留三十天。", "日志保留三十天，因为审计需要。"),
    ],
)
def test_the_same_words_and_beginnings_are_merged(one, other):
    found = actions([item("decision-a", one)], [item("decision-b", other, day=2)])
    assert sorted(found.values()) in (["decision-a", "keep"], ["decision-b", "keep"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use C.", "Use C++."),
        ("Use C#.", "Use C++."),
        ("Read env.", "Read .env."),
        ("Port -1 is used.", "Port 1 is used."),
        ("Do not retry uploads", "Do not retry uploads twice"),
        ("Never touch the network, except loopback.", "Never touch the network."),
        ("Use Postgres 15.", "Use Postgres 16."),
        ("Retry.", "Retry, but once."),
    ],
)
def test_what_may_be_a_correction_stays(one, other):
    found = actions([item("decision-a", one)], [item("decision-b", other, day=2)])
    assert found == {"decision-a": "keep", "decision-b": "keep"}


def test_items_of_two_kinds_stay_apart():
    found = actions([item("decision-a", "Use ESM."), item("learning-a", "Use ESM.")])
    assert set(found.values()) == {"keep"}


@pytest.mark.parametrize("done", ["Done: Write the guide.", "Resolved: write the guide", "Closed: Write the guide.", "Write the guide."])  # fmt: skip
def test_an_open_action_that_is_done_in_the_same_words_is_resolved(done):
    found = actions([item("open-a", "Write the guide.")], [item("state-a", done, day=2)])
    assert found == {"open-a": "resolved by state-a", "state-a": "keep"}


@pytest.mark.parametrize(
    "sections",
    [
        ([item("state-a", "Done: Write the guide.")], [item("open-a", "Write the guide.", day=2)]),
        ([item("open-a", "Write the guide.")], [item("state-a", "Write the long guide.", day=2)]),
        ([item("open-a", "Write the guide.")], [item("decision-a", "Write the guide.", day=2)]),
    ],
)
def test_an_open_action_that_nothing_later_ends_stays(sections):
    assert set(actions(*sections).values()) == {"keep"}


def test_an_action_that_was_opened_again_stays_open():
    found = actions(
        [item("open-a", "Write the guide.")],
        [item("state-a", "Done: Write the guide.", day=2)],
        [item("open-b", "Write the guide.", day=3)],
    )
    assert found == {"open-a": "resolved by state-a", "state-a": "keep", "open-b": "keep"}


def test_what_came_later_is_told_by_sources_where_the_lines_do_not():
    """A refined digest has all states before all open actions."""
    text = digest_of(
        [item("state-a", "Done: Write the guide.", day=2), item("open-a", "Write the guide.", day=1)]
    )
    plan = sound(proposed(parse_digest(text)))
    assert plan.choices["open-a"].reason == "resolved by state-a"


def test_items_in_conflict_are_left_to_a_person(tmp_path):
    desk = Desk(tmp_path, digest_of([item("decision-a", "Use npm."), item("decision-b", "Use pnpm.")]))
    desk.refine(change(desk.plan(), "decision-a", conflict=["decision-b"]))
    assert desk.text.count("_Conflict: `decision-a` and `decision-b` disagree") == 1
    section = digest_of([item("decision-c", "use npm", day=2)]).partition("<!-- digest:section")
    desk.path.write_text(desk.text + "\n" + section[1] + section[2])
    report = desk.refine().as_json()
    assert (report["conflicts"], report["merged"]) == (1, 0)
    assert [each.id for each in desk.digest.refined] == ["decision-a", "decision-b", "decision-c"]
    assert desk.digest.current["decision-b"].conflicts == ("decision-a",)
    plan = change(desk.plan(), "decision-a", action="merge", into="decision-c", conflict=None)
    desk.refine(change(plan, "decision-b", conflict=None))
    assert "_Conflict:" not in desk.text


def test_a_conflict_survives_new_words_of_one_of_its_items(tmp_path):
    desk = Desk(tmp_path, digest_of([item("decision-a", "Use npm."), item("decision-b", "Use pnpm.")]))
    desk.refine(change(desk.plan(), "decision-a", conflict=["decision-b"]))
    section = digest_of([item("decision-a", "Use npm 11.", day=2)]).partition("<!-- digest:section")
    desk.path.write_text(desk.text + "\n" + section[1] + section[2])
    desk.refine()
    assert {each.id: each.conflicts for each in desk.digest.refined} == {
        "decision-a": ("decision-b",),
        "decision-b": ("decision-a",),
    }
    assert desk.digest.current["decision-a"].hash == item("decision-a", "Use npm 11.").hash


# --- what is only hinted at


def hints(*sections):
    from lamina.pipeline.refine.plan import as_json

    rows = as_json("", (), sound(proposed(parse_digest(digest_of(*sections)))))["items"]
    return {row["id"]: row.get("hint", "") for row in rows}


def test_the_plan_says_where_to_look():
    found = hints(
        [
            item("open-docs", "Document the exports of the package in README.md."),
            item("decision-retry", "Failed uploads are retried with a backoff."),
            item("decision-cache", "The cache keys contain the locale."),
        ],
        [
            item("state-docs", "The exports of the package are documented in README.md.", day=2),
            item("decision-retry2", "Failed uploads are not retried with a backoff.", day=2),
            item("learning-mirror", "The mirror refuses files larger than 4 MB.", day=2),
        ],
    )
    assert found["open-docs"] == "state-docs may say that this is done"
    assert found["decision-retry"] == "decision-retry2 may say the opposite"
    assert found["decision-cache"] == found["learning-mirror"] == ""


def test_the_plan_shows_earlier_wordings_and_what_was_edited_by_hand():
    from lamina.pipeline.refine.plan import as_json

    sections = [item("state-port", "The port is 8080.")], [item("state-port", "The port is 9090.", day=2)]
    text = digest_of(*sections).replace("9090.", "9191.")
    (row,) = as_json("", (), proposed(parse_digest(text)))["items"]
    assert row["older"] == ["The port is 8080."]
    assert "edited by hand" in row["hint"]


# --- what is written


def test_details_of_an_earlier_wording_may_be_put_back(tmp_path):
    desk = Desk(
        tmp_path,
        digest_of(
            [item("decision-esm", "Use plain ESM, because what we ship is what we test.")],
            [item("decision-esm", "Use plain ESM with no build step.", day=2)],
        ),
    )
    fused = "Use plain ESM with no build step, because what we ship is what we test."
    desk.core = core = Kept()
    desk.refine(change(desk.plan(), "decision-esm", text=fused))
    (got,) = desk.digest.refined
    assert got.text == fused
    assert {*got.sources} == {ref(1), ref(2)}
    assert core.confidence[got.hash] == 0.9
    for text in (
        "Use plain ESM, because what we ship is what we test.",
        "Use plain ESM with no build step on port 1.",
    ):
        with pytest.raises(errors.BadInput):
            desk.refine(change(desk.plan(), "decision-esm", text=text))


def test_the_evidence_of_all_that_was_merged_stays(tmp_path):
    desk = Desk(
        tmp_path,
        digest_of(
            [item("decision-a", "Use plain ESM. Evidence: `commit 1a2b3c4`, `session`")],
            [item("decision-b", "use plain ESM Evidence: `test.js`, `session`", day=2)],
        ),
    )
    desk.refine()
    (got,) = desk.digest.refined
    assert got.bullet.startswith("Use plain ESM. Evidence: `commit 1a2b3c4`, `session`, `test.js` Source: ")
    assert got.hash == item("decision-a", "Use plain ESM.").hash
    assert got.marker.get("merged") == "decision-b"


def test_what_an_item_carries_beside_stays(tmp_path):
    text = digest_of([item("decision-a", "Use plain ESM. Evidence: `session`")])
    desk = Desk(tmp_path, text.replace(" sync=candidate", " owner=ada%20l sync=candidate mood=good"))
    line = next(line for line in desk.text.splitlines() if line.startswith("<!-- digest:item"))
    bullet = next(line for line in desk.text.splitlines() if line.startswith("- "))
    desk.refine()
    assert line in desk.text.splitlines()
    assert bullet in desk.text.splitlines()


LINES = """- Run this before each release:

  ```
  npm ci
  npm test
  ```

  It takes a minute."""


@pytest.mark.parametrize(
    "lines",
    [
        LINES,
        LINES.replace("\n\n  It takes a minute.", ""),
        LINES + " Source: `memory/2026-11-01-esm-memory.md#session-x`.",
        "* Wrapped by\n  an editor.",
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_bullet_of_several_lines_keeps_them(tmp_path, lines, end):
    text = digest_of([item("learning-a", "Keep calm.")]) + f"\n{lines}\n\n- One more.\n"
    desk = Desk(tmp_path, text.replace("\n", end))
    before = desk.digest
    body = lines.partition(" Source:")[0].replace("\n", end)
    for _ in range(2):
        desk.refine()
        assert f"{end}{body}{end}  Source: `" in desk.text
        assert sorted(each.text for each in desk.digest.refined) == sorted(each.text for each in before.items)
        assert all(each.hash == each.content for each in desk.digest.refined)


def test_what_a_person_wrote_above_the_items_stays(tmp_path):
    text = digest_of([item("decision-a", "Use plain ESM.")])
    text = text.replace(
        "# Memory digest — harbor", "Between.\n\n# Our memory\n\nBelow the title.\n\n```\ncode\n\ncode\n```"
    )
    text = text.replace("compact reading layer.", "compact reading layer.\nAsk Ada about it.")
    desk = Desk(tmp_path, text)
    before = desk.digest
    assert before.preamble == ("Between.", "Below the title.", "```\ncode\n\ncode\n```", "Ask Ada about it.")
    for _ in range(2):
        desk.refine()
        assert desk.digest.preamble == before.preamble
        assert "\n# Our memory\n" in desk.text
        assert "\n```\ncode\n\ncode\n```\n" in desk.text
        assert desk.text.count("Refined from") == 1
        assert "compact reading layer" not in desk.text


def test_a_digest_that_keeps_nothing_keeps_its_sources(tmp_path):
    desk = Desk(tmp_path, digest_of([item("state-a", "Ran the tests once more.")], []))
    named = {key_of(each) for each in desk.digest.named}
    desk.refine(change(desk.plan(), "state-a", action="drop", reason="noise: says nothing of later use"))
    once = desk.text
    assert desk.digest.items == ()
    assert desk.digest.preamble == ()
    assert desk.digest.covered == named
    desk.refine()
    assert desk.text == once


def test_many_sources_stand_on_short_lines(tmp_path):
    many = [
        [item(f"state-{n}-{day}", f"Ran test {n} of {day}.", day=day) for n in range(2)]
        for day in range(1, 29)
    ]
    desk = Desk(tmp_path, digest_of(*many))
    named = {key_of(each) for each in desk.digest.named}
    plan = desk.plan()
    for row in plan["items"]:
        row.update(action="drop", reason="noise: says nothing of later use")
    desk.refine(plan)
    assert desk.digest.covered == named
    assert max(map(len, desk.text.splitlines())) < 4_000


def test_ids_that_hold_odd_characters_forge_nothing(tmp_path):
    text = digest_of([item("decision-a", "Use npm."), item("decision-b", "Use pnpm.")])
    odd = "decision-b%0A%3C!--%20digest:state%20--%3E`x`"
    desk = Desk(tmp_path, text.replace("id=decision-b", f"id={odd}"))
    name = list(desk.digest.current)[1]
    desk.refine(change(desk.plan(), "decision-a", conflict=[name]))
    assert list(desk.digest.current) == ["decision-a", name]
    assert desk.digest.fatal is None


# --- personal data


@pytest.mark.parametrize(
    "text",
    [
        "Ask ada.lovelace@harbor.dev for access.",
        "Call +49 30 1234567 in an emergency.",
        "In an emergency call +49 30 1234567.",
        "Call (030) 1234-5678 at night.",
        "Pay to DE89 3704 0044 0532 0130 00.",
        "The card is 4111 1111 1111 1111.",
        "Her number is 078-05-1120.",
        "Ada, born 1985-12-10, signs.",
        "Send it to 12 Garden Street, Bath.",
        "Post an die Gartenstraße 12, 10115 Berlin.",
    ],
)
def test_personal_data_is_flagged_and_only_that_may_be_taken_out(tmp_path, text):
    (found, *_) = personal(text)
    desk = Desk(tmp_path, digest_of([item("learning-a", text)]))
    plan = desk.plan()
    assert plan["items"][0]["sensitive"] == [found]
    report = desk.refine().as_json()
    assert report["sensitive"] == [{"id": "learning-a", "found": [found]}]
    assert any("personal data" in each for each in report["limitations"])
    assert desk.digest.refined[0].text == text, "nothing goes by itself"
    for gone in ("[removed]", ""):
        desk.path.write_text(digest_of([item("learning-a", text, sync="approved")]))
        desk.core = core = Kept()
        core.status[item("learning-a", text).hash] = "approved"
        desk.refine(change(desk.plan(), "learning-a", text=text.replace(found, gone)))
        (got,) = desk.digest.refined
        assert found not in desk.text
        assert got.hash == got.content
        assert core.status == {item("learning-a", text).hash: "purged", got.hash: "approved"}
        desk.core = None


@pytest.mark.parametrize(
    "text",
    [
        "The proxy listens on 10.0.0.12:8080 and 192.168.178.1.",
        "Commit 1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a0b fixes it.",
        "Release 2026.11.30 and 1.2.3-rc.4 came on 2026-11-30T12:00:00Z.",
        "Clone git@github.com:harbor/esm.git with user@example.com.",
        "It ends with 123-45-6789-1.",
        "The port is 9090, the limit 4194304 bytes, the id 20261130120000.",
        "Mails go out from noreply@harbor.dev.",
    ],
)
def test_addresses_of_machines_and_plain_numbers_are_not_personal(text):
    assert personal(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "Ask bob@harbor.dev or for access.",
        "Ask  or [removed] for free access.",
        "Ask ada@harbor.dev for access.",
    ],
)
def test_taking_out_more_than_personal_data_is_refused(tmp_path, text):
    desk = Desk(tmp_path, digest_of([item("learning-a", "Ask ada@harbor.dev or bob@harbor.dev for access.")]))
    with pytest.raises(errors.BadInput, match="altered"):
        desk.refine(change(desk.plan(), "learning-a", text=text))


def test_one_of_two_pieces_may_go(tmp_path):
    desk = Desk(tmp_path, digest_of([item("learning-a", "Ask ada@harbor.dev or bob@harbor.dev for access.")]))
    desk.refine(change(desk.plan(), "learning-a", text="Ask ada@harbor.dev or [removed] for access."))
    assert desk.digest.refined[0].text == "Ask ada@harbor.dev or [removed] for access."


def test_an_unfinished_action_is_not_resolved(tmp_path):
    desk = Desk(
        tmp_path,
        digest_of(
            [item("open-a", "Document the exports in README.md.")],
            [item("state-a", "The exports in README.md are not documented yet.", day=2)],
        ),
    )
    with pytest.raises(errors.BadInput, match="does not say that it is done"):
        desk.refine(change(desk.plan(), "open-a", action="drop", reason="resolved by state-a"))


def test_a_refined_action_may_be_resolved_by_what_was_refined_with_it(tmp_path):
    desk = Desk(
        tmp_path,
        digest_of(
            [item("open-a", "Document the exports in README.md.")],
            [item("state-a", "The exports are documented in README.md.", day=2)],
        ),
    )
    desk.refine()
    assert len(desk.digest.refined) == 2
    desk.refine(change(desk.plan(), "open-a", action="drop", reason="resolved by state-a"), now=datetime(2027, 1, 1, tzinfo=UTC))  # fmt: skip
    assert [each.id for each in desk.digest.refined] == ["state-a"]
    assert key_of(ref(1)) in desk.digest.covered
