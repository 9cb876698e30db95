"""Where files of strangers enter: results, tables, comparisons, models and data, each with correct files."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pellucid
from pellucid.base.errors import PellucidError
from pellucid.base.kinds import formats
from pellucid.data.load import load_parts
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results
from pellucid.results.table import Table
from pellucid.training.upgrading import Upgrade, change
from tests.data.formats.originals import ORIGINALS
from tests.hostile.assertions import assert_round_trip
from tests.shared.explanations import explanation
from tests.shared.sample_results import sample_explanation, sample_table
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier, tiny_composed


@dataclass(frozen=True)
class EntryPoint:
    """files: path in the folder -> its bytes. read: reads the folder. spoilt: the files to spoil (empty: all)."""

    files: Mapping[str, bytes]
    read: Callable[[Path], object]
    spoilt: Sequence[str] = ()

    @property
    def targets(self) -> Sequence[str]:
        """The files to spoil; one that is named several times is spoilt more often."""
        return self.spoilt or sorted(self.files)


def entry_points(folder: Path) -> dict[str, EntryPoint]:
    """Every entry point by name; their correct files are first written into a folder."""
    return {
        "results.json": _results(folder / "1", "results.json"),
        "results.parquet": _results(folder / "1", "results.parquet"),
        "table": _table(folder / "2"),
        "comparison": _comparison(folder / "3", finished=True),
        "unfinished comparison": _comparison(folder / "4", finished=False),
        "upgrade": _upgrade(folder / "5"),
        "hugging_face model": _model(save_tiny(folder / "6", labels=LABELS), "hugging_face"),
        "composed model": _model(_composed(folder / "7"), "composed"),
        **{f"data: {name}": _data(name, folder / "data" / name) for name in formats.names()},
    }


def files_of(folder: Path) -> dict[str, bytes]:
    """Every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def _results(folder: Path, name: str) -> EntryPoint:
    folder.mkdir(parents=True, exist_ok=True)
    results = [
        explanation(),
        sample_explanation("one two three", spans=True, label="positive", rationales=((0, 0, 3),)),
        explanation(("a b", "c"), rows=(("draw", ("0", "1")),)),
    ]
    pellucid.save(results, folder / name)
    return EntryPoint({name: (folder / name).read_bytes()}, partial(_read_and_draw, name=name))


def _read_and_draw(folder: Path, name: str) -> None:
    results = pellucid.read(folder / name)
    drawn = [(str(one), one._repr_html_()) for one in results]
    if results:
        pellucid.report(results, path=folder / "report.html")
    assert_round_trip(results, folder, [".parquet", ".json"])
    assert len(drawn) == len(results)
    for one in results:
        _all_views(one)
    _ignore_refusals(lambda: pellucid.to_data_frame(results), lambda: pellucid.to_dataset(results))
    _ignore_refusals(lambda: pellucid.to_shap(results), lambda: pellucid.write_eraser(results, folder / "eraser.jsonl"))
    _ignore_refusals(*(partial(_compare_versions, results, method, folder) for method in results.methods))
    examples = [one.example for one in results]
    _ignore_refusals(lambda: pellucid.write_json_lines(examples, folder / "examples.jsonl"))
    _ignore_refusals(lambda: pellucid.write_eraser_examples(examples, folder / "eraser"))


def _compare_versions(results: Results, method: str, folder: Path) -> None:
    """Results beside themselves, as two versions."""
    changes = pellucid.diff(results, results, twins=results, method=method, k=1, resamples=10)
    str(changes), changes.record()
    pellucid.report(changes, path=folder / "changes.html")


def _all_views(one: Explanation) -> None:
    """Ask for every view; an error that says why there is none is allowed."""
    _ignore_refusals(
        one.words, one.sentences, one.paragraphs, one.ranking, one.runs, one.normalised, lambda: one.top(2)
    )
    _ignore_refusals(
        lambda: one.spans(2),
        lambda: one.spans_at("word"),
        lambda: one.words().words(),
        lambda: one.hidden_sum,
    )
    _ignore_refusals(lambda: one.row(*(labels[0] for _, labels in one.rows)), lambda: one.prediction.probability)


def _ignore_refusals(*calls: Callable[[], object]) -> None:
    """Make each call; it may be refused with a reason."""
    for call in calls:
        with suppress(PellucidError):
            call()


def _table(folder: Path) -> EntryPoint:
    sample_table().save(folder / "table.json")
    return EntryPoint(files_of(folder), _read_and_draw_table)


def _read_and_draw_table(folder: Path) -> None:
    table = Table.read(folder / "table.json")
    drawn = str(table), table._repr_html_()
    pellucid.report([], table, path=folder / "report.html")
    table.save(folder / "again.json")
    assert str(Table.read(folder / "again.json")) == drawn[0]
    for cell in table.cells:
        assert table.cell(cell.method, cell.metric).verdict


def _comparison(folder: Path, finished: bool) -> EntryPoint:
    model = tiny_classifier()
    examples = pellucid.examples("pocket", "test")[:3]

    def compare(folder: Path) -> None:
        metrics = ["comprehensiveness", "token_f1", "hiding"]
        table = pellucid.compare(model, examples, ["gradient"], metrics, resamples=10, folder=folder, progress=False)
        str(table)

    compare(folder)
    names = ("question.json", "table.json", "table.json", "table.json")
    if not finished:
        (folder / "table.json").unlink()
        names = ("parts/0000.json", "parts/0000.json", "parts/0000.parquet", "question.json")
    return EntryPoint(files_of(folder), compare, names)


def _upgrade(folder: Path) -> EntryPoint:
    before, after = [True, False, True, True], [True, True, False, True]
    Upgrade("0" * 32, {"dev": change(before, after)}, {"test": "there is none"}).save(folder)
    return EntryPoint(files_of(folder), lambda folder: "\n".join(Upgrade.read(folder).in_words()))


def _composed(folder: Path) -> Path:
    model = tiny_composed("span")
    save_composed(model.network, model.tokenizer, Plan("tiny", "span", {}, LABELS), folder)
    return folder


def _model(folder: Path, kind: str) -> EntryPoint:
    names = [
        "config.json",
        "config.json",
        "config.json",
        "tokenizer.json",
        "tokenizer_config.json",
        "model.safetensors",
    ]
    return EntryPoint(files_of(folder), _load_and_explain, names)


def _load_and_explain(folder: Path) -> None:
    [explanation] = pellucid.explain(pellucid.load(folder), "A fine film.", "gradient", progress=False)
    str(explanation)


def _data(name: str, folder: Path) -> EntryPoint:
    original = ORIGINALS[name]
    original.write(folder)
    return EntryPoint(files_of(folder), partial(_examples, name=name))


def _examples(folder: Path, name: str) -> None:
    original = ORIGINALS[name]
    source, settings = folder / original.source, original.settings
    with suppress(PellucidError):
        pellucid.examples(source, "train", name, **settings)
    _write_all(pellucid.examples(source, "test", name, skip_bad_rows=True, **settings), folder)
    _write_all(pellucid.examples(source, "test", name, **settings), folder)
    _ignore_refusals(lambda: load_parts(source, name, **settings))


def _write_all(examples: Iterable[pellucid.Example], folder: Path) -> None:
    """Write the examples in every form that examples have."""
    examples = list(examples)
    _ignore_refusals(lambda: pellucid.write_json_lines(examples, folder.parent / "written.jsonl"))
    _ignore_refusals(lambda: pellucid.write_eraser_examples(examples, folder.parent / "eraser"))
    _ignore_refusals(lambda: pellucid.to_dataset(examples))
