"""What a view gets, a visit; and what it returns: a page, another address, or a file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from pellucid.base.errors import BadInput
from pellucid.drawing.html import Markup
from pellucid.results.table import Table
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.work import PATIENCE, Work


@dataclass(frozen=True)
class Page:
    """What a view shows. title: of the browser's tab and the heading. body: its parts, in order. model: whose trust the
    line on top speaks of; "" for none. methods: whose trust it is, in particular. beside: further models, each with a
    line of its own. refresh: seconds after which the browser asks for the page again; None: never. of_report: what
    `pellucid.report` takes, results and a table, to keep what the page shows; None: there is nothing to keep.
    """

    title: str
    body: Sequence[Markup | None]
    model: str = ""
    methods: Sequence[str] = ()
    beside: Sequence[str] = ()
    refresh: int | None = None
    of_report: Callable[[], tuple[Any, Table | None]] | None = None


@dataclass(frozen=True)
class Elsewhere:
    """Another address, relative to the visited one, that the browser goes to."""

    address: str


@dataclass(frozen=True)
class File:
    """A file for the reader to save."""

    name: str
    content: str


@dataclass(frozen=True)
class Visit:
    """A reader's visit to a view.

    view: its name. path: the parts of the address behind it. query: what stands behind the question mark. form: the
    fields of a form that was sent, each with its values; None where the page is only read. reader: a name that nobody
    can guess, of the browser.
    """

    studio: Studio
    view: str = "text"
    path: tuple[str, ...] = ()
    query: Mapping[str, str] = field(default_factory=dict)
    form: Mapping[str, Sequence[str]] | None = None
    reader: str = ""

    def address(self, *parts: str, **query: object) -> str:
        """The relative address of a view: ("text", KEY) with query. None leaves a part of the query away."""
        up = "../" * len(self.path)
        written = urlencode({name: str(value) for name, value in query.items() if value is not None})
        path = "/".join(quote(part, safe="") for part in parts)
        return f"{up or './'}{path}{'?' if written else ''}{written}"

    def field(self, name: str, default: str = "") -> str:
        """A field of the form, with plain line ends; the default where it was not sent."""
        values = (self.form or {}).get(name) or [default]
        return values[0].replace("\r\n", "\n")

    def fields(self, name: str) -> list[str]:
        """All values of a field."""
        return list((self.form or {}).get(name) or [])

    def whole_number(self, name: str, default: int = 0) -> int:
        """A whole number of the query, 0 or more; raises `BadInput` for anything else."""
        text = self.query.get(name, str(default))
        if not (text.isascii() and text.isdecimal() and len(text) < 10):
            raise BadInput(f"{name}= in the address is no whole number; go back and follow a link of the page.")
        return int(text)

    def numbers(self, name: str) -> tuple[int, ...]:
        """Whole numbers of the query, in order, each once; raises `BadInput` for anything else."""
        parts = [part for part in self.query.get(name, "").split(",") if part]
        if not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
            raise BadInput(f"{name}= in the address names no words; go back and follow a link of the page.")
        return tuple(sorted(set(map(int, parts))))

    @property
    def question(self) -> tuple[str, TextRequest]:
        """The key and the question that the address names; raises `BadInput` where it names none."""
        if not self.path:
            raise BadInput("The address names no text; begin at the first page.")
        return self.path[0], self.studio.requests[self.path[0]]

    def answer(self, model: str, key: object, work: Work, is_lasting: bool = False, patience: float = PATIENCE) -> Any:
        """What the model's desk computes; raises as `Desk.answer`."""
        self.studio.model(model)
        return self.studio.desks[model].answer(key, self.reader, work, is_lasting, patience)
