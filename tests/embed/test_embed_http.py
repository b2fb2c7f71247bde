"""Embedders behind HTTP, against a real server on this machine."""

from __future__ import annotations

import socket
import time

import numpy as np
import pytest
from tests.embed.endpoint import WIDTH, running, vector
from tests.embed.laws import Laws

from lamina.embed import http
from lamina.embed.choose import choose
from lamina.errors import EmbedderUnavailable

KEY = "test" + "-key-" + "of-no-one"


class TestOpenAI(Laws):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        with running() as server:
            yield choose(f"openai:small@{server.url}/v1", env={})


class TestOllama(Laws):
    @pytest.fixture(scope="class")
    @classmethod
    def embedder(cls):
        with running() as server:
            yield choose(f"ollama:nomic-embed-text:v1.5@{server.url}", env={})


@pytest.fixture
def server():
    with running() as endpoint:
        yield endpoint


@pytest.fixture(params=["openai", "ollama"])
def family(request):
    return request.param


def made(server, family="openai", env=(), timeout=5.0):
    make = {"openai": http.openai, "ollama": http.ollama}[family]
    return make("small", server.url, dict(env), timeout=timeout, pause=0.0)


def refused(embedder, texts=("a", "b"), *, query=False) -> EmbedderUnavailable:
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed(list(texts), query=query)
    assert caught.value.hint
    assert embedder.name in caught.value.message
    assert "\n" not in caught.value.message
    return caught.value


def test_vectors_are_the_servers_at_length_one(server, family):
    rows = made(server, family).embed(["a", "", "b"])
    want = np.array([vector("a"), [0] * WIDTH, vector("b")])
    want[[0, 2]] /= np.linalg.norm(want[[0, 2]], axis=1, keepdims=True)
    np.testing.assert_allclose(rows, want, atol=1e-6)
    assert server.asked[0][2]["input"] == ["a", "b"]


def test_the_address_may_hold_the_path_already(server):
    for url in ("/v1", "/v1/", "/v1/embeddings"):
        http.openai("small", server.url + url, {}).embed(["a"])
    assert {path for path, _, _ in server.asked} == {"/v1/embeddings"}


def test_names_tell_the_model_and_the_host(server):
    host = server.url.removeprefix("http://")
    assert choose(f"openai:text-3@{server.url}/v1/", env={}).name == f"openai/text-3@{host}/v1"
    assert choose("ollama:bge-m3:567m", env={}).name == "ollama/bge-m3:567m@127.0.0.1:11434"
    assert choose("openai:text-3", env={"OPENAI_API_KEY": KEY}).name == "openai/text-3@api.openai.com/v1"


def test_a_batch_is_one_request(server, family):
    embedder = made(server, family)
    embedder.embed([f"text {number}" for number in range(2 * embedder.batch + 1)])
    assert [len(body["input"]) for _, _, body in server.asked] == [embedder.batch, embedder.batch, 1]


def test_nothing_to_embed_asks_for_the_dimension_once(server, family):
    embedder = made(server, family)
    assert embedder.embed([]).shape == embedder.embed([]).shape == (0, WIDTH)
    assert len(server.asked) == 1


def test_a_passing_fault_is_tried_once_more(server, family):
    for status in (500, 503, 429):
        server.then(status, {"error": "busy"})
        assert made(server, family).embed(["a"]).shape == (1, WIDTH)
    server.then(500, {"error": "out of memory"})
    server.then(500, {"error": "out of memory"})
    assert "HTTP 500: out of memory" in refused(made(server, family)).message
    assert len(server.asked) == 8


def test_huge_texts_are_clipped(server, family):
    made(server, family).embed(["x" * 100_000])
    assert len(server.asked[0][2]["input"][0]) == 6_000


def test_a_hanging_server_is_given_up(server, family):
    server.hang()
    assert "no answer within 0.2 s" in refused(made(server, family, timeout=0.2)).message
    assert len(server.asked) == 1


def test_a_question_waits_no_longer_than_ten_seconds(server):
    embedder = made(server, timeout=0.3)
    server.hang()
    assert "within 0.3 s" in refused(embedder, query=True).message
    assert http._PATIENCE == 10.0


def test_passages_that_a_person_waits_for_are_given_up_as_early_as_a_question(server, family, monkeypatch):
    monkeypatch.setattr(http, "_PATIENCE", 0.2)
    embedder = made(server, family).hurried()
    texts = [f"text {number}" for number in range(20)]
    assert (embedder.embed(texts) == made(server, family).embed(texts)).all()
    assert len(server.asked[0][2]["input"]) == 16
    server.hang()
    assert "no answer within 0.2 s" in refused(embedder).message


def test_the_dimension_is_known_to_both_once_one_was_told(server, family):
    embedder = made(server, family)
    embedder.hurried().embed(["a"])
    embedder.embed(["a"], query=True)
    assert embedder.dimension == embedder.hurried().dimension == WIDTH
    assert len(server.asked) == 2


