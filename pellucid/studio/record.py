"""What a studio has open: models, runs, comparisons, data to measure with, and the texts that readers ask about."""

import hashlib
import hmac
import json
import secrets
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from pellucid.base.checks import known
from pellucid.base.errors import BadInput
from pellucid.corpus.record import Run
from pellucid.discovery.record import LearntConcepts
from pellucid.results.table import Table
from pellucid.run.model import Model
from pellucid.studio.work import Desk
from pellucid.text.example import Example

CHARACTERS = 50_000  # of a text
METHODS = 12  # of a question
TEXTS = 2_000  # questions that are remembered


@dataclass(frozen=True)
class TextRequest:
    """What a reader asks about a text.

    model: its name. segments: the text, or the two of a pair. methods: their names, in order; empty: the usual ones of
    the studio. target: as `explain` reads it. is_chat: the first text is a message to a model with a template.
    before: the key of the text that this one is an edit of, or "". label, id: of the data, where the text is a row of a
    run. run, choice: that run's name and the query of the list from which the row was opened, which lead back there.
    """

    model: str
    segments: tuple[str, ...]
    methods: tuple[str, ...] = ()
    target: str = "predicted"
    is_chat: bool = False
    before: str = ""
    label: str | None = None
    id: str = ""
    run: str = ""
    choice: tuple[tuple[str, str], ...] = ()

    @property
    def example(self) -> Example:
        """The text as the doors take it."""
        return Example(self.segments, self.label, id=self.id)

    @property
    def bare(self) -> "TextRequest":
        """The question without where it came from, which changes no answer."""
        return replace(self, before="", run="", choice=())


def checked(question: TextRequest) -> TextRequest:
    """The question; raises `BadInput` where its texts are empty or too long, or its methods too many."""
    if not all(text.strip() for text in question.segments):
        raise BadInput("The text is empty; type a text of at least one word.")
    length = sum(map(len, question.segments))
    if length > CHARACTERS:
        raise BadInput(
            f"The text has {length:,} characters, and this page takes {CHARACTERS:,}; shorten it, or use "
            f"pellucid explain, which has no such limit."
        )
    if len(question.methods) > METHODS:
        raise BadInput(f"{len(question.methods)} methods were chosen, and a page shows {METHODS}; leave some away.")
    return question


class TextRequests:
    """The latest questions of all readers, each under a key that nobody can guess, so that nobody reads another's."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)
        self._by_key: OrderedDict[str, TextRequest] = OrderedDict()

    def add(self, question: TextRequest) -> str:
        """The key of a question, which stands in the address of its page."""
        content = json.dumps(asdict(question), ensure_ascii=True).encode()
        key = hmac.new(self._secret, content, hashlib.sha256).hexdigest()[:24]
        self._by_key[key] = question
        self._by_key.move_to_end(key)
        while len(self._by_key) > TEXTS:
            self._by_key.popitem(last=False)
        return key

    def __getitem__(self, key: str) -> TextRequest:
        """Raises `BadInput` for a key that is not there, or not any more."""
        question = self._by_key.get(key)
        if question is None:
            raise BadInput(
                "This text is not here: the address is not whole, or the studio was started again; ask about it anew."
            )
        return question


@dataclass(frozen=True, eq=False)
class Studio:
    """Everything that is open. All of it was named when the studio began: no page can open a file.

    models: name -> model, loaded. runs: name -> stored run. comparisons: a model's digest -> what was measured of it.
    data: labelled texts to measure methods with; may be empty. data_name: what they are called. paces: of each model
    that has explained a text, the seconds that a pass took, a word. measurements: a model's name -> how far it is being
    measured (`studio/measurement.py`). open_runs: a run's name -> what pages have read of it (`studio/run_rows.py`).
    refused: a run's name -> why it could not be opened. learnt: a model's digest -> the concepts that it has
    made itself.
    """

    models: Mapping[str, Model]
    runs: Mapping[str, Run] = field(default_factory=dict)
    comparisons: dict[str, Table] = field(default_factory=dict)
    data: Sequence[Example] = ()
    data_name: str = ""
    requests: TextRequests = field(default_factory=TextRequests)
    desks: dict[str, Desk] = field(default_factory=dict)
    paces: dict[str, float] = field(default_factory=dict)
    measurements: dict[str, Any] = field(default_factory=dict)
    open_runs: dict[str, Any] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    learnt: Mapping[str, LearntConcepts] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in [*self.models, *(f"run {name}" for name in self.runs)]:
            self.desks[name] = Desk(name)

    def close(self) -> None:
        """Compute nothing more for any reader."""
        for desk in self.desks.values():
            desk.close()

    def model(self, name: str) -> Model:
        """The model of a name; raises `UnknownName` for others."""
        known("model", name, self.models)
        return self.models[name]

    def run(self, name: str) -> Run:
        """The run of a name; raises `UnknownName` for others."""
        known("run", name, self.runs)
        return self.runs[name]

    def table(self, model: Model | Any) -> Table | None:
        """What was measured of a model; None where nothing was."""
        return self.comparisons.get(model.hash)
