"""Every question to a model: redacted, counted, capped, up the ladder, and told in the log."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from tests.pipeline.opening import NOW, Clock

from lamina import errors
from lamina.models.base import MAX_WAYS, Again, Prompt, Reply
from lamina.models.prices import Price
from lamina.pipeline.asking import PURPOSES, Climber, Permitted
from lamina.store import meter, standing
from lamina.store.layout import Layout
from lamina.store.meter import Caps

ASKED = Prompt("Summarise.", "The pier is 80 m long.")
WIDE = Caps(calls=300, tokens=2_000_000)


@dataclass
class Said:
    """A model that answers what it is told to, the last one for ever, and remembers what it was asked."""

    route: str
    answers: list[Reply | Exception | Callable[[], Reply]]
    asked: list[Prompt] = field(default_factory=list)

    def ask(self, prompt: Prompt, *, within_s: float = 0) -> Reply:
        assert within_s > 0
        self.asked.append(prompt)
        answer = self.answers[min(len(self.asked), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer if isinstance(answer, Reply) else answer()


def yes(text: str = "- a fact", **more) -> Reply:
    return Reply(text, **more)


def dead(**more) -> errors.ModelFailed:
    return errors.ModelFailed("connection refused", **more)


class Bench:
    """A store's layout, a clock, and the models of a test."""

    def __init__(self, tmp_path) -> None:
        self.layout = Layout(tmp_path / "store")
        self.clock = Clock()
        self.models: dict[str, Said] = {}
        self.missing: set[str] = set()
        self.looked = 0

    def asker(self, *models: Said, caps: Caps = WIDE, wishes: str = "w", within_s: float = 120) -> Climber:
        self.models = {model.route: model for model in models}
        first = next(iter(self.models), "")

        def others() -> list[str]:
            self.looked += 1
            return [*self.models]

        def build(route: str) -> Said:
            if route in self.missing:
                raise errors.ModelFailed("there is no key")
            return self.models[route]

        def price(route: str) -> Price | None:
            return None if route.startswith("odd/") else Price(1.0, 10.0)

        permitted = Permitted(first, others, build, wishes, price, may=lambda route: route in self.models)
        return Climber(self.layout, permitted, caps=caps, clock=self.clock, within_s=within_s)

    @property
    def used(self) -> meter.Use:
        return meter.total(meter.load(self.layout, self.clock().date()))

    @property
    def lines(self) -> list[dict]:
        return [json.loads(line) for line in (self.layout.logs / "memory.log").read_text().splitlines()]


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def test_the_first_answers(bench):
    one, two = Said("a/one", [yes()]), Said("b/two", [yes()])
    answer = bench.asker(one, two).ask("summarise", ASKED)
    assert (answer.route, answer.reply.text) == ("a/one", "- a fact")
    assert (len(one.asked), len(two.asked)) == (1, 0)
    assert one.asked == [ASKED]


def test_the_next_gets_the_same_prompt_when_one_throws_or_only_reasons(bench):
    one, two, three = Said("a/one", [dead()]), Said("b/two", [yes("")]), Said("c/three", [yes()])
    asker = bench.asker(one, two, three)
    assert asker.ask("summarise", ASKED).route == "c/three"
    assert one.asked == two.asked == three.asked == [ASKED]
    assert asker.ask("summarise", ASKED).route == "c/three"
    assert len(one.asked) == 1
    assert [(line["route"], line["outcome"]) for line in bench.lines] == [
        ("a/one", "failed"), ("b/two", "empty"), ("c/three", "answered"), ("c/three", "answered"),
    ]  # fmt: skip


def test_all_fail(bench):
    asker = bench.asker(Said("a/one", [dead()]), Said("b/two", [yes(" \n")]))
    with pytest.raises(errors.NoModelAnswered, match=r"a/one: connection refused; b/two: .*nothing") as told:
        asker.ask("summarise", ASKED)
    assert told.value.replied


def test_the_others_are_not_looked_for_before_it_is_their_turn(bench):
    one, two = Said("a/one", [yes(), yes(), dead(), yes()]), Said("b/two", [yes(), dead()])
    asker = bench.asker(one, two)
    assert [asker.ask("summarise", ASKED).route for _ in range(2)] == ["a/one", "a/one"]
    assert bench.looked == 0
    assert asker.ask("summarise", ASKED).route == "b/two"
    assert bench.looked == 1
    assert asker.ask("summarise", ASKED).route == "a/one", (
        "who won before and then fails is followed by the model"
    )
    assert bench.looked == 1
    assert [len(one.asked), len(two.asked)] == [4, 2]


