"""What a reader can click: forms, buttons and links of pages that a program of ours serves.

Pages in files are written by `drawing/html.py` alone, which knows none of these tags, so a report never holds a form.
"""

import re
from collections.abc import Iterable, Sequence

from pellucid.drawing.html import Markup, attribute_text, element, marked_up, plain

_TAGS = (
    "html head body meta link script noscript form input button select option textarea label fieldset legend output "
    "progress a i"
)
_KEYS = (
    "class id title lang dir name content charset rel href src defer action method type value for min max step rows "
    "maxlength placeholder required checked selected disabled autofocus autocomplete spellcheck aria-label "
    "aria-current aria-live aria-describedby list data-cuts data-words data-poll tabindex"
)
WIDGETS, ATTRIBUTES = frozenset(_TAGS.split()), frozenset(_KEYS.split())
ADDRESSES = frozenset({"href", "src", "action"})
# Relative addresses alone, so that a page works behind any proxy and under any prefix.
_RELATIVE = re.compile(r"(?:\.\./)*(?:\./)?[\w.~%-]*(?:/[\w.~%-]+)*/?(?:\?[\w.~%&=+,-]*)?(?:#[\w-]*)?", re.ASCII)


def widget(tag: str, /, *children: "str | Markup | None", **attributes: "str | float | bool | None") -> Markup:
    """One element that can be clicked, or that a served page needs; written as `element` writes."""
    assert tag in WIDGETS, tag
    return marked_up(tag, children, (_attribute(key, value) for key, value in attributes.items()))


def _attribute(key: str, value: "str | float | bool | None") -> str:
    name = key.removesuffix("_").replace("_", "-")
    assert name in ATTRIBUTES, name
    assert name not in ADDRESSES or _RELATIVE.fullmatch(str(value)), value
    return attribute_text(name, value)


def link(content: "str | Markup", address: str, **attributes: "str | float | bool | None") -> Markup:
    """A link within the program; address: relative."""
    return widget("a", content, href=address, **attributes)


def form(address: str, *children: "Markup | None", method: str = "post", css_class: str | None = None) -> Markup:
    """A form that sends its fields to an address; "get" writes them into the address."""
    return widget("form", *children, action=address, method=method, class_=css_class)


def hidden_field(name: str, value: str) -> Markup:
    """A field that the reader does not see."""
    return widget("input", type="hidden", name=name, value=value)


def button(title: str, **attributes: "str | float | bool | None") -> Markup:
    """What sends the form around it."""
    return widget("button", title, type="submit", **attributes)


def text_area(field: str, text: str, rows: int = 4, **attributes: bool) -> Markup:
    """A field for a text of many lines, however long: a browser would cut it at a bound without a word. It leaves out a
    line end that comes first.
    """
    content = f"\n{text}" if text else ""
    return widget("textarea", content, name=field, rows=rows, spellcheck="false", dir="auto", **attributes)


def as_sent(text: str) -> str:
    """A text as a form brings it back: with plain line ends, and pictures of control characters."""
    return plain(text).replace("\r\n", "\n").replace("\r", "\n")


def labelled(title: "str | Markup", control: Markup, css_class: str = "pl-field") -> Markup:
    """A control with its name in front."""
    return widget("label", element("span", title), control, class_=css_class)


def checkbox(name: str, value: str, title: "str | Markup", checked: bool) -> Markup:
    """A box to tick, with its name behind."""
    box = widget("input", type="checkbox", name=name, value=value, checked=checked)
    return widget("label", box, " ", title, class_="pl-check")


def choice(name: str, options: Iterable[tuple[str, str]], current: str) -> Markup:
    """A list of which one entry is chosen. options: (value, title). current: the value that is selected."""
    entries = (widget("option", title, value=value, selected=value == current) for value, title in options)
    return widget("select", *entries, name=name)


def served_page(
    title: str, sheet: str, icon: str, scripts: Sequence[str], *body: Markup, refresh: int | None = None
) -> str:
    """A whole page that a program serves; its policy stands in the answer's header.

    sheet, icon, scripts: their addresses. refresh: seconds until a browser without scripts asks again.
    """
    head = widget(
        "head",
        widget("meta", charset="utf-8"),
        widget("meta", name="viewport", content="width=device-width, initial-scale=1"),
        widget("meta", name="color-scheme", content="light dark"),
        widget("noscript", element("meta", http_equiv="refresh", content=str(refresh))) if refresh else None,
        element("title", title),
        widget("link", rel="stylesheet", href=sheet),
        widget("link", rel="icon", href=icon),
        *(widget("script", src=address, defer=True) for address in scripts),
    )
    return f"<!doctype html>\n{widget('html', head, widget('body', *body), lang='en')}\n"
