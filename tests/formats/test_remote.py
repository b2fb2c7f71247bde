import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamina.formats.duration import parse_duration
from lamina.formats.gitconfig import first_value, parse_gitconfig
from lamina.formats.remote import is_path, name_of, normalise


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:acme/app.git",
        "git@GitHub.com:acme/app",
        "github.com:acme/app.git",
        "ssh://git@github.com/acme/app.git",
        "ssh://git@github.com:22/acme/app/",
        "git+ssh://git@github.com/acme/app",
        "https://github.com/acme/app.git",
        "https://github.com/acme/app/",
        "HTTPS://GITHUB.COM:443/acme/app.git/",
        "https://user:pa%40ss@github.com/acme/app?ref=1#readme",
        "https://user@mail.example:x@github.com//acme//app.git",
        "git://github.com/acme/app.git",
        "  https://github.com/acme/app\n",
        "git@[github.com:2222]:acme/app.git",
        "codecommit::https://github.com/acme/app",
    ],
)
def test_all_forms_of_a_url_name_one_repository(url):
    assert normalise(url) == "github.com/acme/app"


@pytest.mark.parametrize(
    "url, expected",
    [
        ("file:///srv/git/app.git", "/srv/git/app"),
        ("file://localhost/srv/git/app", "/srv/git/app"),
        ("/srv/git/app.git/", "/srv/git/app"),
        ("/srv/git/app/.git", "/srv/git/app"),
        ("../app.git", "../app"),
        ("./dir:with/colon", "./dir:with/colon"),
        ("C:\\git\\app", "C:/git/app"),
        ("C:/git/app.git", "C:/git/app"),
        ("file:///C:/git/app", "C:/git/app"),
        ("ssh://git@[2001:db8::1]:22/acme/app.git", "[2001:db8::1]/acme/app"),
        ("git@[2001:db8::1]:acme/app.git", "[2001:db8::1]/acme/app"),
        ("https://example.org/a/b/c/d.git", "example.org/a/b/c/d"),
        ("https://example.org/Acme/App", "example.org/Acme/App"),
        ("ssh://host/~me/app", "host/~me/app"),
        ("https://example.org/team/.git", "example.org/team"),
        ("", ""),
        ("/", "/"),
        ("https://", ""),
        ("https://example.org", "example.org"),
    ],
)
def test_paths_hosts_and_odd_forms(url, expected):
    assert normalise(url) == expected


def test_no_password_survives():
    secret = "hunter" + "2"
    for url in (
        f"https://me:{secret}@h/x",
        f"me:{secret}@h:x",
        f"https://h/x?token={secret}",
        f"ssh://me:{secret}@h:1/x",
    ):
        assert secret not in normalise(url)


def test_the_name_is_the_last_part():
    assert name_of("github.com/acme/My%20App") == "My App"
    assert name_of("github.com/acme/b%2Fc") == "b/c"
    assert [is_path(each) for each in ("/srv/x", "../x", "C:/x", "host/x")] == [True, True, True, False]


@given(st.text(max_size=80))
def test_normalising_never_fails(url):
    normalise(url)


@given(st.from_regex(r"[a-z]{1,5}(\.[a-z]{2,3}){1,2}(/[a-z0-9._-]{1,6}){1,3}", fullmatch=True))
def test_a_normalised_url_is_its_own_normal_form(url):
    once = normalise("https://" + url)
    assert normalise(once) == once


@pytest.mark.parametrize(
    "url", ["git@[2001:db8::1]:a/b", "host:a/b:c", "https://h/a:b", "/srv/x", "C:/x", "h"]
)
def test_what_was_normalised_stays_as_it_is(url):
    assert normalise(normalise(url)) == normalise(url)


CONFIG = r"""
; comment
[core]
	bare = false # inline
	autocrlf
[Remote "origin"]
	URL = "https://example.org/a b.git" ; quoted
	fetch = +refs/heads/*:refs/remotes/origin/*
[remote "a\"b"] url = one\
two
[remote.dotted]
	url=x\ty  "  z  " # end
[bad
	url = lost
[include]
	path = other
[remote "origin"]
	url = second
"""


def test_a_configuration_is_read_as_git_reads_it():
    items = {(item.section, item.subsection, item.key): item.value for item in parse_gitconfig(CONFIG)}
    assert items["core", "", "bare"] == "false"
    assert items["core", "", "autocrlf"] == "true"
    assert items["remote", 'a"b', "url"] == "onetwo"
    assert items["remote", "dotted", "url"] == "x\ty    z  "
    assert "lost" not in items.values()
    assert first_value(CONFIG, "remote", "origin", "url") == "https://example.org/a b.git"
    assert first_value(CONFIG, "remote", "Origin", "url") is None
    assert first_value("\ufeff[a]\r\nb = c\r\n", "a", "", "b") == "c"


@given(st.text(alphabet='[]"\\=#; \nab.', max_size=60))
def test_any_configuration_is_read(text):
    list(parse_gitconfig(text))


@pytest.mark.parametrize(
    "text, seconds",
    [
        ("90", 90),
        ("45s", 45),
        ("30m", 1800),
        ("2h", 7200),
        ("1h30m", 5400),
        ("1h 30m", 5400),
        ("3d", 259200),
        ("1W", 604800),
    ],
)
def test_spans_of_time(text, seconds):
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", " ", "h", "2x", "-1h", "1.5h", "2h!", "٣h", "9" * 30])
def test_no_span_of_time(text):
    assert parse_duration(text) is None
