"""Data sets of the package datasets, all from local files: class names, parts by their usual names, clear errors."""

import os
import subprocess
import sys

import datasets
import pyarrow.parquet
import pytest

from pellucid.base.errors import BadFile, MissingPackage, UnknownName
from pellucid.data.load import load_examples
from pellucid.text.example import Example
from tests.data.formats.originals import example, write


@pytest.fixture(autouse=True)
def _offline(tmp_path_factory, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)


@pytest.fixture
def saved(tmp_path):
    """A folder of three parts, as save_to_disk writes it."""
    features = datasets.Features(
        {"sentence1": datasets.Value("string"), "sentence2": datasets.Value("string")}
        | {"label": datasets.ClassLabel(names=["no", "yes"]), "idx": datasets.Value("int32")}
    )

    def part(name, labels):
        numbers = range(len(labels))
        columns = {"sentence1": [f"{name} {n}" for n in numbers], "sentence2": ["and so"] * len(labels)}
        return datasets.Dataset.from_dict({**columns, "label": labels, "idx": [*numbers]}, features=features)

    parts = {"train": part("train", [0, 1]), "validation": part("dev", [1]), "test": part("test", [-1])}
    datasets.DatasetDict(parts).save_to_disk(tmp_path / "saved")
    return tmp_path / "saved"


def read(source, split="test", **settings):
    return load_examples(source, split, "hugging_face", **settings)


def test_class_numbers_become_names_and_secret_labels_none(saved):
    assert [one.label for one in read(saved, "train")] == ["no", "yes"]
    assert read(saved, "test") == [example(("test 0", "and so"), None, "test-1", idx=0)]


def test_dev_has_several_usual_names(saved):
    assert [one.text for one in read(saved, "dev")] == ["dev 0 ⫽ and so"]


def test_a_part_that_is_not_there_names_the_others(saved):
    with pytest.raises(BadFile, match="has no part extra; its parts are: train, validation, test"):
        read(saved, "extra")


def test_columns_are_named_by_settings(saved):
    settings = {"text": "sentence2", "second": "sentence1", "label": "idx"}
    assert read(saved, "dev", **settings) == [Example(("and so", "dev 0"), "0", (), "dev-1", {"label": 1})]
    with pytest.raises(UnknownName, match="No field is called 'sentence3'"):
        read(saved, text="sentence3")


def test_a_data_set_without_parts_is_its_only_part(tmp_path):
    datasets.Dataset.from_dict({"text": ["a", "b"]}).save_to_disk(tmp_path / "one")
    assert [one.text for one in read(tmp_path / "one", "dev")] == ["a", "b"]


def test_a_folder_of_plain_files_is_read_by_the_package(tmp_path):
    write(tmp_path / "plain" / "train.csv", "text,label\nA fine day,good\n")
    write(tmp_path / "plain" / "test.csv", "text,label\nA grey day,bad\n")
    assert read(tmp_path / "plain", "test") == [example("A grey day", "bad", "test-1")]


def test_unusual_columns_are_listed(tmp_path):
    datasets.Dataset.from_dict({"subject": ["a"], "body_length": ["b"]}).save_to_disk(tmp_path / "one")
    with pytest.raises(BadFile, match=r"no field is plainly a text.*its columns are: subject, body_length"):
        read(tmp_path / "one")


@pytest.mark.parametrize("source", ("nobody/nothing", "nowhere"))
def test_what_cannot_be_loaded_ends_in_one_sentence(source):
    with pytest.raises(BadFile, match=f"The package datasets cannot load {source}: "):
        read(source)


def test_without_the_package_it_says_how_to_install_it(monkeypatch, saved):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingPackage, match="pip install datasets"):
        read(saved)


READING = """
import socket, sys
import datasets
from pellucid.base.errors import PellucidError
from pellucid.data.load import load_examples

def refuse(*arguments, **_):
    print("REQUEST", arguments)
    raise OSError("no network here")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
for source in sys.argv[1:]:
    try:
        print("read", [one.text for one in load_examples(source, "train", "hugging_face")])
    except PellucidError as error:
        print("refused", error)
"""
ELSEWHERE = (
    "hf://datasets/someone/data/train.csv",
    "https://data.example/train.csv",
    "zip://train.csv::https://data.example/train.zip",
    "/etc/passwd",
    "../train.csv",
    "~/train.csv",
)


def _card(name):
    return f"---\nconfigs:\n- config_name: default\n  data_files:\n  - split: train\n    path: {name!r}\n---\n# Data\n"


def _sources(tmp_path):
    """Folders and files of which some name files elsewhere."""
    sources = []
    for number, name in enumerate((*ELSEWHERE, "train.csv")):
        source = tmp_path / str(number)
        write(source / "train.csv", "text,label\nA fine day,good\n")
        write(source / "README.md", _card(name))
        sources.append(source)
    write(tmp_path / "yaml" / "train.csv", "text,label\nA fine day,good\n")
    write(tmp_path / "yaml" / ".huggingface.yaml", _card(ELSEWHERE[0]).split("---")[1])
    pictures = datasets.Features({"text": datasets.Value("string"), "picture": datasets.Image()})
    rows = {"text": ["A fine day"], "picture": [{"path": "https://data.example/picture.png", "bytes": None}]}
    (tmp_path / "pictures").mkdir()
    table = datasets.Dataset.from_dict(rows, features=pictures).data.table
    pyarrow.parquet.write_table(table, tmp_path / "pictures" / "train.parquet")
    write(tmp_path / "file" / "one.csv", "text,label\nA fine day,good\n")
    sources += [tmp_path / "yaml", tmp_path / "pictures", tmp_path / "pictures" / "train.parquet"]
    sources += [tmp_path / "file" / "one.csv"]
    return sources


@pytest.mark.whole
def test_a_folder_is_read_without_a_request(tmp_path):
    """In a process that prints every attempt to connect: cards that name files elsewhere, files with addresses in
    them.
    """
    sources = _sources(tmp_path)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    done = subprocess.run(
        [sys.executable, "-c", READING, *map(str, sources)],
        env={**environment, "HF_HOME": str(tmp_path / "home")},
        cwd=tmp_path / "file",
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "REQUEST" not in done.stdout, done.stdout
    assert done.stdout.count("which lies elsewhere") == len(ELSEWHERE) + 1, done.stdout
    assert done.stdout.count("read ['A fine day']") == 3, done.stdout
    assert done.stdout.count("is no folder and no .parquet file") == 1, done.stdout


@pytest.mark.parametrize("source", ("/no/such/folder", "~/nothing", "a/b/c"))
def test_what_looks_like_a_path_is_no_hub_name(source):
    with pytest.raises(BadFile, match="is no folder and no"):
        read(source)


def test_columns_of_pictures_are_left_out(tmp_path):
    features = datasets.Features({"text": datasets.Value("string"), "picture": datasets.Image()})
    rows = datasets.Dataset.from_dict({"text": ["A fine day"], "picture": [None]}, features=features)
    rows.save_to_disk(tmp_path / "saved")
    assert read(tmp_path / "saved") == [example("A fine day", None, "test-1")]
