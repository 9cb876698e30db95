"""The only file that writes HTML. Every string that enters is escaped.

`element` builds markup from strings, which it escapes, and from `Markup`, which it built itself before.
"""

import re
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha256
from html import escape

from pellucid.reports.markup.escape import plain, visible

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
EMPTY = frozenset({"meta"})
_NOT_ISOLATED = frozenset({"title", "text"})  # no <bdi> can stand inside these


@dataclass(frozen=True)
class Markup:
    """A piece of finished HTML, safe wherever an element is allowed."""

    text: str

    def __str__(self) -> str:
        return self.text


def element(
    tag: str, /, *children: "str | Markup | None", **attributes: "str | float | bool | None"
) -> Markup:
    """One element. Strings are escaped and None is left out.

    In the names of attributes, `class_` stands for class and `_` for a hyphen.
    """
    assert tag in ELEMENTS, tag
    opening = "".join([tag, *(_attribute(key, value) for key, value in attributes.items())])
    if tag in EMPTY:
        return Markup(f"<{opening}>")
    clean = plain if tag in _NOT_ISOLATED else visible
    inner = "".join(
        child.text if isinstance(child, Markup) else escape(clean(child or "")) for child in children
    )
    return Markup(f"<{opening}>{inner}</{tag}>")


def fragment(*parts: "str | Markup | None") -> Markup:
    """Several pieces in a row, strings escaped, without an element around them."""
    return Markup(
        "".join(part.text if isinstance(part, Markup) else escape(visible(part or "")) for part in parts)
    )


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


def _attribute(key: str, value: "str | float | bool | None") -> str:
    key = re.sub(r"_$", "", key).replace("_", "-")
    assert key in ATTRIBUTES, key
    assert key != "href" or str(value).startswith("#"), value
    if value is None or value is False:
        return ""
    return f" {key}" if value is True else f' {key}="{escape(plain(str(value)), quote=True)}"'