def test_a_winner_that_was_found_before_is_asked_before_anything_is_looked_for(bench):
    bench.asker(Said("a/one", [dead()]), Said("b/two", [yes()])).ask("summarise", ASKED)
    one, two = Said("a/one", [yes()]), Said("b/two", [yes()])
    again = bench.asker(one, two)
    bench.looked = 0
    assert again.ask("summarise", ASKED).route == "b/two"
    assert (bench.looked, one.asked) == (0, [])


def test_a_winner_that_is_gone_or_may_no_longer_be_asked_is_passed_over(bench):
    for gone in (True, False):
        bench.missing = set()
        bench.clock.forward(hours=1)
        bench.asker(Said("a/one", [dead()]), Said("b/two", [yes()])).ask("summarise", ASKED)
        bench.missing = {"b/two"} if gone else set()
        rest = [] if not gone else [Said("b/two", [yes()])]
        assert bench.asker(Said("a/one", [yes()]), *rest).ask("summarise", ASKED).route == "a/one"


def test_where_the_model_is_benched_the_others_come_before_it(bench):
    one, two = Said("a/one", [yes(""), yes()]), Said("b/two", [dead(), yes(), dead()])
    asker = bench.asker(one, two)
    with pytest.raises(errors.NoModelAnswered):
        asker.ask("summarise", ASKED)
    assert asker.ask("summarise", ASKED).route == "b/two"
    bench.clock.forward(minutes=14, seconds=50)
    assert asker.ask("summarise", ASKED).route == "a/one"


def test_no_more_than_four_are_asked_with_a_winner_that_the_others_lack(bench):
    models = [Said(f"m/{number}", [dead()]) for number in range(5)]
    bench.asker(Said("m/0", [dead()]), Said("gone/one", [yes()])).ask("summarise", ASKED)
    asker = bench.asker(*models)
    bench.models["gone/one"] = Said("gone/one", [dead()])
    with pytest.raises(errors.NoModelAnswered, match="gone/one"):
        asker.ask("summarise", ASKED)
    assert sum(len(model.asked) for model in bench.models.values()) == 4


def test_how_long_one_question_may_take_is_known(bench):
    assert bench.asker(within_s=7).longest_s == 4 * 7 + 30


def test_the_benched_one_recovers(bench):
    one, two = Said("a/one", [yes(""), yes()]), Said("b/two", [yes(), yes(), dead()])
    asker = bench.asker(one, two)
    assert asker.ask("summarise", ASKED).route == "b/two"
    bench.clock.forward(minutes=14)
    assert asker.ask("summarise", ASKED).route == "b/two"
    assert len(one.asked) == 1
    bench.clock.forward(minutes=14)
    assert asker.ask("summarise", ASKED).route == "a/one"


def test_where_all_are_benched_all_are_asked(bench):
    one = Said("a/one", [yes(""), yes()])
    asker = bench.asker(one)
    with pytest.raises(errors.NoModelAnswered):
        asker.ask("summarise", ASKED)
    assert asker.ask("summarise", ASKED).route == "a/one"


def test_a_busy_one_is_asked_last_until_the_time_that_it_gave(bench):
    one, two = Said("a/one", [dead(retry_after_s=1800.0), yes()]), Said("b/two", [yes()])
    asker = bench.asker(one, two)
    asker.ask("summarise", ASKED)
    bench.clock.forward(minutes=29)
    assert asker.ask("summarise", ASKED).route == "b/two"
    bench.clock.forward(minutes=16)
    assert asker.ask("summarise", ASKED).route == "a/one"


def in_another_process(folder, queue) -> None:
    bench = Bench(folder)
    asker = bench.asker(Said("a/one", [yes()]), Said("b/two", [yes()]))
    queue.put(asker.ask("summarise", ASKED).route)


