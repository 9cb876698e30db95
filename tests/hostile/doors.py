"""What strangers' files come in by, each with files that are right: results, tables, comparisons, models and data."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pellucid
from pellucid.core.foundation.errors import PellucidError
from pellucid.core.foundation.kinds import formats
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Table
from pellucid.datasets.load import load_parts
from pellucid.evaluation.protocols.upgrade import Upgrade, change
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.plan import Plan
from tests.datasets.formats.originals import ORIGINALS
from tests.explanations import explanation
from tests.hostile.promises import kept
from tests.reports.sample_results import sample_explanation, sample_table
from tests.tiny import LABELS, save_tiny, tiny_classifier, tiny_composed


@dataclass(frozen=True)
class Door:
    """files: path in the folder -> its bytes. enter: what is called with the folder. spoilt: the files to spoil; all."""

    files: Mapping[str, bytes]
    enter: Callable[[Path], object]
    spoilt: Sequence[str] = ()

    @property
    def targets(self) -> Sequence[str]:
        """The files that are spoilt, often ones several times."""
        return self.spoilt or sorted(self.files)


def doors(place: Path) -> dict[str, Door]:
    """Every door by name; right files are first made in a folder."""
    return {
        "results.json": _results(place / "1", "results.json"),
        "results.parquet": _results(place / "1", "results.parquet"),
        "table": _table(place / "2"),
        "comparison": _comparison(place / "3", finished=True),
        "unfinished comparison": _comparison(place / "4", finished=False),
        "upgrade": _upgrade(place / "5"),
        "hugging_face model": _model(save_tiny(place / "6", labels=LABELS), "hugging_face"),
        "composed model": _model(_composed(place / "7"), "composed"),
        **{f"data: {name}": _data(name, place / "data" / name) for name in formats.names()},
    }


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def _results(place: Path, name: str) -> Door:
    place.mkdir(parents=True, exist_ok=True)
    results = [
        explanation(),
        sample_explanation("one two three", spans=True, label="positive", rationales=((0, 0, 3),)),
        explanation(("a b", "c"), rows=(("draw", ("0", "1")),)),
    ]
    pellucid.save(results, place / name)
    return Door({name: (place / name).read_bytes()}, partial(_read_and_draw, name=name))


def _read_and_draw(folder: Path, name: str) -> None:
    results = pellucid.read(folder / name)
    drawn = [(str(one), one._repr_html_()) for one in results]
    if results:
        pellucid.report(results, path=folder / "report.html")
    kept(results, folder, [".parquet", ".json"])
    assert len(drawn) == len(results)
    for one in results:
        _views(one)
    _lenient(lambda: pellucid.to_data_frame(results), lambda: pellucid.to_dataset(results))
    _lenient(
        lambda: pellucid.to_shap(results), lambda: pellucid.write_eraser(results, folder / "eraser.jsonl")
    )
    examples = [one.example for one in results]
    _lenient(lambda: pellucid.write_json_lines(examples, folder / "examples.jsonl"))
    _lenient(lambda: pellucid.write_eraser_examples(examples, folder / "eraser"))


def _views(one: Explanation) -> None:
    """Every view, or an error that says why there is none."""
    _lenient(
        one.words, one.sentences, one.paragraphs, one.ranking, one.runs, one.normalised, lambda: one.top(2)
    )
    _lenient(
        lambda: one.spans(2),
        lambda: one.spans_at("word"),
        lambda: one.words().words(),
        lambda: one.hidden_sum,
    )
    _lenient(lambda: one.row(*(labels[0] for _, labels in one.rows)), lambda: one.prediction.probability)


def _lenient(*calls: Callable[[], object]) -> None:
    for call in calls:
        with suppress(PellucidError):
            call()


def _table(place: Path) -> Door:
    sample_table().save(place / "table.json")
    return Door(files_of(place), _read_and_draw_table)


def _read_and_draw_table(folder: Path) -> None:
    table = Table.read(folder / "table.json")
    drawn = str(table), table._repr_html_()
    pellucid.report([], table, path=folder / "report.html")
    table.save(folder / "again.json")
    assert str(Table.read(folder / "again.json")) == drawn[0]
    for cell in table.cells:
        assert table.cell(cell.method, cell.metric).verdict


def _comparison(place: Path, finished: bool) -> Door:
    model = tiny_classifier()
    examples = pellucid.examples("pocket", "test")[:3]

    def compare(folder: Path) -> None:
        metrics = ["comprehensiveness", "token_f1", "hiding"]
        table = pellucid.compare(
            model, examples, ["gradient"], metrics, resamples=10, folder=folder, progress=False
        )
        str(table)

    compare(place)
    names = ("question.json", "table.json", "table.json", "table.json")
    if not finished:
        (place / "table.json").unlink()
        names = ("parts/0000.json", "parts/0000.json", "parts/0000.parquet", "question.json")
    return Door(files_of(place), compare, names)


def _upgrade(place: Path) -> Door:
    right, wrong = [True, False, True, True], [True, True, False, True]
    Upgrade("0" * 32, {"dev": change(right, wrong)}, {"test": "there is none"}).save(place)
    return Door(files_of(place), lambda folder: "\n".join(Upgrade.read(folder).in_words()))


def _composed(place: Path) -> Path:
    model = tiny_composed("span")
    save_composed(model.network, model.tokenizer, Plan("tiny", "span", {}, LABELS), place)
    return place


def _model(place: Path, kind: str) -> Door:
    names = [
        "config.json",
        "config.json",
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.safetensors",
    ]
    return Door(files_of(place), _load_and_explain, names)


def _load_and_explain(folder: Path) -> None:
    [found] = pellucid.explain(pellucid.load(folder), "A fine film.", "gradient", progress=False)
    str(found)


def _data(name: str, place: Path) -> Door:
    original = ORIGINALS[name]
    original.write(place)
    return Door(files_of(place), partial(_examples, name=name))


def _examples(folder: Path, name: str) -> None:
    original = ORIGINALS[name]
    source, settings = folder / original.source, original.settings
    with suppress(PellucidError):
        pellucid.examples(source, "train", name, **settings)
    _carried(pellucid.examples(source, "test", name, skip_bad_rows=True, **settings), folder)
    _carried(pellucid.examples(source, "test", name, **settings), folder)
    _lenient(lambda: load_parts(source, name, **settings))


def _carried(examples: Iterable[pellucid.Example], folder: Path) -> None:
    """Written in every form that examples have."""
    examples = list(examples)
    _lenient(lambda: pellucid.write_json_lines(examples, folder.parent / "written.jsonl"))
    _lenient(lambda: pellucid.write_eraser_examples(examples, folder.parent / "eraser"))
    _lenient(lambda: pellucid.to_dataset(examples))
