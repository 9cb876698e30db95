"""One door for every source of examples: a registered data set, a file, or a folder of splits."""

from pathlib import Path

from pellucid.core.errors import BadFile
from pellucid.core.example import Example
from pellucid.core.kinds import datasets
from pellucid.datasets.json_lines import read_json_lines, split_file
from pellucid.datasets.splits import split_of


def load_examples(source: str | Path, split: str = "test") -> list[Example]:
    """The examples of a data set's part, of a folder's {split}.jsonl[.gz], or of one JSON-lines file.

    Raises `BadFile` for a path that is not there, `UnknownName` for a name that is no data set.
    """
    path = Path(source)
    if str(source) in datasets.names():  # a folder of the same name is reached by ./name
        return list(datasets.get(str(source)).make(split))
    if path.is_dir():
        return list(read_json_lines(split_file(path, split)))
    if path.is_file():
        return list(read_json_lines(path))
    if "/" in str(source) or path.suffix:
        raise BadFile(
            f"There is no file or folder {source}; give one, or a data set: {', '.join(datasets.names())}."
        )
    return list(datasets.get(str(source)).make(split))  # raises, naming the nearest


def load_parts(source: str | Path) -> dict[str, list[Example]]:
    """The train and dev parts to train on: a data set's, a folder's, or 70 and 15 % of one file."""
    if Path(source).is_file() and str(source) not in datasets.names():
        whole = list(read_json_lines(source))
        return {split: split_of(whole, split) for split in ("train", "dev")}
    return {split: load_examples(source, split) for split in ("train", "dev")}


def classes_of(source: str | Path, examples: list[Example], problem: str = "single_label") -> tuple[str, ...]:
    """The class names: those a registered data set declares, else the labels found (or their parts), sorted."""
    if str(source) in datasets.names():
        return tuple(datasets.get(str(source)).facts["classes"])
    labels = {example.label for example in examples if example.label is not None}
    if problem == "multi_label":
        labels = {name.strip() for label in labels for name in label.split(",") if name.strip()}
    return tuple(sorted(labels))
