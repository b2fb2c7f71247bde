"""What holds for every model behind HTTP; each kind's tests inherit it and say which route is theirs."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest
from tests.models.raw import HEAD, listening
from tests.models.scripted import Say, scripted

from lamina.errors import ModelFailed
from lamina.models.base import Prompt, estimate_tokens
from lamina.models.choose import model_for

KEY = "test" + "-key-" + "of-no-one"


def hang_up(_raw, _peer):
    """Say nothing and close."""


PROMPT = Prompt("Work carefully.", "What was decided? 何を決めた？ 🙂", tokens=80)


class Laws:
    """The same promises for each kind."""

    route = ""
    variable = ""
    trouble = b'data: {"error": {"code": 503, "message": "overloaded"}}\n\n'

    def model(self, url, *, key=KEY):
        return model_for(self.route, env={self.variable: key}, base_url=url, folder=Path("/nowhere"))

    def ask(self, script, *, within_s=10, prompt=PROMPT):
        with scripted(script) as server:
            self.server = server
            return self.model(server.url).ask(prompt, within_s=within_s)

    def fails(self, script, *, within_s=10) -> ModelFailed:
        with pytest.raises(ModelFailed) as caught:
            self.ask(script, within_s=within_s)
        return caught.value

    def test_the_text_arrives_whole_in_every_script(self):
        text = "- [決定] ポート 8443 を使う\n- [fix] 🙂 café\n- [事实] 数据库在哪里\n"
        assert self.ask([Say(text)]).text == text

    def test_the_model_is_shown_both_parts_of_the_prompt_once(self):
        self.ask([Say("yes"), Say("no")])
        (request,) = self.server.requests
        assert (request.system, request.text) == (PROMPT.system, PROMPT.text)

    def test_half_a_surrogate_pair_stops_no_prompt(self):
        assert self.ask([Say("yes")], prompt=Prompt("", "a\ud800b")).text == "yes"
        assert self.server.requests[0].text == "a?b"

    def test_reasoning_is_no_text(self):
        assert self.ask([Say("- [fix] one", reasoning="Let me think about it.")]).text == "- [fix] one"

    def test_a_model_that_only_reasoned_said_nothing(self):
        reply = self.ask([Say(reasoning="Let me think about it.")])
        assert (reply.text, reply.cut) == ("", False)

    def test_a_reasoning_that_took_all_tokens_said_nothing_and_was_cut(self):
        reply = self.ask([Say(reasoning="Let me think", finish="length")])
        assert (reply.text, reply.cut) == ("", True)

    @pytest.mark.parametrize(
        "text, rest",
        [
            ("<think>\nhm\n</think>\n\n- [fix] one", "- [fix] one"),
            ("<think>hm</think><think>and</think>- [fix] one", "- [fix] one"),
            ("hm, the user wants\n</think>\n\n- [fix] one", "- [fix] one"),
            ("<think>\nhm, this takes", ""),
            ("- [fix] `<think>` is stripped from\n</think>\n- [fix] two", None),
            ("- [fix] replies end at </think> here", None),
        ],
    )
    def test_reasoning_in_tags_is_no_text(self, text, rest):
        assert self.ask([Say(text)]).text == (text if rest is None else rest)

    def test_an_empty_reply_is_no_failure(self):
        reply = self.ask([Say(" \n ")])
        assert (reply.text, reply.cut, reply.counted) == ("", False, True)

    def test_a_reply_at_the_length_limit_is_cut(self):
        reply = self.ask([Say("- [fix] one\n- [fi", finish="length")])
        assert (reply.text, reply.cut) == ("- [fix] one\n- [fi", True)

    def test_a_stream_that_breaks_gives_what_came_and_says_so(self):
        reply = self.ask([Say("- [fix] one\n- [fix] two", break_after=15)])
        assert (reply.text, reply.cut) == ("- [fix] one\n- [", True)

    def test_a_stream_that_breaks_before_any_text_is_a_failure(self):
        self.fails([Say("- [fix] one", break_after=0)])

    def test_tokens_are_the_endpoints_own(self):
        reply = self.ask([Say("- [fix] one", usage=(321, 7))])
        assert (reply.tokens_in, reply.tokens_out, reply.counted) == (321, 7, True)

    def test_tokens_are_estimated_where_the_endpoint_is_silent(self):
        reply = self.ask([Say("- [fix] one", usage=False)])
        asked = estimate_tokens(PROMPT.system) + estimate_tokens(PROMPT.text)
        assert (reply.tokens_in, reply.tokens_out, reply.counted) == (asked, 3, False)

    def test_a_filter_that_took_everything_is_told(self):
        assert "declined" in self.fails([Say(finish="content_filter")]).message

    def test_a_filter_in_the_midst_leaves_a_cut_reply(self):
        reply = self.ask([Say("- [fix] one", finish="content_filter")])
        assert (reply.text, reply.cut) == ("- [fix] one", True)

    @pytest.mark.parametrize("status", [429, 503, 529])
    def test_a_wish_to_wait_is_passed_on(self, status):
        fault = self.fails([Say("slowly", status=status, headers={"retry-after": "7"})])
        assert (fault.retry_after_s, "slowly" in fault.message) == (7.0, True)

    def test_a_failing_call_is_not_repeated(self):
        self.fails([Say(status=500), Say("second")])
        assert len(self.server.requests) == 1

    @pytest.mark.parametrize("status", [401, 403])
    def test_a_refused_key_names_its_variable(self, status):
        assert self.variable in self.fails([Say("bad key", status=status)]).hint

    def test_an_unknown_model_says_how_to_choose_another(self):
        assert "lamina config set model" in self.fails([Say("no such model", status=404)]).hint

    @pytest.mark.parametrize("status", [400, 401, 404, 418, 429, 500])
    def test_the_key_never_stands_in_a_message(self, status):
        fault = self.fails([Say(f"invalid key {KEY}\x1b[31m, see http://me:pw@example.org/", status=status)])
        told = fault.message + fault.hint + repr(fault.__cause__)
        assert KEY not in told
        assert "me:pw" not in told
        assert "\x1b" not in told

    def test_the_key_stands_in_no_representation(self):
        assert KEY not in repr(self.model("http://127.0.0.1:9"))

    def test_a_long_error_is_clipped(self):
        assert len(self.fails([Say("x" * 100_000, status=400)]).message) < 400

    @pytest.mark.parametrize(
        "body",
        [
            b"",
            b"<html><body>Welcome to the hotel network</body></html>",
            b"\x00\xff\xfe\x80" * 400,
            b"data: {not json\n\n",
            b"data: 5\n\ndata: []\n\ndata: null\n\n",
            b"event: message_start\ndata: {}\n\n",
            b'data: {"choices": [{"delta": 7}], "candidates": 7}\n\n',
            b"data: " + b"[" * 50_000 + b"\n\n",
            b'{"choices": [{"message": {"content": "no stream"}}]}',
        ],
        ids=[
            "nothing",
            "page",
            "bytes",
            "bad-json",
            "no-objects",
            "no-fields",
            "odd-fields",
            "deep",
            "whole",
        ],
    )
    def test_what_is_no_reply_is_a_failure(self, body):
        assert self.fails([Say(body=body, headers={"content-type": "text/event-stream"})]).message

    def test_an_error_in_the_midst_of_a_stream_is_told(self):
        fault = self.fails([Say(body=self.trouble, headers={"content-type": "text/event-stream"})])
        assert "overloaded" in fault.message

    def test_silence_ends_with_the_time_limit(self):
        start = time.monotonic()
        assert "0.4 s" in self.fails([Say("late", delay_s=9)], within_s=0.4).message
        assert time.monotonic() - start < 2

    def test_slowness_ends_with_the_time_limit_and_keeps_what_came(self):
        start = time.monotonic()
        reply = self.ask([Say("- [fix] one" * 90, pause_s=0.1)], within_s=0.8)
        assert time.monotonic() - start < 2
        assert reply.cut
        assert reply.text.startswith("- [fix]")

    def test_an_endless_reply_is_cut(self):
        reply = self.ask([Say("- [fix] one\n" * 300, endless=True)], within_s=30)
        assert (reply.cut, 90_000 < len(reply.text) <= 100_000) == (True, True)

    def test_an_endless_line_ends_soon(self):
        def pour(raw, peer):
            raw.send(peer, HEAD + b"data: ")
            raw.send(peer, b"x" * 65536, times=4000)

        with listening(pour) as raw, pytest.raises(ModelFailed, match="more than any reply has"):
            self.model(raw.url).ask(PROMPT, within_s=20)
        assert raw.sent < 40 << 20

    def test_endless_events_without_text_end_soon(self):
        def pour(raw, peer):
            raw.send(peer, HEAD)
            raw.send(peer, (b": " + b"x" * 8190 + b"\n\n") * 8, times=4000)

        with listening(pour) as raw, pytest.raises(ModelFailed):
            self.model(raw.url).ask(PROMPT, within_s=20)
        assert raw.sent < 80 << 20

    def test_a_header_that_never_ends_ends_with_the_time_limit(self):
        start = time.monotonic()

        def drip(raw, peer):
            raw.send(peer, b"H", times=400, every_s=0.05)

        with listening(drip) as raw, pytest.raises(ModelFailed):
            self.model(raw.url).ask(PROMPT, within_s=0.5)
        assert time.monotonic() - start < 3

    def test_headers_a_byte_at_a_time_end_with_the_time_limit(self):
        start = time.monotonic()

        def drip(raw, peer):
            raw.send(peer, b"HTTP/1.1 200 OK\r\nx-a: ")
            raw.send(peer, b"a", times=400, every_s=0.05)

        with listening(drip) as raw, pytest.raises(ModelFailed, match=r"0\.5 s"):
            self.model(raw.url).ask(PROMPT, within_s=0.5)
        assert time.monotonic() - start < 3

    def test_an_endpoint_that_hangs_up_is_a_failure(self):
        with listening(hang_up) as raw, pytest.raises(ModelFailed):
            self.model(raw.url).ask(PROMPT, within_s=5)

    def test_an_endpoint_that_is_not_there_is_a_failure(self):
        with listening(hang_up) as raw:
            url = raw.url
        with pytest.raises(ModelFailed, match="can't be reached"):
            self.model(url).ask(PROMPT, within_s=5)

    def test_a_packed_answer_is_not_unpacked(self):
        packed = gzip.compress(b"data: " + b"x" * 10_000_000)
        assert self.fails([Say(body=packed, headers={"content-encoding": "gzip"})]).message

    @pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
    def test_a_redirect_carries_nothing_elsewhere(self, status):
        with scripted(Say("caught")) as other:
            target = f"{other.url}/v1/chat/completions"
            fault = self.fails([Say(status=status, headers={"location": target}), Say("again")])
        assert other.requests == []
        assert len(self.server.requests) == 1
        assert str(status) in fault.message

    def test_without_a_key_none_is_sent(self):
        with scripted(Say("yes")) as server:
            self.model(server.url, key="").ask(PROMPT)
        headers = server.requests[0].headers
        assert not {"authorization", "x-api-key", "x-goog-api-key"} & set(headers)

    def test_ten_at_once_do_not_mix(self):
        from concurrent.futures import ThreadPoolExecutor

        def echo(request):
            return Say(f"you said {request.text}")

        with scripted(echo) as server, ThreadPoolExecutor(10) as pool:
            model = self.model(server.url)
            told = list(pool.map(lambda n: model.ask(Prompt("", f"number {n}"), within_s=30).text, range(10)))
        assert told == [f"you said number {n}" for n in range(10)]

    def test_a_grammar_is_not_told(self):
        self.ask([Say("yes")], prompt=Prompt("", "ask", grammar="root ::= [a-z]+"))
        assert "grammar" not in str(self.server.requests[0].body)
