"""What the layers of one or several models still use of each word, over many texts."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pellucid.base.checks import known, listed, quoted, reason, short_title
from pellucid.base.errors import BadFile, BadInput, BadSetting, PellucidError
from pellucid.base.files import write_text
from pellucid.base.json_text import read_json
from pellucid.base.kinds import renderers
from pellucid.base.memory import not_enough_memory
from pellucid.results.bootstrap import NOT_NEGATIVE, t_interval
from pellucid.results.explanation import Explanation
from pellucid.results.storage import as_records, from_records
from pellucid.results.table import Interval
from pellucid.results.word_map import WordMap, mean_map, model_map, sentence_map, word_map
from pellucid.text.example import Example, is_utf8
from pellucid.text.units import IN_WORDS, Spans

FORM = "pellucid-layers-1"
ROW_KINDS = ("layer", "step", "position")
WAY = "give what layer_analysis returned, or explanations whose rows are layers"


@dataclass(frozen=True, eq=False)
class ModelLayers:
    """One model's explanations of the texts; of a model that was trained with several seeds, those of each training.

    name: what the analysis calls it. seeds: [training][text], each explanation with rows of one kind.
    """

    name: str
    seeds: tuple[tuple[Explanation, ...], ...]

    @property
    def rows(self) -> tuple[str, ...]:
        """The labels of its layers, or of the longest text's steps, from the lowest."""
        return max((explanation.rows[0][1] for explanation in self.seeds[0]), key=len)


@dataclass(frozen=True, eq=False, repr=False)
class RowSum:
    """The sum over a text's words in one row (a layer), as the mean over texts.

    row: its label. total: the mean with its 95 % t-interval over texts (nan bounds below two). n_texts: how many have
    the row.
    """

    row: str
    total: Interval
    n_texts: int


