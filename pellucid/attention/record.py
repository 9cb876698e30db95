"""What tests of attention say of one or several models: numbers, plots of single units, and a verdict in words."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from pellucid.base.checks import known, listed, quoted, reason
from pellucid.base.errors import BadFile, BadInput, PellucidError
from pellucid.base.files import write_text
from pellucid.base.json_text import read_json
from pellucid.base.kinds import renderers
from pellucid.base.memory import not_enough_memory
from pellucid.results.explanation import Explanation
from pellucid.results.storage import as_records, from_records
from pellucid.results.table import Interval
from pellucid.text.example import is_utf8

FORM = "pellucid-attention-1"
ANALYSIS = "analysis.json"  # in the folder that an analysis kept its work in, once it is finished
VERDICTS = ("may", "only as", "may not", "undecided")
IN_LAYERS = "pieces in every layer"  # what a transformer weighs whose weights were set layer by layer
READINGS = ("for", "against", "unclear")


@dataclass(frozen=True)
class AttentionLine:
    """One number of a test.

    test: its name. part: which of the test's lines, "" where it has one. value: mean and 95 % interval. n: how many
    texts, or other things that were counted. deviation: of the mean from draw to draw, nan without draws. better:
    "higher" where a higher value says that the weights matter, "lower", or "" where neither does. lowest, highest: the
    ends of its range. idle: its value where the weights have nothing to do with the answer, nan where that is not
    known. left_out: texts that lack what the test needs. meaning: what it says, in one sentence. along, at: of a point
    of a curve, what the curve runs along and where the point stands; "" and nan. settings: the test's.
    """

    test: str
    part: str
    value: Interval
    n: int
    better: str
    lowest: float
    highest: float
    deviation: float = math.nan
    idle: float = math.nan
    left_out: int = 0
    meaning: str = ""
    along: str = ""
    at: float = math.nan
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class VerdictEvidence:
    """What one test says for a verdict: its value, the line that it is compared with, and "for", "against" or
    "unclear".
    """

    test: str
    value: Interval
    bound: str
    reading: str
    sentence: str


@dataclass(frozen=True)
class AttentionVerdict:
    """answer: whether the weights "may" be read as explanation, "may not", or "undecided"; of a transformer also "only
    as", where some readings of its weights may. reason: why, in a sentence.
    """

    answer: str
    reason: str
    evidence: tuple[VerdictEvidence, ...] = ()


@dataclass(frozen=True)
class UnitPlot:
    """One text unit by unit under one model.

    text: its id. words: the units' labels. weights: each unit's weight, shared among its parts where spans are weighed.
    probabilities: [unit][class], by the state of each unit alone. own: [class], the model's. classes: the classes'
        names. unread: the places of words that the model cannot read; none in what earlier versions saved.
    """

    text: str
    words: tuple[str, ...]
    weights: tuple[float, ...]
    probabilities: tuple[tuple[float, ...], ...]
    own: tuple[float, ...]
    classes: tuple[str, ...]
    unread: tuple[int, ...] = ()


@dataclass(frozen=True)
class ModelAttention:
    """One model's lines, verdict and plots.

    name: what the analysis calls it. model_hash: of its weights and tokenizer. weighs: "words", "pieces", "spans", or
    IN_LAYERS.
    n_texts, too_short: how many texts were tested, and how many of fewer than two units were left out. accuracy: nan
    without labels.
    """

    name: str
    model_hash: str
    weighs: str
    n_texts: int
    too_short: int
    accuracy: Interval
    lines: tuple[AttentionLine, ...]
    verdict: AttentionVerdict
    plots: tuple[UnitPlot, ...] = ()

    def line(self, test: str, part: str = "") -> AttentionLine:
        """One line by its test and part; raises `UnknownName` for a test that is not there."""
        known("test of this analysis", test, [line.test for line in self.lines])
        parts = {line.part: line for line in self.lines if line.test == test}
        known(f"line of {test}", part or next(iter(parts)), parts)
        return parts[part or next(iter(parts))]


@dataclass(frozen=True, eq=False, repr=False)
class AttentionAnalysis:
    """Whether a model's weights may be read as an explanation, with the tests that say so.

    models: the model in question first, then those that it is compared with. about: what was asked, name -> plain
        value.
    caveats: sentences. examples: up to three texts with the first model's weights as scores; none in what earlier
        versions saved.

    >>> texts = [("A good film.", "positive"), ("Dull.", "negative")]
    >>> analysis = pellucid.attention_analysis("my-attention-classifier", texts)
    >>> analysis.verdict.answer
    'undecided'
    """

    models: tuple[ModelAttention, ...]
    about: Mapping[str, object] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    examples: tuple[Explanation, ...] = ()

    def __post_init__(self) -> None:
        names = [model.name for model in self.models]
        if not names:
            raise BadInput("An attention analysis needs a model; give what attention_analysis returned.")
        if len(set(names)) < len(names):
            raise BadInput(f"Two models have one name: {listed(names)}; give each a name of its own.")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AttentionAnalysis) and self.record() == other.record()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        first = self.models[0]
        return f"<AttentionAnalysis: {first.n_texts:,} texts, {listed(self.names)}: {first.verdict.answer}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_attention_analysis").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_attention_analysis").make(self)

    @property
    def text_ids(self) -> list[str]:
        """The ids of the texts that a figure can draw."""
        return [plot.text for plot in self.models[0].plots]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the models, in order."""
        return tuple(model.name for model in self.models)

    @property
    def verdict(self) -> AttentionVerdict:
        """The verdict on the first model."""
        return self.models[0].verdict

    def model(self, name: str | None = None) -> ModelAttention:
        """One model by its name, None: the first; raises `UnknownName` for a name that is not there."""
        if name is None:
            return self.models[0]
        known("model of this analysis", name, self.names)
        return self.models[self.names.index(name)]

    def record(self) -> dict[str, object]:
        """Plain values for JSON; a number that is not known is null. `AttentionAnalysis.read` reads them from a
        file.
        """
        models = [_plain(asdict(model)) for model in self.models]
        return {
            "form": FORM,
            "about": _plain(dict(self.about)),
            "caveats": list(self.caveats),
            "models": models,
            "examples": as_records(self.examples),
        }

    def save(self, path: str | Path) -> None:
        """Write the analysis as JSON, whole or not at all; raises `BadFile` where the file cannot be written."""
        write_text(path, json.dumps(self.record(), ensure_ascii=False, indent=1))

    @staticmethod
    def read(path: str | Path) -> "AttentionAnalysis":
        """Read what `save` wrote, or the folder of a finished `attention_analysis(folder=)`; raises `BadFile` for
        anything else.

        >>> analysis.save("attention.json")
        >>> pellucid.AttentionAnalysis.read("attention.json") == analysis
        True
        """
        if Path(path).is_dir():
            path = Path(path) / ANALYSIS
            if not path.is_file():
                raise BadFile(
                    f"{path.parent} holds no finished attention analysis; run the same `pellucid attention` again to "
                    f"go on."
                )
        try:
            return _analysis(read_json(path))
        except MemoryError:
            raise not_enough_memory(f"read {path}") from None
        except (PellucidError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            if isinstance(error, BadFile):
                raise
            raise BadFile(f"{path} does not hold an attention analysis saved by Pellucid ({reason(error)}).") from None


def _plain(value: Any) -> Any:  # any value of a record -> the same for JSON
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _plain(member) for name, member in value.items()}
    return [_plain(member) for member in value] if isinstance(value, list | tuple) else value