def test_no_server_at_all(family):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    embedder = choose(f"{family}:small@http://127.0.0.1:{port}", env={})
    assert "does not answer" in refused(embedder).message


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"<html>not JSON</html>", "no list of vectors"),
        (b"\xff\xfe", "no list of vectors"),
        (b"[" * 100_000, "no list of vectors"),
        ({"data": [], "embeddings": []}, "0 vectors for 2 texts"),
        ({"data": None, "embeddings": None}, "no list of vectors"),
        ([1, 2], "no list of vectors"),
        ({}, "no list of vectors"),
    ],
)
def test_what_is_no_answer(server, family, body, what):
    server.then(200, body)
    assert what in refused(made(server, family)).message


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([[1, 2]], "1 vectors for 2 texts"),
        ([[1, 2]] * 3, "3 vectors for 2 texts"),
        ([[1, 2], [1]], "different lengths"),
        ([[], []], "no list of vectors"),
        ([[1, "x"], [1, 2]], "no list of vectors"),
        ([[1, None], [1, 2]], "no list of vectors"),
        ([[float("nan"), 1], [1, 2]], "no list of vectors"),
        ([[float("inf"), 1], [1, 2]], "no list of vectors"),
        ([[[1], [2]], [[1], [2]]], "no list of vectors"),
        ([1, 2], "no list of vectors"),
        (["ab", "cd"], "no list of vectors"),
        ([[0.0, 0.0], [0.0, 0.0]], "vectors of zeros"),
    ],
)
def test_what_are_no_vectors(server, family, rows, what):
    server.then(
        200, {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)], "embeddings": rows}
    )
    assert what in refused(made(server, family)).message


def test_an_answer_that_drips_is_given_up(server, family):
    server.drip()
    began = time.monotonic()
    assert "no answer within 0.5 s" in refused(made(server, family, timeout=0.5)).message
    assert time.monotonic() - began < 5


def test_a_dimension_that_changes(server, family):
    embedder = made(server, family)
    assert embedder.dimension == WIDTH
    rows = [vector("a", 5), vector("b", 5)]
    server.then(
        200, {"data": [{"index": at, "embedding": row} for at, row in enumerate(rows)], "embeddings": rows}
    )
    assert "5 numbers, where it gave 8 before" in refused(embedder).message


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_key_names_its_variable_and_not_the_key(server, status):
    for env, variable, state in (
        ({"OPENAI_API_KEY": KEY}, "OPENAI_API_KEY", "refuses the key in"),
        ({"LAMINA_EMBEDDER_KEY_ENV": "MINE", "MINE": KEY}, "MINE", "refuses the key in"),
        ({}, "OPENAI_API_KEY", "wants a key, and none is in"),
    ):
        server.then(status, {"error": {"message": f"Incorrect API key provided: {KEY}"}})
        error = refused(made(server, env=env))
        assert f"{state} the variable {variable}" in error.message
        assert KEY not in error.message + error.hint


def test_the_key_is_sent_and_never_told(server):
    embedder = made(server, env={"OPENAI_API_KEY": KEY})
    server.then(400, {"error": {"message": f"bad request with {KEY}"}})
    assert KEY not in refused(embedder).message
    assert server.asked[0][1]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in embedder.name


def test_a_key_does_not_go_out_in_the_clear_unless_named():
    url = "http://embeddings.example/v1"
    assert http.openai("m", url, {"OPENAI_API_KEY": KEY})._endpoint.key == ""
    named = {"LAMINA_EMBEDDER_KEY_ENV": "MINE", "MINE": KEY}
    assert http.openai("m", url, named)._endpoint.key == KEY
    assert http.openai("m", "http://127.0.evil.example/v1", {"OPENAI_API_KEY": KEY})._endpoint.key == ""


def test_redirects_are_not_followed(server, family):
    for status in (301, 302, 307, 308):
        server.then(status, b"")
        assert f"HTTP {status}" in refused(made(server, family, {"OPENAI_API_KEY": KEY})).message
    assert len(server.asked) == 4


def test_an_unknown_model_says_how_to_get_it(server):
    server.then(404, {"error": 'model "small" not found, try pulling it first'})
    error = refused(made(server, "ollama"))
    assert "not found" in error.message
    assert error.hint == "run `ollama pull small`"


def test_long_error_answers_are_cut(server, family):
    server.then(400, b"word\n" * 10_000)
    assert len(refused(made(server, family)).message) < 350


def test_a_proxy_does_not_stand_before_this_machine(server, family):
    proxy = {"http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9"}
    assert made(server, family, proxy).embed(["a"]).shape == (1, WIDTH)


def test_other_machines_are_reached_through_the_proxy(server):
    proxied = http.ollama("small", "http://embeddings.example", {"http_proxy": server.url})
    assert proxied.embed(["a"]).shape == (1, WIDTH)
    path, headers, _ = server.asked[0]
    assert (path, headers["Host"]) == ("http://embeddings.example/api/embed", "embeddings.example")


def test_not_those_that_no_proxy_names(server):
    env = {"http_proxy": server.url, "no_proxy": ".invalid"}
    embedder = http.ollama("small", "http://embeddings.invalid", env, pause=0.0)
    assert "does not answer" in refused(embedder).message
    assert server.asked == []


@pytest.mark.parametrize(
    "url",
    ["https://", "http://user:word@host/v1", "http://host:99999/v1", "https://[::1", "http://ho st/\u0007"],
)
def test_what_is_no_address(url):
    with pytest.raises(EmbedderUnavailable, match="address must be") as caught:
        choose(f"openai:m@{url}", env={})
    assert "word" not in caught.value.message.replace("password", "")


def test_the_vendors_own_address_needs_a_key():
    with pytest.raises(EmbedderUnavailable, match="needs a key in the variable OPENAI_API_KEY"):
        choose("openai:text-embedding-3-small", env={})
    with pytest.raises(EmbedderUnavailable, match="needs a key in the variable MINE"):
        choose("openai:m", env={"LAMINA_EMBEDDER_KEY_ENV": "MINE", "OPENAI_API_KEY": KEY})
