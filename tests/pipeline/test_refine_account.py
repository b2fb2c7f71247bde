"""A plan that leaves out, changes or makes up anything is refused with what is wrong; sound ones are taken."""

import copy

import pytest

from lamina import errors
from pipeline.refined import Desk, digest_of, item

ITEMS = [
    item("decision-esm", "Use plain ESM with no build step, because what we ship is what we test."),
    item("decision-port", "The staging service listens on port 8080."),
    item("learning-bundler", "A bundler hides missing exports until the release."),
    item("open-docs", "Document the exports of the package in README.md."),
    item("state-lockfile", "The lockfile is committed now."),
]
LATER = [
    item("decision-port2", "The staging service listens on port 9090 since the move to Fly.", day=2),
    item("state-docs", "The exports of the package are documented in README.md.", day=2),
    item("learning-bundler2", "Missing exports stay hidden behind a bundler until the release; run node on dist/ first.", day=2),
]  # fmt: skip


@pytest.fixture
def desk(tmp_path):
    return Desk(tmp_path, digest_of(ITEMS, LATER))


def change(plan, name, **fields):
    changed = copy.deepcopy(plan)
    for row in changed["items"]:
        if row["id"] == name:
            row |= {key: value for key, value in fields.items() if value is not None}
            for key in [key for key, value in fields.items() if value is None]:
                row.pop(key, None)
    return changed


def without(plan, name):
    return {**plan, "items": [row for row in plan["items"] if row["id"] != name]}


BAD = [
    ({"action": "drop"}, "learning-bundler", "without a reason"),
    ({"action": "drop", "reason": "old"}, "learning-bundler", "reason is none of"),
    ({"action": "drop", "reason": "noise: trivia"}, "learning-bundler", "never noise"),
    ({"action": "drop", "reason": "noise: trivia"}, "decision-esm", "never noise"),
    ({"action": "drop", "reason": "noise: trivia"}, "open-docs", "never noise"),
    ({"action": "drop", "reason": "superseded by nobody"}, "decision-port", "no other item"),
    ({"action": "drop", "reason": "superseded by decision-port"}, "decision-port2", "is older"),
    ({"action": "drop", "reason": "resolved by state-docs"}, "decision-esm", "only an open action"),
    ({"action": "drop", "reason": "resolved by state-lockfile"}, "state-docs", "only an open action"),
    ({"action": "drop", "reason": "superseded by state-docs"}, "state-lockfile", "says nothing of it"),
    ({"action": "drop", "reason": "duplicate of decision-port2"}, "decision-port", "loses '8080'"),
    ({"action": "drop", "reason": "duplicate of state-docs"}, "decision-esm", "duplicate"),
    ({"action": "drop", "reason": "duplicate of state-docs"}, "open-docs", "duplicate of another one only"),
    ({"action": "merge"}, "decision-port", 'needs "into"'),
    ({"action": "merge", "into": "decision-port"}, "decision-port", "into itself"),
    ({"action": "merge", "into": "x"}, "decision-port", "which is no item"),
    ({"action": "merge", "into": "decision-port2"}, "decision-port", "loses '8080'"),
    ({"action": "merge", "into": "state-docs"}, "open-docs", "an open action merges"),
    ({"action": "merge", "into": "decision-esm"}, "learning-bundler", "does not say the same"),
    ({"text": "The staging service listens on port 8081."}, "decision-port", "was altered"),
    ({"text": ""}, "decision-port", "has no text"),
    ({"text": 3}, "decision-port", "has no text"),
    ({"kind": "state"}, "decision-port", "kind was altered"),
    ({"hash": "0" * 64}, "decision-port", "hash is another"),
    ({"sources": []}, "decision-port", "sources were altered"),
    ({"sources": "x"}, "decision-port", "sources were altered"),
    ({"sources": ["memory/other-memory.md"]}, "decision-port", "sources were altered"),
    ({"action": "rewrite"}, "decision-port", "action is one of"),
    ({"conflict": ["x"]}, "decision-port", "only items that stay"),
    ({"conflict": "decision-port2"}, "decision-port", "no list of ids"),
    ({"reason": 3}, "decision-port", "no text"),
    ({"id": "decision-new"}, "decision-port", "no item has the id"),
    ({"text": "x" * 5_000}, "decision-port", "5000 characters"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "name", "word"), BAD, ids=[f"{n}-{word}" for n, (_, _, word) in enumerate(BAD)]
)
def test_a_plan_that_does_not_hold_is_refused_and_nothing_is_written(desk, fields, name, word):
    before = desk.text
    with pytest.raises(errors.BadInput) as caught:
        desk.refine(change(desk.plan(), name, **fields))
    assert word in caught.value.message
    assert caught.value.exit_code == 2
    assert desk.text == before