def test_the_winner_is_remembered_across_processes(bench, tmp_path):
    bench.asker(Said("a/one", [dead()]), Said("b/two", [yes()])).ask("summarise", ASKED)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    for _ in range(2):
        process = context.Process(target=in_another_process, args=(tmp_path, queue))
        process.start()
        assert queue.get(timeout=60) == "b/two"
        process.join(60)
        assert process.exitcode == 0


def test_other_wishes_forget_the_winner(bench):
    bench.asker(Said("a/one", [dead()]), Said("b/two", [yes()])).ask("summarise", ASKED)
    again = bench.asker(Said("a/one", [yes()]), Said("b/two", [yes()]), wishes="other")
    assert again.ask("summarise", ASKED).route == "a/one"


def test_what_this_machine_lacks_takes_no_rung_and_no_call(bench):
    models = [Said(f"m/{number}", [dead()]) for number in range(7)]
    bench.missing = {f"m/{number}" for number in range(4)}
    with pytest.raises(errors.NoModelAnswered, match=r"m/4: conn.*m/0: there is no key") as told:
        bench.asker(*models).ask("summarise", ASKED)
    assert [len(model.asked) for model in models] == [0, 0, 0, 0, 1, 1, 1]
    assert bench.used.calls == 3
    assert not told.value.replied


def test_no_more_than_four_are_asked(bench):
    models = [Said(f"m/{number}", [dead()]) for number in range(7)]
    with pytest.raises(errors.NoModelAnswered):
        bench.asker(*models).ask("summarise", ASKED)
    assert [len(model.asked) for model in models] == [1, 1, 1, 1, 0, 0, 0]


def test_nobody_permitted_is_here(bench):
    with pytest.raises(errors.NoModelAnswered, match="none of those that are permitted"):
        bench.asker().ask("summarise", ASKED)
    assert bench.used.calls == 0


def test_the_prompt_is_redacted_whatever_the_caller_did(bench):
    key = "sk-" + "ant-api03-" + "Zq8" * 30 + "-AA"
    one = Said("a/one", [yes()])
    prompt = Prompt(
        f"Use {key}.",
        f"key: {key} <private>my own</private> 数据库 🙂 half \ud83d",
        tokens=7,
        grammar="root ::= x",
    )
    bench.asker(one).ask("judge", prompt)
    (sent,) = one.asked
    assert key not in sent.system + sent.text
    assert "my own" not in sent.text
    assert "数据库 🙂" in sent.text
    assert (sent.tokens, sent.grammar) == (7, "root ::= x")
    sent.text.encode()
    assert key not in json.dumps(bench.lines)


def test_an_error_is_told_without_secrets_and_short(bench):
    key = "sk-" + "proj-" + "a1B2" * 12
    asker = bench.asker(Said("a/one", [errors.ModelFailed(f"401: wrong key {key}\n" + "x " * 5000)]))
    with pytest.raises(errors.NoModelAnswered) as told:
        asker.ask("summarise", ASKED)
    (line,) = bench.lines
    for text in (told.value.message, json.dumps(line)):
        assert key not in text
        assert len(text) < 700
    assert "401: wrong key [redacted" in line["reason"]


def test_tokens_and_cost_are_counted_by_purpose_and_route(bench):
    bench.asker(Said("a/one", [yes(tokens_in=1000, tokens_out=500, counted=True)])).ask("summarise", ASKED)
    bench.asker(Said("odd/two", [yes()]), wishes="other").ask("refresh", ASKED)
    day = meter.load(bench.layout, NOW.date())
    assert day["summarise", "a/one"] == meter.Use(calls=1, tokens_in=1000, tokens_out=500, cost=0.006)
    assert day["refresh", "odd/two"] == meter.Use(calls=1, tokens_in=9, tokens_out=2, unpriced=1)
    assert [line["cost"] for line in bench.lines] == [0.006, None]
    assert {"purpose", "route", "tokens_in", "tokens_out", "seconds", "outcome"} <= bench.lines[0].keys()
    assert "pier" not in json.dumps(bench.lines)
    assert "a fact" not in json.dumps(bench.lines)


@pytest.mark.parametrize("said", [(-5, -7), (0, 0), (10**30, 10**30)])
def test_a_count_that_can_t_be_does_no_harm(bench, said):
    bench.asker(Said("a/one", [yes(tokens_in=said[0], tokens_out=said[1], counted=True)])).ask("judge", ASKED)
    assert 0 < bench.used.tokens <= 20_000_000


