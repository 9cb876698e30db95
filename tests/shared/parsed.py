"""A page read back by the parser of Python: its elements with their attributes and text."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

from pellucid.drawing.html import EMPTY


@dataclass
class Node:
    """An element with its attributes and, in order, its text and child elements."""

    tag: str
    attributes: dict
    children: list = field(default_factory=list)

    @property
    def text(self) -> str:
        """All text inside."""
        return "".join(child if isinstance(child, str) else child.text for child in self.children)

    def every(self, tag=None, css_class=None):
        """All elements inside with this tag and this CSS class, where they are named."""
        for child in self.children:
            if isinstance(child, Node):
                classes = (child.attributes.get("class") or "").split()
                if (tag is None or child.tag == tag) and (css_class is None or css_class in classes):
                    yield child
                yield from child.every(tag, css_class)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Node("", {})]

    def handle_starttag(self, tag, attrs):
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in EMPTY:
            self.open.append(node)

    def handle_endtag(self, tag):
        assert self.open.pop().tag == tag

    def handle_data(self, data):
        self.open[-1].children.append(data)


def parsed(html) -> Node:
    """The tree of some HTML; every element must be closed in order."""
    reader = _Reader()
    reader.feed(str(html))
    reader.close()
    assert len(reader.open) == 1
    return reader.open[0]
