"""The only file that writes HTML. Every string that enters is escaped.

`element` builds markup from strings, which it escapes, and from `Markup`, which it built itself before.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from html import escape

_TAGS = (
    "html head body meta title main header footer nav section article figure figcaption details summary "
    "h1 h2 h3 h4 p div span i bdi strong em small sub sup ul ol li dl dt dd a "
    "table caption thead tbody tfoot tr th td svg g path line rect circle polyline polygon text"
)
_KEYS = (
    "class id title lang dir role scope colspan href open tabindex name content charset http-equiv "
    "aria-label aria-hidden aria-labelledby xmlns viewBox preserveAspectRatio focusable "
    "x y x1 x2 y1 y2 cx cy r width height d points transform text-anchor font-size textLength lengthAdjust fill stroke"
)
ELEMENTS, ATTRIBUTES = frozenset(_TAGS.split()), frozenset(_KEYS.split())
EMPTY = frozenset({"meta", "input", "link"})
_NOT_ISOLATED = frozenset({"title", "text", "textarea", "option"})  # no <bdi> can stand inside these


@dataclass(frozen=True)
class Markup:
    """A piece of finished HTML, safe wherever an element is allowed."""

    text: str

    def __str__(self) -> str:
        return self.text


def element(tag: str, /, *children: "str | Markup | None", **attributes: "str | float | bool | None") -> Markup:
    """One element. Strings are escaped and None is left out.

    In the names of attributes, `class_` stands for class and `_` for a hyphen.
    """
    assert tag in ELEMENTS, tag
    return marked_up(tag, children, (_attribute(key, value) for key, value in attributes.items()))


def marked_up(tag: str, children: "Iterable[str | Markup | None]", attributes: Iterable[str]) -> Markup:
    """One element of attributes that are written already; strings among the children are escaped."""
    opening = "".join([tag, *attributes])
    if tag in EMPTY:
        return Markup(f"<{opening}>")
    clean = plain if tag in _NOT_ISOLATED else visible
    inner = "".join(child.text if isinstance(child, Markup) else escape(clean(child or "")) for child in children)
    return Markup(f"<{opening}>{inner}</{tag}>")


def fragment(*parts: "str | Markup | None") -> Markup:
    """Several pieces in a row, strings escaped, without an element around them."""
    return Markup("".join(part.text if isinstance(part, Markup) else escape(visible(part or "")) for part in parts))


def name(text: str) -> Markup:
    """A label, or the name of a method, model or file: isolated, so that its direction changes nothing around it."""
    return element("bdi", text)


def style(css: str) -> Markup:
    """A style element; the sheet is written in this package and contains no data."""
    assert "<" not in css
    return Markup(f"<style>{css}</style>")


def document(title: str, css: str, *body: Markup, lang: str = "en") -> str:
    """A whole page. Its policy allows this one style sheet, by its digest, and nothing else."""
    digest = b64encode(sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("title", title),
        style(css),
    )
    return f"<!doctype html>\n{element('html', head, element('body', *body), lang=lang)}\n"


@lru_cache(maxsize=256)
def _attribute_name(key: str) -> str:
    written = key.removesuffix("_").replace("_", "-")
    assert written in ATTRIBUTES, written
    return written


# Links lead to a place of the page, or to a page of ours beside it, whose name is quoted; never to another host.
_WITHIN = re.compile(r"#.*|(?:\.\./)?(?:[\w.~%-]+/)?[\w.~%-]+\.html", re.ASCII)


def _attribute(key: str, value: "str | float | bool | None") -> str:
    key = _attribute_name(key)
    assert key != "href" or _WITHIN.fullmatch(str(value)), value
    return attribute_text(key, value)


def attribute_text(key: str, value: "str | float | bool | None") -> str:
    """An attribute as it is written, escaped; nothing for None and False."""
    if value is None or value is False:
        return ""
    return f" {key}" if value is True else f' {key}="{escape(plain(str(value)), quote=True)}"'


# Makes hostile characters harmless: control characters become pictures, changes of direction become names.
#
# Texts, tokens, labels, and the names of methods, files and models come from strangers.

_PICTURES = {code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\t\n"}
_PICTURES |= {0x7F: "\u2421"} | dict.fromkeys(range(0x80, 0xA0), "\ufffd")
_PICTURES |= dict.fromkeys(range(0xD800, 0xE000), "\ufffd")  # halves of surrogate pairs cannot be written
_DIRECTIONS = (
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)  # embeddings, overrides, isolates and their ends
_NAMED = _PICTURES | {code: f"‹U+{code:04X}›" for code in _DIRECTIONS}


def visible(text: str) -> str:
    """The text with control characters as pictures (tab and newline stay); nothing else is changed."""
    return text.translate(_PICTURES)


def plain(text: str) -> str:
    """As `visible`, with direction-changing characters named: for use where no markup isolates them."""
    return text.translate(_NAMED)


def turns(text: str) -> bool:
    """Whether the text contains invisible characters that change the direction in which it is read."""
    return any(ord(character) in _DIRECTIONS for character in text)


HATCH, HATCH_COLOUR = 6, "#8b919b"  # pixels between the lines


def hatch_lines(left: float, top: float, width: float, height: float) -> Iterator[Markup]:
    """Slanted lines over a box of a drawing, cut at its sides: over a word that the model cannot read."""
    for start in range(0, round(width + height), HATCH):
        x1, x2 = max(start - height, 0), min(start, width)
        y1, y2 = start - x1, start - x2  # from the lower left to the upper right
        ends = {"x1": left + x1, "y1": top + y1, "x2": left + x2, "y2": top + y2}
        if y1 <= height and x2 > x1:
            rounded = {name: round(value, 1) for name, value in ends.items()}
            yield element("line", **rounded, stroke=HATCH_COLOUR)


# Tables that scroll in a box of their own, and lists of terms with what they mean.

Content = str | Markup


def header_row(titles: Iterable[str]) -> Markup:
    """The first row of a table: the titles of its columns."""
    return element("tr", *(element("th", title, scope="col") for title in titles))


def table(head: Markup, rows: Iterable[Markup], css_class: str | None = None) -> Markup:
    """A table with one row of titles."""
    return element("table", element("thead", head), element("tbody", *rows), class_=css_class)


def scroll_box(content: Markup, label: str) -> Markup:
    """A box that scrolls sideways, also by keyboard; label: its name for screen readers."""
    return element("div", content, class_="pl-scroll", tabindex=0, role="region", aria_label=label)


def definition_list(entries: Iterable[tuple[Content, Content]], css_class: str) -> Markup:
    """Terms with their meanings, in order."""
    parts = (part for term, meaning in entries for part in (element("dt", term), element("dd", meaning)))
    return element("dl", *parts, class_=css_class)