def test_a_failed_call_is_a_call_without_tokens(bench):
    with pytest.raises(errors.NoModelAnswered):
        bench.asker(Said("a/one", [dead()])).ask("summarise", ASKED)
    assert bench.used == meter.Use(calls=1, failed=1)


def test_a_call_whose_process_is_stopped_still_counts(bench):
    one = Said("a/one", [KeyboardInterrupt()])  # type: ignore[list-item]
    one.ask = lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt())  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        bench.asker(one).ask("summarise", ASKED)
    assert bench.used == meter.Use(calls=1, tokens_in=9)


def test_the_cap_on_calls_says_what_is_used_until_when_and_what_to_do(bench):
    one = Said("a/one", [yes()])
    asker = bench.asker(one, caps=Caps(2, 10**9))
    asker.ask("summarise", ASKED)
    asker.ask("refresh", ASKED)
    with pytest.raises(errors.CapReached) as told:
        asker.ask("summarise", ASKED)
    assert "model_daily_calls" in told.value.message
    assert "2 of 2 calls are used" in told.value.message
    assert "2026-12-01 00:00 UTC" in told.value.message
    assert "lamina config set model_daily_calls 4" in told.value.hint
    assert len(one.asked) == 2
    assert "model_daily_calls" in asker.waiting()
    bench.clock.forward(hours=12)
    assert not asker.waiting()
    asker.ask("summarise", ASKED)


def test_the_cap_on_tokens_counts_the_prompt_before_it_is_sent(bench):
    one = Said("a/one", [yes()])
    asker = bench.asker(one, caps=Caps(300, 1000))
    with pytest.raises(
        errors.CapReached, match=r"model_daily_tokens is reached: 0 of 1000 tokens.* about 10\d\d"
    ):
        asker.ask("summarise", Prompt("", "x" * 4100))
    asker.ask("summarise", ASKED)
    assert len(one.asked) == 1


def test_a_cap_of_nothing_allows_nothing(bench):
    one = Said("a/one", [yes()])
    for caps in (Caps(0, 10**9), Caps(300, 0)):
        with pytest.raises(errors.CapReached):
            bench.asker(one, caps=caps).ask("summarise", ASKED)
    assert not one.asked


def test_every_rung_is_a_call_and_the_cap_ends_the_climb(bench):
    one, two, three = Said("a/one", [yes("")]), Said("b/two", [yes("")]), Said("c/three", [yes()])
    with pytest.raises(errors.NoModelAnswered, match=r"c/three: not asked: the day's cap") as told:
        bench.asker(one, two, three, caps=Caps(2, 10**9)).ask("summarise", ASKED)
    assert told.value.replied
    assert not three.asked
    assert bench.used == meter.Use(calls=2, empty=2, tokens_in=18, cost=0.000018)


def test_what_can_t_be_counted_is_not_sent(bench):
    one = Said("a/one", [yes()])
    asker = bench.asker(one)
    asker.ask("summarise", ASKED)
    path = meter.path_of(bench.layout, NOW.date())
    path.write_text("damaged")
    with pytest.raises(errors.CapReached, match="can't be counted") as told:
        asker.ask("summarise", ASKED)
    assert "remove it" in told.value.hint
    assert "can't be counted" in asker.waiting()
    assert bench.lines[-1]["event"] == "model_not_counted"
    assert len(one.asked) == 1
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("a file where the folder was")
    with pytest.raises(errors.CapReached, match="can't be counted"):
        asker.ask("summarise", ASKED)
    assert len(one.asked) == 1


def test_a_log_and_a_standing_that_can_t_be_written_stop_nothing(bench):
    bench.layout.state.mkdir(parents=True)
    bench.layout.logs.write_text("a file where the folder was")
    standing.path_of(bench.layout).mkdir()
    assert bench.asker(Said("a/one", [yes()])).ask("summarise", ASKED).route == "a/one"