def _analysis(record: Mapping[str, Any]) -> AttentionAnalysis:
    """The analysis of a record of unknown origin; whatever does not fit raises an error of some kind."""
    if not isinstance(record, Mapping) or record.get("form") != FORM:
        raise ValueError("it is of another form")
    models = tuple(_model(model_record) for model_record in _list(record["models"]))
    examples = tuple(from_records(_list(record.get("examples", []))))
    return AttentionAnalysis(models, dict(record["about"]), tuple(map(_word, _list(record["caveats"]))), examples)


def _model(record: Mapping[str, Any]) -> ModelAttention:
    return ModelAttention(
        name=_word(record["name"]),
        model_hash=_word(record["model_hash"]),
        weighs=_word(record["weighs"]),
        n_texts=_count(record["n_texts"]),
        too_short=_count(record["too_short"]),
        accuracy=_interval(record["accuracy"]),
        lines=tuple(_line(line_record) for line_record in _list(record["lines"])),
        verdict=_verdict(record["verdict"]),
        plots=tuple(_plot(plot_record) for plot_record in _list(record["plots"])),
    )


def _line(record: Mapping[str, Any]) -> AttentionLine:
    plain: dict[str, Any] = {name: _number(record[name]) for name in LINE_NUMBERS}
    plain |= {name: _word(record[name]) for name in LINE_WORDS}
    plain |= {name: _count(record[name]) for name in ("n", "left_out")}
    return AttentionLine(value=_interval(record["value"]), settings=dict(record["settings"]), **plain)


