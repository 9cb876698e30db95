"""Data sets of the package datasets, all from local files: class names, parts by their usual names, clear errors."""

import sys

import datasets
import pytest

from pellucid.core.errors import BadFile, MissingPackage, UnknownName
from pellucid.core.example import Example
from pellucid.datasets.load import load_examples
from tests.datasets.formats.originals import example, write


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


def test_dev_is_found_under_its_usual_names(saved):
    assert [one.text for one in read(saved, "dev")] == ["dev 0 ⫽ and so"]


def test_a_part_that_is_not_there_names_the_others(saved):
    with pytest.raises(BadFile, match="has no part extra; its parts are: train, validation, test"):
        read(saved, "extra")


def test_columns_are_chosen_by_name(saved):
    chosen = {"text": "sentence2", "second": "sentence1", "label": "idx"}
    assert read(saved, "dev", **chosen) == [Example(("and so", "dev 0"), "0", (), "dev-1", {"label": 1})]
    with pytest.raises(UnknownName, match="No field is called 'sentence3'"):
        read(saved, text="sentence3")


def test_a_data_set_without_parts_is_its_only_part(tmp_path):
    datasets.Dataset.from_dict({"text": ["a", "b"]}).save_to_disk(tmp_path / "one")
    assert [one.text for one in read(tmp_path / "one", "dev")] == ["a", "b"]


def test_a_folder_of_plain_files_is_read_by_the_package(tmp_path):
    write(tmp_path / "plain" / "train.csv", "text,label\nA fine day,good\n")
    write(tmp_path / "plain" / "test.csv", "text,label\nA grey day,bad\n")
    assert read(tmp_path / "plain", "test") == [example("A grey day", "bad", "test-1")]


def test_columns_that_say_nothing_are_told(tmp_path):
    datasets.Dataset.from_dict({"subject": ["a"]}).save_to_disk(tmp_path / "one")
    with pytest.raises(BadFile, match=r"none of the fields text / .*its columns are: subject"):
        read(tmp_path / "one")


@pytest.mark.parametrize("source", ("nobody/nothing", "nowhere"))
def test_what_cannot_be_loaded_ends_in_one_sentence(source):
    with pytest.raises(BadFile, match=f"The package datasets cannot load {source}: "):
        read(source)


def test_without_the_package_it_says_how_to_install_it(monkeypatch, saved):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingPackage, match="pip install datasets"):
        read(saved)