def test_background_work_pauses_where_no_model_is_reached_and_a_person_s_command_does_not(bench):
    one = Said("a/one", [dead(), dead(), yes()])
    asker = bench.asker(one)
    assert not asker.waiting()
    with pytest.raises(errors.NoModelAnswered):
        asker.ask("summarise", ASKED)
    assert "2026-11-30 12:01 UTC" in asker.waiting()
    bench.clock.forward(minutes=1)
    assert not asker.waiting()
    with pytest.raises(errors.NoModelAnswered):
        asker.ask("summarise", ASKED)
    assert "12:03 UTC" in asker.waiting()
    assert asker.ask("summarise", ASKED).route == "a/one"
    assert not asker.waiting()


def test_a_cap_is_no_sign_of_models_that_can_t_be_reached(bench):
    with pytest.raises(errors.CapReached):
        bench.asker(Said("a/one", [yes()]), caps=Caps(0, 0)).ask("summarise", ASKED)
    assert standing.load(bench.layout).unreached == 0


def test_each_request_to_one_model_is_a_call_and_what_works_is_kept(bench):
    plain = Said("a/one", [yes(tokens_in=7, tokens_out=3, counted=True)])
    bare = Said("a/one", [yes("", tokens_in=5, tokens_out=4, counted=True, again=Again(plain))])
    whole = Said("a/one", [yes("", again=Again(bare, "HTTP 400: max_tokens"))])
    asker = bench.asker(whole, Said("b/two", [yes()]))
    answer = asker.ask("summarise", ASKED)
    assert (answer.route, answer.reply.text, answer.reply.again) == ("a/one", "- a fact", None)
    assert bench.used == meter.Use(calls=3, failed=1, empty=1, tokens_in=12, tokens_out=7, cost=0.000082)
    assert [line["outcome"] for line in bench.lines] == ["failed", "empty", "answered"]
    assert bench.lines[0]["reason"] == "HTTP 400: max_tokens"
    asker.ask("summarise", ASKED)
    assert (len(whole.asked), len(bare.asked), len(plain.asked)) == (1, 1, 2)
    assert bench.used.calls == 4


@pytest.mark.parametrize("refused", ["HTTP 400: max_tokens", ""])
def test_the_cap_holds_for_another_way_to_ask_the_same_model(bench, refused):
    plain, two = Said("a/one", [yes()]), Said("b/two", [yes()])
    asker = bench.asker(Said("a/one", [yes("", again=Again(plain, refused))]), two, caps=Caps(1, 10**9))
    with pytest.raises(
        errors.NoModelAnswered, match=r"not asked again: the day's cap.*b/two: not asked"
    ) as told:
        asker.ask("summarise", ASKED)
    assert (refused or "it answered with nothing") in told.value.message
    assert (bench.used.calls, plain.asked, two.asked) == (1, [], [])


def test_a_model_that_always_knows_another_way_is_left_for_the_next(bench):
    one, two = Said("a/one", []), Said("b/two", [yes()])
    one.answers = [yes("", again=Again(one, "HTTP 400: grammar"))]
    assert bench.asker(one, two).ask("summarise", ASKED).route == "b/two"
    assert (len(one.asked), bench.used.calls) == (MAX_WAYS, MAX_WAYS + 1)


def test_another_way_gets_no_more_than_the_time_that_is_left(bench):
    given = []

    class Slow(Said):
        def ask(self, prompt: Prompt, *, within_s: float = 0) -> Reply:
            given.append(within_s)
            time.sleep(0.3)
            return super().ask(prompt, within_s=within_s)

    one = Slow("a/one", [])
    one.answers = [yes("", again=Again(one))]
    with pytest.raises(errors.NoModelAnswered):
        bench.asker(one, within_s=0.5).ask("summarise", ASKED)
    assert given[0] == 0.5
    assert len(given) == 2
    assert given[1] < 0.21


def test_an_unknown_purpose_is_told(bench):
    one = Said("a/one", [yes()])
    with pytest.raises(errors.UsageError):
        bench.asker(one).ask("gossip", ASKED)
    assert not one.asked
    assert PURPOSES == ("summarise", "consolidate", "refresh", "digest", "refine", "rerank", "judge")


def test_a_clock_that_went_back_heals(bench):
    one, two = Said("a/one", [yes(""), yes()]), Said("b/two", [yes()])
    asker = bench.asker(one, two)
    bench.clock.forward(days=400)
    assert asker.ask("summarise", ASKED).route == "b/two"
    bench.clock.forward(days=-400)
    assert asker.ask("summarise", ASKED).route == "a/one"