def _verdict(record: Mapping[str, Any]) -> AttentionVerdict:
    evidence = [
        VerdictEvidence(
            value=_interval(evidence_record["value"]), **{name: _word(evidence_record[name]) for name in EVIDENCE_WORDS}
        )
        for evidence_record in _list(record["evidence"])
    ]
    if record["answer"] not in VERDICTS or any(test_evidence.reading not in READINGS for test_evidence in evidence):
        raise ValueError("its verdict is none")
    return AttentionVerdict(record["answer"], _word(record["reason"]), tuple(evidence))


LINE_NUMBERS = ("lowest", "highest", "deviation", "idle", "at")
LINE_WORDS = ("test", "part", "better", "meaning", "along")
EVIDENCE_WORDS = tuple(
    evidence_field.name for evidence_field in fields(VerdictEvidence) if evidence_field.name != "value"
)


def _plot(record: Mapping[str, Any]) -> UnitPlot:
    words, classes = (tuple(map(_word, _list(record[name]))) for name in ("words", "classes"))
    probabilities = tuple(tuple(map(_share, _list(answer))) for answer in _list(record["probabilities"]))
    weights, own_answer = (tuple(map(_share, _list(record[name]))) for name in ("weights", "own"))
    if len(words) != len(weights) or len(words) != len(probabilities) or not words:
        raise ValueError("a plot has other units than weights")
    if any(len(answer) != len(classes) for answer in (*probabilities, own_answer)):
        raise ValueError("a plot has other classes than probabilities")
    unread = tuple(map(_count, _list(record.get("unread", []))))
    return UnitPlot(_word(record["text"]), words, weights, probabilities, own_answer, classes, unread)


def _list(value: object) -> Sequence[Any]:
    if not isinstance(value, list):
        raise ValueError(f"{quoted(value)} stands where a list should")
    return value


def _word(value: object) -> str:
    if not isinstance(value, str) or not is_utf8(value):
        raise ValueError(f"{quoted(value)} stands where a word should")
    return value


def _number(value: object) -> float:
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1e12:
        raise ValueError(f"{quoted(value)} stands where a number should")
    return float(value)


def _share(value: object) -> float:
    share = _number(value)
    if not 0 <= share <= 1 + 1e-6:
        raise ValueError(f"{quoted(value)} stands where a number from 0 to 1 should")
    return share


def _count(value: object) -> int:
    if type(value) is not int or not 0 <= value <= 10**12:
        raise ValueError(f"{quoted(value)} stands where a count should")
    return value


def _interval(record: Mapping[str, Any]) -> Interval:
    return Interval(*(_number(record[name]) for name in ("mean", "low", "high")))