@dataclass(frozen=True, eq=False, repr=False)
class LayerAnalysis:
    """Maps, sums and words of layers: which words each layer of each model still uses.

    models: in order; the first is the one that others are compared with. measure: the unit in which scores of all
    layers and models are on one scale ("nats"), or "" where each layer has its own. caveats: sentences.

    All explanations are by one method with one kind of rows: layers, or steps (positions) of a text. Raises `BadInput`
    for others. Words are compared where models have the same ones, by their place in the text; special tokens are in no
    sum.

    >>> analysis = pellucid.layer_analysis("my-classifier", ["A good film.", "A dull film."], "grad_cam")
    >>> analysis
    <LayerAnalysis: 2 texts, 4 layers of my-classifier by grad_cam(layer=all)>
    >>> analysis.map(0).words
    ('A', 'good', 'film', '.')
    """

    models: tuple[ModelLayers, ...]
    measure: str = ""
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_names(self)
        _check_explanations([explanation for model in self.models for seed in model.seeds for explanation in seed])
        _check_rows(self)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LayerAnalysis) and self.record() == other.record()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        texts, first = len(self.texts), self.models[0]
        sizes = f"{texts:,} text{'' if texts == 1 else 's'}, {len(first.rows)} {self.row_kind}s"
        return f"<LayerAnalysis: {sizes} of {listed(self.names)} by {short_title(self.method)}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_layer_analysis").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_layer_analysis").make(self)

    @property
    def text_ids(self) -> list[str]:
        """The ids of the texts that a figure can draw."""
        return [str(example.id) for example in self.texts]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the models, in order."""
        return tuple(model.name for model in self.models)

    @property
    def texts(self) -> tuple[Example, ...]:
        """The texts, in order."""
        return tuple(explanation.example for explanation in self.models[0].seeds[0])

    @property
    def method(self) -> str:
        """The method of all scores."""
        return self.models[0].seeds[0][0].method

    @property
    def row_kind(self) -> str:
        """What rows are: "layer", "step" or "position"."""
        return self.models[0].seeds[0][0].rows[0][0]

    def model(self, name: str | None = None) -> ModelLayers:
        """One model by its name, None: the first; raises `UnknownName` for a name that is not there."""
        if name is None:
            return self.models[0]
        known("model of this analysis", name, self.names)
        return self.models[self.names.index(name)]

    def map(self, text: int, model: str | None = None) -> WordMap:
        """The scores [row word] of one text, by its number from 0; of several trainings the mean."""
        maps = [word_map(seed[self._number(text)]) for seed in self.model(model).seeds]
        return mean_map(maps)

    def sentences(self, text: int, model: str | None = None) -> WordMap:
        """The sums over each sentence [row sentence] of one text; of several trainings the mean."""
        maps = [sentence_map(seed[self._number(text)]) for seed in self.model(model).seeds]
        return mean_map(maps)

    def across(self, text: int) -> WordMap:
        """The scores [model word] of one text in each model's last row, for the words that all models have."""
        return model_map([self.map(text, name) for name in self.names], self.names)

    def sums(self, model: str | None = None) -> tuple[RowSum, ...]:
        """For each row the sum over a text's words, as the mean over texts with its interval; of trainings the mean."""
        model_layers = self.model(model)
        maps = [self.map(text, model_layers.name) for text in range(len(self.texts))]
        by_row: dict[str, list[float]] = {row: [] for row in model_layers.rows}
        for of_text in maps:
            for row, total in zip(of_text.rows, of_text.sums, strict=True):
                by_row.setdefault(row, []).append(float(total))
        within = NOT_NEGATIVE if all((of_text.scores >= 0).all() for of_text in maps) else None  # as of information
        return tuple(RowSum(row, t_interval(totals, within), len(totals)) for row, totals in by_row.items())

    def record(self) -> dict[str, object]:
        """Plain values for JSON, with every score; `LayerAnalysis.read` reads them from a file."""
        models = [{"name": model.name, "seeds": [as_records(seed) for seed in model.seeds]} for model in self.models]
        return {"form": FORM, "measure": self.measure, "caveats": list(self.caveats), "models": models}

    def save(self, path: str | Path) -> None:
        """Write the analysis as JSON, whole or not at all; raises `BadFile` where the file cannot be written."""
        write_text(path, json.dumps(self.record(), ensure_ascii=False))

    @staticmethod
    def read(path: str | Path) -> "LayerAnalysis":
        """Read what `save` wrote; raises `BadFile` for anything else.

        >>> analysis.save("layers.json")
        >>> pellucid.LayerAnalysis.read("layers.json") == analysis
        True
        """
        try:
            return _from_record(read_json(path))
        except MemoryError:
            raise not_enough_memory(f"read {path}") from None
        except (PellucidError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            if isinstance(error, BadFile):
                raise
            raise BadFile(f"{path} does not hold a layer analysis saved by Pellucid ({reason(error)}).") from None

    def _number(self, text: int) -> int:
        if isinstance(text, bool) or not isinstance(text, int) or not 0 <= text < len(self.texts):
            raise BadSetting(f"text={quoted(text)} is no text of this analysis; give 0 to {len(self.texts) - 1}.")
        return text


def _from_record(record: Mapping[str, object]) -> LayerAnalysis:
    """The analysis of a record; whatever does not fit raises an error of some kind."""
    if not isinstance(record, Mapping) or record.get("form") != FORM:
        raise ValueError("it is of another form")
    models, caveats = record["models"], record["caveats"]
    if not isinstance(models, list) or not isinstance(caveats, list):
        raise ValueError("models and caveats are no lists")
    layers = [ModelLayers(_word(model["name"]), tuple(map(_explanations, model["seeds"]))) for model in models]
    return LayerAnalysis(tuple(layers), _word(record["measure"]), tuple(map(_word, caveats)))


def _explanations(records: object) -> tuple[Explanation, ...]:
    if not isinstance(records, list):
        raise ValueError("the explanations of a model are no list")
    return tuple(from_records(records))


def _word(value: object) -> str:
    if not isinstance(value, str) or not is_utf8(value):
        raise ValueError(f"{quoted(value)} stands where a name should")
    return value


def _check_names(analysis: LayerAnalysis) -> None:
    names = [model.name for model in analysis.models]
    if not names:
        raise BadInput(f"A layer analysis needs a model; {WAY}.")
    if len(set(names)) < len(names):
        raise BadInput(f"Two models have one name: {listed(names)}; give each a name of its own.")
    if any(not seed for model in analysis.models for seed in (model.seeds or ((),))):
        raise BadInput(f"A layer analysis needs at least one text for each model; {WAY}.")


def _check_explanations(explanations: Sequence[Explanation]) -> None:
    """Raise `BadInput` where scores are not of one method, or have no rows that can be compared."""
    methods = list(dict.fromkeys(explanation.method for explanation in explanations))
    if len(methods) > 1:
        raise BadInput(f"Scores of several methods cannot be compared: {listed(methods)}; give one method's.")
    for explanation in explanations:
        if isinstance(explanation.units, Spans) or explanation.units.kind not in (*IN_WORDS, "word"):
            raise BadInput(f"{explanation.method} scores {explanation.units.kind}s, which are no words; {WAY}.")
        kinds = [kind for kind, _ in explanation.rows]
        if len(kinds) != 1 or kinds[0] not in ROW_KINDS or not explanation.rows[0][1]:
            rows = f"rows of {listed(kinds)}" if kinds else "no rows"
            raise BadInput(f"The scores of {explanation.method} have {rows}; {WAY}.")
        if not len(explanation.units.content):
            raise BadInput(f"Text {quoted(explanation.example.id)} has no word with a score; leave it out.")
    if len({explanation.rows[0][0] for explanation in explanations}) > 1:
        raise BadInput(f"Some rows are layers and others steps; {WAY} of one kind.")


def _check_rows(analysis: LayerAnalysis) -> None:
    """Raise `BadInput` where models explain other texts, or a model's layers differ from text to text."""
    texts = [text.segments for text in analysis.texts]
    for model in analysis.models:
        for seed in model.seeds:
            if [explanation.example.segments for explanation in seed] != texts:
                raise BadInput(f"{model.name} explains other texts than {analysis.names[0]}; give the same.")
        for same_text in zip(*model.seeds, strict=True):
            if len({(explanation.rows, explanation.units) for explanation in same_text}) > 1:
                raise BadInput(f"The trainings of {model.name} differ in layers or pieces; compare them as models.")
        labels = {explanation.rows[0][1] for explanation in model.seeds[0]}
        if analysis.row_kind == "layer" and len(labels) > 1:
            raise BadInput(f"{model.name} has other layers in one text than in another; explain all alike.")