def test_items_that_are_missing_or_named_twice_are_all_told(desk):
    plan = without(without(desk.plan(), "open-docs"), "learning-bundler")
    plan["items"].append(copy.deepcopy(plan["items"][0]))
    with pytest.raises(errors.BadInput) as caught:
        desk.refine(plan)
    for word in ("open-docs", "learning-bundler", "not accounted for", "decision-esm stands twice"):
        assert word in caught.value.message


@pytest.mark.parametrize("value", [None, [], "x", {}, {"items": {}}, {"items": [None]}, {"items": []}])
def test_what_is_no_plan_is_refused(desk, value):
    with pytest.raises(errors.BadInput):
        desk.refine(value if value is not None else {"items": None})


@pytest.mark.parametrize(
    ("fields", "name", "words"),
    [
        ({"action": "drop", "reason": "resolved by state-docs"}, "open-docs", ("state-docs",)),
        ({"action": "drop", "reason": "superseded by decision-port2"}, "decision-port", ("9090",)),
        ({"action": "drop", "reason": "noise: everybody commits lockfiles"}, "state-lockfile", ()),
    ],
)
def test_what_the_digest_itself_shows_may_be_dropped(desk, fields, name, words):
    report = desk.refine(change(desk.plan(), name, **fields)).as_json()
    assert name not in desk.digest.current
    assert all(word in desk.text for word in words)
    assert (report["resolved"], report["dropped"]) == ((1, 0) if "resolved" in fields["reason"] else (0, 1))


def test_items_are_merged_into_words_that_lose_and_add_nothing(desk):
    plan = change(desk.plan(), "learning-bundler", action="merge", into="learning-bundler2")
    fused = "A bundler hides missing exports until the release; run node on dist/ first."
    report = desk.refine(change(plan, "learning-bundler2", text=fused)).as_json()
    assert report["merged"] == 1
    got = desk.digest.current["learning-bundler2"]
    assert got.text == fused
    assert set(got.sources) == {*ITEMS[2].sources, *LATER[2].sources}
    assert got.marker.get("merged") == "learning-bundler"


@pytest.mark.parametrize(
    ("fused", "word"),
    [
        ("A bundler hides missing exports until the release.", "does not say the same"),
        ("A bundler hides missing exports until the release; run node 22 on dist/ first.", "makes up '22'"),
        ("A bundler never hides missing exports until the release; run node on dist/ first.", "turned round"),
        ("Kubernetes restarts pods; run node on dist/ first.", "bundler"),
    ],
)
def test_merged_words_that_lose_invent_or_turn_are_refused(desk, fused, word):
    plan = change(desk.plan(), "learning-bundler", action="merge", into="learning-bundler2")
    with pytest.raises(errors.BadInput, match=word):
        desk.refine(change(plan, "learning-bundler2", text=fused))


def test_a_conflict_keeps_both_with_a_note_and_survives_the_next_refine(desk):
    report = desk.refine(change(desk.plan(), "decision-port", conflict=["decision-port2"])).as_json()
    assert report["conflicts"] == 1
    for _ in range(2):
        assert desk.text.count("_Conflict: `decision-port` and `decision-port2`") == 1
        assert desk.digest.current["decision-port"].conflicts == ("decision-port2",)
        assert desk.digest.current["decision-port2"].conflicts == ("decision-port",)
        assert len(desk.digest.items) == 8
        assert desk.refine().as_json()["conflicts"] == 1


MAIL = "jo.doe" + "@" + "harbor-mail.org"


def test_personal_data_is_flagged_and_may_be_taken_out(tmp_path):
    desk = Desk(tmp_path, digest_of([item("decision-owner", f"Ask {MAIL} before the release."), *ITEMS]))
    plan = desk.plan()
    assert plan["items"][0]["sensitive"] == [MAIL]
    assert desk.refine().as_json()["sensitive"] == [{"id": "decision-owner", "found": [MAIL]}]
    with pytest.raises(errors.BadInput, match="was altered"):
        desk.refine(change(desk.plan(), "decision-owner", text="Ask somebody before the release."))
    desk.refine(change(desk.plan(), "decision-owner", text="Ask [removed] before the release."))
    assert MAIL not in desk.text


