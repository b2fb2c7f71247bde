"""Generators of topic files and bodies, built from the pieces that the format gives a meaning to."""

from hypothesis import strategies as st

PIECES = (
    "",
    " ",
    "\t",
    "# Title",
    "## Heading",
    "## ",
    "##",
    "##x",
    " ## indented",
    "### Deeper",
    "**Id:** lamina-sem-0007",
    "**id:** x",
    "**Date:** 2026-11-30",
    "**Trust:** candidate",
    "**Status:** forgotten 2026-01-01",
    "**Owner:** Zoë",
    "**Context:**",
    "**Context:** inline",
    "**Date**: 2026-01-01",
    "**Source:**",
    "text",
    "more text  ",
    "---",
    "```",
    "````",
    "```python",
    "~~~",
    "~~~ text",
    "   ```",
    "    ```",
    "- ```",
    "1. ```js",
    "  ```",
    "``` a`b",
    "\\",
    "\\## escaped",
    "\\\\# twice",
    "\\**Id:** y",
    "\\```",
    "\\~~~ z",
    "a\u2028## b",
    "c\x0b## d",
    "e\x0c## f",
    "g\x85## h",
    "\u2028",
    "\x1c",
    "日本語。",
    "🚀",
)
BREAKS = ("\n", "\n", "\n", "\r\n", "\r")

any_break = st.sampled_from(BREAKS)
lines = st.one_of(st.sampled_from(PIECES), st.text(max_size=8))


@st.composite
def texts(draw, breaks=any_break):
    """Any text: lines from the grammar with any line breaks, with or without a final one."""
    parts = draw(st.lists(st.tuples(lines, breaks), max_size=24))
    text = "".join(line + end for line, end in parts)
    return text if draw(st.booleans()) else text.rstrip("\r\n")


@st.composite
def topics(draw):
    """A topic file: perhaps a mark, front matter and a title, then anything."""
    mark = draw(st.sampled_from(("", "\ufeff")))
    front = draw(st.sampled_from(("", "---\ntitle: x\n# note\n---\n", "---\n")))
    title = draw(st.sampled_from(("", "# Topic\n\n", "# Topic\r\n")))
    breaks = draw(st.sampled_from((st.sampled_from(BREAKS), st.just("\n"), st.just("\r\n"))))
    return mark + front + title + draw(texts(breaks=breaks))
