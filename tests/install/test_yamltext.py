"""Items of YAML lists."""

from __future__ import annotations

import pytest
import yaml

from lamina.install import yamltext
from lamina.install.jsontext import WrongShape

ITEM = {"insert": [{"name": "p", "config": {"command": "/a b/state/bin/lamina", "note": "名: #x"}}]}
INSERT = {"insert": [{"id": "lamina", "name": "/a b/index.js", "config": {"hook": "/x"}}]}
TEXTS = [
    "",
    "# only a comment\n",
    "- id: a\n  config: {x: 1}\n",
    "  - id: a\n  - insert:\n    - id: b\n",
    "[]\n",
    "[{id: a}]\n",
    "[\n  {id: a},\n]\n",
    "- id: a\n# the end\n",
    "---\n- id: a\n...\n",
    "- id: a\n  text: |\n    - id: lamina\n    # no comment\n\n",
    "\ufeff- id: a\n",
    "- id: a\r\n- id: b\r\n",
    "- &x {id: a}\n- *x\n",
]


@pytest.mark.parametrize("text", TEXTS)
def test_an_item_goes_in_and_comes_out_to_the_byte(text):
    with_it = yamltext.put(text, "lamina", ITEM)
    before = yaml.safe_load(text.removeprefix("\ufeff")) or []
    assert yaml.safe_load(with_it.removeprefix("\ufeff")) == [*before, {"id": "lamina", **ITEM}]
    assert yamltext.find(with_it, "lamina")
    assert yamltext.take(with_it, "lamina") == text


@pytest.mark.parametrize("text", TEXTS)
def test_an_item_that_inserts_an_entry_is_named_by_that_entry(text):
    with_it = yamltext.put(text, "lamina", INSERT)
    assert (yaml.safe_load(with_it.removeprefix("\ufeff")) or [])[-1] == INSERT
    assert yamltext.find(with_it, "lamina")
    assert not yamltext.find(with_it, "/a b/index.js")
    assert yamltext.take(with_it, "lamina") == text


@pytest.mark.parametrize(
    "other", ["- insert: []\n", "- insert: lamina\n", "- insert: [lamina]\n", "- insert: [[a]]\n"]
)
def test_what_inserts_nothing_has_no_name(other):
    assert not yamltext.find(other, "lamina")
    assert yamltext.take(yamltext.put(other, "lamina", INSERT), "lamina") == other


def test_tags_of_the_host_are_no_trouble():
    text = "- id: a\n  key: !env NAME\n"
    assert yamltext.take(yamltext.put(text, "lamina", ITEM), "lamina") == text


def test_an_item_in_the_middle_comes_out():
    text = yamltext.put("- id: a\n", "lamina", ITEM) + "# about b\n- id: b\n"
    assert yamltext.take(text, "lamina") == "- id: a\n# about b\n- id: b\n"


@pytest.mark.parametrize("text", ["a: 1\n", "text\n"])
def test_what_is_no_list_is_refused(text):
    with pytest.raises(WrongShape):
        yamltext.put(text, "lamina", ITEM)


def test_what_is_no_yaml_is_refused():
    with pytest.raises(ValueError, match="line"):
        yamltext.put("- [a\n", "lamina", ITEM)