PARAPHRASED = [
    ("Use pnpm for all packages.", "We use pnpm in all packages, since npm broke the workspaces.",
     "Use pnpm for all packages, since npm broke the workspaces."),
    ("Retries stop after 3 attempts.", "Retries stop after 3 attempts, with jitter between 0 and 500 ms.",
     "Retries stop after 3 attempts, with jitter between 0 and 500 ms."),
    ("The API answers in JSON only.", "The API answers only in JSON; XML was removed in v2.1.0.",
     "The API answers only in JSON; XML was removed in v2.1.0."),
    ("Log every retry with its delay.", "Every retry is logged with its delay, because support could not see them.",
     "Log every retry with its delay, because support could not see them."),
    ("Tests must not touch the network.", "Tests never touch the network except loopback.",
     "Tests must never touch the network except loopback."),
    ("Die Tests laufen ohne Netz.", "Die Tests laufen ohne Netz, nur Loopback ist erlaubt.",
     "Die Tests laufen ohne Netz, nur Loopback ist erlaubt."),
    ("Wir verwenden pnpm für alle Pakete.", "Für alle Pakete verwenden wir pnpm, weil npm die Workspaces zerstört.",
     "Wir verwenden pnpm für alle Pakete, weil npm die Workspaces zerstört."),
    ("日志保留三十天。", "日志保留三十天，因为审计需要。", "日志保留三十天，因为审计需要。"),
    ("测试不能访问网络。", "测试不能访问网络，只允许本机回环。", "测试不能访问网络，只允许本机回环。"),
    ("Cache keys contain the locale.", "Cache keys contain the locale and the build id.",
     "Cache keys contain the locale and the build id."),
    ("Deploy on Tuesdays.", "We deploy on Tuesdays, never on Fridays.", "Deploy on Tuesdays, never on Fridays."),
    ("SQLite runs in WAL mode.", "SQLite runs in WAL mode; the busy timeout is 5 s.",
     "SQLite runs in WAL mode with a busy timeout of 5 s."),
    ("Feature flags live in flags.toml.", "Feature flags are read from flags.toml at start.",
     "Feature flags live in flags.toml and are read at start."),
    ("The uploader sends chunks of 4 MB.", "Chunks of 4 MB are sent by the uploader, because the proxy refuses larger ones.",
     "The uploader sends chunks of 4 MB, because the proxy refuses larger ones."),
    ("Dates are stored in UTC.", "All dates are stored in UTC and shown in local time.",
     "All dates are stored in UTC and shown in local time."),
    ("Errors carry a hint.", "Every error carries a hint that names the next step.",
     "Every error carries a hint that names the next step."),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other", "fused"), PARAPHRASED)
def test_honest_merges_are_taken(tmp_path, one, other, fused):
    desk = Desk(tmp_path, digest_of([item("decision-a", one)], [item("decision-b", other, day=2)]))
    plan = change(desk.plan(), "decision-a", action="merge", into="decision-b")
    desk.refine(change(plan, "decision-b", action="keep", into=None, text=fused))
    assert [each.text for each in desk.digest.refined] == [fused]


LOSING = [
    ("Use npm for all packages.", "Use pnpm for all packages.", "npm"),
    ("Rotate the keys weekly.", "Rotate the keys monthly.", "weekly"),
    ("Keep the logs thirty days.", "Keep the logs ninety days.", "thirty"),
    ("The job queue runs on redis.", "The job queue runs on postgres.", "redis"),
    ("Deploy on fridays only in the morning.", "Deploy on fridays only.", "morning"),
    ("Retry failed uploads with jitter.", "Retry failed uploads with a backoff.", "jitter"),
    ("Tokens are stored encrypted at rest in the browser.", "Tokens are stored in the browser.", "encrypted"),
    ("Die Tests laufen ohne Netz.", "Die Tests laufen mit Netz.", "turned round"),
    ("日志保留三十天。", "日志保留九十天。", "三十"),
    ("Use a cache, but flush it at night.", "Use a cache.", "flush"),
    ("Never deploy on Fridays.", "Deploy on Fridays.", "turned round"),
    ("The limit is 4 MB.", "The limit is 8 MB.", "loses '4'"),
]


@pytest.mark.parametrize(("one", "other", "word"), LOSING)
def test_a_merge_that_loses_a_single_word_is_refused(tmp_path, one, other, word):
    desk = Desk(tmp_path, digest_of([item("decision-a", one)], [item("decision-b", other, day=2)]))
    plan = change(desk.plan(), "decision-a", action="merge", into="decision-b")
    with pytest.raises(errors.BadInput, match=word):
        desk.refine(plan)


@pytest.mark.parametrize(
    ("fused", "word"),
    [
        ("Use plain ESM without a build step and publish it nightly.", "nightly"),
        ("Use plain ESM without a build step, because the team prefers it.", "prefers"),
        ("Always use plain ESM without a build step on Windows.", "Windows"),
    ],
)
def test_a_merge_that_makes_up_a_single_word_is_refused(tmp_path, fused, word):
    one, other = "Use plain ESM.", "Use ESM without a build step."
    desk = Desk(tmp_path, digest_of([item("decision-a", one)], [item("decision-b", other, day=2)]))
    plan = change(desk.plan(), "decision-a", action="merge", into="decision-b")
    with pytest.raises(errors.BadInput, match=word):
        desk.refine(change(plan, "decision-b", text=fused))
    desk.refine(change(plan, "decision-b", text="Use plain ESM without a build step."))


LOOSE = [
    ("The build fails on Node 18.","Building with Node 18 fails because of the missing fetch export.","The build fails on Node 18, because the fetch export is missing there."),
    ("CI caches the pnpm store.","The pnpm store is cached in CI, which saves two minutes per run.","CI caches the pnpm store, saving two minutes per run."),
    ("Secrets are read from the environment.","Secrets come from environment variables, never from files.","Secrets are read from environment variables, never from files."),
    ("The API returns 429 when the limit is hit.","Clients get a 429 once they exceed the limit of 100 requests a minute.","The API returns 429 once a client exceeds the limit of 100 requests a minute."),
    ("Migrations run before the deploy.","Migrations must run before the deploy, as the new code reads the new columns.","Migrations run before the deploy, because the new code reads the new columns."),
    ("Flaky test: upload resumes after a restart.","The upload resume test is flaky after a restart of the server.","The test that an upload resumes after a restart of the server is flaky."),
    ("Wir loggen nur strukturierte Zeilen.","Logs sind strukturierte JSON-Zeilen.","Wir loggen nur strukturierte JSON-Zeilen."),
    ("Backups laufen nachts um 2 Uhr.","Die Backups laufen jede Nacht um 2 Uhr und werden nach 30 Tagen gelöscht.","Die Backups laufen jede Nacht um 2 Uhr und werden nach 30 Tagen gelöscht."),
    ("缓存键包含语言。","缓存键要包含语言和构建号。","缓存键包含语言和构建号。"),
    ("服务监听 9090 端口。","预发布服务监听 9090 端口，不再使用 8080。","预发布服务监听 9090 端口，不再使用 8080。"),
    ("Prefer composition over inheritance in the renderer.","In the renderer we compose objects instead of inheriting.","In the renderer we prefer composition of objects over inheritance."),
    ("Use ripgrep for search, as grep is too slow.","Search uses ripgrep.","Search uses ripgrep, as grep is too slow."),
    ("Images are resized to 1024 px.","Images larger than 1024 px are resized on upload.","Images larger than 1024 px are resized to 1024 px on upload."),
    ("Error messages name the file.","Every error message names the file and the line.","Every error message names the file and the line."),
    ("Do not edit generated files.","Generated files in dist/ must not be edited by hand.","Do not edit the generated files in dist/ by hand."),
    ("The mobile app pins the certificate.","Certificate pinning is on in the mobile app since 2.3.","The mobile app pins the certificate since 2.3."),
    ("Webhooks are retried for 24 hours.","Failed webhooks are retried for 24 hours with exponential backoff.","Failed webhooks are retried for 24 hours with exponential backoff."),
    ("We renamed `getUser` to `fetchUser`.","`fetchUser` replaced `getUser` in the client.","`getUser` was renamed to `fetchUser` in the client."),
    ("Timeouts are 30 s.","The HTTP client times out after 30 s and retries once.","The HTTP client times out after 30 s and retries once."),
    ("Postgres needs the pgvector extension.","The database requires pgvector to be installed.","Postgres, the database, requires the pgvector extension to be installed."),
]  # fmt: skip


def test_merges_in_looser_words_are_seldom_refused_and_then_told_the_words():
    """A word of either text that the fused one replaces by another is the price: the refusal names it."""
    from lamina.formats.digestreader import parse_digest
    from lamina.pipeline.refine.account import accounted
    from lamina.pipeline.refine.plan import as_json, proposed

    refused = []
    for one, other, fused in LOOSE:
        digest = parse_digest(digest_of([item("decision-a", one)], [item("decision-b", other, day=2)]))
        plan = change(as_json("", (), proposed(digest)), "decision-a", action="merge", into="decision-b")
        try:
            accounted(change(plan, "decision-b", action="keep", into=None, text=fused), digest)
        except errors.BadInput as problem:
            refused.append(problem.message)
    print(f"\n{len(refused)} of {len(LOOSE)} refused: {refused}")
    assert len(refused) <= 3
