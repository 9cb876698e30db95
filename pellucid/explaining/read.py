"""The door `read`: what was saved, from a file or a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pellucid.base.checks import known, listed
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import is_address, place_of, possible_path
from pellucid.base.json_text import read_json
from pellucid.base.kinds import readers
from pellucid.results import storage
from pellucid.results.explanation import Explanation
from pellucid.results.results import Results, StoredExplanations
from pellucid.results.table import FORM, Table
from pellucid.text.example import Example

PARTS = ("parts/*.parquet", "watched/step-*.parquet")  # where `compare` and `train` leave explanations

LIGHT = ("run_at", "table_at")  # readers that are asked first: the rooms of others take seconds to import


def read(path: str | Path) -> Any:
    """Read what `save` wrote, or a folder that `explain_corpus`, `compare`, `layer_analysis`, `attention_analysis`,
    `attack` or a watched training left.

    path: a .parquet or .json file, or a folder; of a run also an address, such as "s3://bucket/run".

    Returns what was saved: `Results` of explanations, of a comparison's folder and of a watched training's; the `Run`
    of a corpus; a `LayerAnalysis`, an `AttentionAnalysis`, the `Attempts` of attacks, or the `Table` of a comparison.
    Of several methods, `results.where(method=…)` takes one. Of a watched training each explanation's model is called
    after its step, such as "step 50". Raises `BadFile` for anything else.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.save(pellucid.explain(model, ["A good film.", "Dull."]), "results.parquet")
    >>> pellucid.read("results.parquet")
    <Results: 2 explanations by occlusion>
    """
    if is_address(path):
        return _run_at(path)
    path = possible_path(path)
    names = sorted(readers.names(), key=lambda name: name not in LIGHT)
    of_readers = (readers.get(name).make(path) for name in names)
    analysis = next((result for result in of_readers if result is not None), None)
    return read_explanations(path) if analysis is None else analysis


def read_explanations(path: str | Path) -> Results:
    """The explanations of a file or folder, as `read` says; raises `BadFile` where there are none."""
    place = place_of(path)
    if isinstance(place, Path) and not place.is_dir():
        return Results(tuple(storage.read(place)))
    if (run := _run_at(place)) is not None:
        return Results(tuple(run))
    files = sorted(file for pattern in PARTS for file in Path(place).glob(pattern))
    if not files:
        raise BadFile(
            f"{place} is a folder without explanations; give the file that was saved, or the folder of a comparison or "
            "of a watched training."
        )
    return Results(tuple(explanation for file in files for explanation in storage.read(file)))


def stored_or_read(path: str | Path) -> Sequence[Explanation]:
    """The explanations of a file or folder; of a run over a corpus they are read when they are needed."""
    run = _run_at(place_of(path))
    return read_explanations(path) if run is None else run


def _run_at(path: str | Path) -> StoredExplanations | None:
    """The run over a corpus in a folder; None where there is none. Raises `BadFile` for an address without one."""
    run = readers.get("run_at").make(path)
    if run is None and is_address(path):
        raise BadFile(f"{str(path).partition('?')[0]} holds no run; give the address of one, or a file or folder.")
    return run  # type: ignore[no-any-return]


def read_in_turn(path: str | Path, method: str | None) -> Sequence[Explanation]:
    """The explanations of a file or folder by the named method, or by the only one; of a run over a corpus they are
    read when they are needed.
    """
    run = _run_at(place_of(path))
    if run is None:
        return of_one_method(read_explanations(path), method)
    by_method = run.by_method
    if method is None and len(by_method) > 1:
        raise several_methods(tuple(by_method))
    name = next(iter(by_method)) if method is None else method
    known("method of these results", name, by_method)
    return by_method[name]


def of_one_method(results: Results, method: str | None) -> Results:
    """The results of the named method, or of the only one; raises `BadSetting` where there are several and none is
    named.
    """
    if method is not None:
        return results.where(method=method)
    if len(results.methods) > 1:
        raise several_methods(results.methods)
    return results


def several_methods(titles: Sequence[str]) -> BadSetting:
    """What to do where one method is meant, and none is named."""
    return BadSetting(f"These results are of several methods; add --method with one of: {listed(titles)}.")


@readers.add()
def table_at(path: Path) -> Table | None:
    """The table in a JSON file; None where the file holds something else."""
    if path.suffix != ".json" or not path.is_file():
        return None
    whole = read_json(path)
    return Table.read(path) if isinstance(whole, dict) and whole.get("form") == FORM else None


# The door `examples`: examples of a data set, a file or a folder.


def examples(
    source: str | Path,
    /,
    split: str = "test",
    format: str | None = None,
    skip_bad_rows: bool = False,
    **settings: Any,
) -> list[Example]:
    """Read the examples of a data set, a file or a folder.

    source: a data set's name ("pocket", "pocket_pairs"), a file, or a folder with a file a part.
    split: "train", "dev", "test" or "all"; a single file is all of them at once.
    format: a name of `formats`; None: known from the file's name, for JSON lines and tables; `parallel` where the
        settings name source and target.
    skip_bad_rows: leave out rows that cannot be read, with a warning that counts them.
    settings: the format's own.

    Returns the examples in the order of the file. Raises `BadFile` for a path that does not exist and for a bad row,
    `UnknownName` for a data set, format or setting that does not exist.

    >>> examples = pellucid.examples("pocket", split="dev")
    >>> examples[0].text, examples[0].label
    ('Pure joy from a first-time novelist.', 'positive')
    >>> len(pellucid.examples("reviews.csv"))
    48
    """
    from pellucid.explaining.inputs.data_source import DataSource  # takes seconds to import; `read` needs none of it

    return DataSource(source, split, format, settings, skip_bad_rows).examples()
