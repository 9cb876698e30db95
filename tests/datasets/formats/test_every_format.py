"""Every format: its original files are read as they stand, and a wrong row is named by file, line and reason."""

import gzip
import warnings

import pytest

from pellucid.core.foundation.errors import BadFile, BadSetting, PellucidError, UnknownName
from pellucid.core.foundation.kinds import formats
from pellucid.datasets.load import load_examples
from pellucid.datasets.shared.rows import SkippedRows
from tests.datasets.formats.originals import ORIGINALS


@pytest.fixture(params=formats.names())
def name(request):
    return request.param


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))


def sorted_by_id(examples):
    return sorted(examples, key=lambda example: example.id)


def test_the_original_is_read(name, tmp_path):
    original = ORIGINALS[name]
    found = load_examples(original.write(tmp_path), "test", name, **original.settings)
    assert sorted_by_id(found) == sorted_by_id(original.examples)
    assert len({example.id for example in found}) == len(found)


def test_reading_again_gives_the_same_order(name, tmp_path):
    original = ORIGINALS[name]
    source = original.write(tmp_path)
    first = load_examples(source, "test", name, **original.settings)
    assert load_examples(source, "test", name, **original.settings) == first


def test_declared_rationales_are_there(name):
    marked = any(example.rationales for example in ORIGINALS[name].examples)
    assert marked == formats.get(name).facts["rationales"]


def test_a_bad_row_is_named_by_file_line_and_reason(name, tmp_path):
    original = ORIGINALS[name]
    file, _, line, reason = original.bad
    with pytest.raises(BadFile) as raised:
        load_examples(original.write(tmp_path, spoilt=True), "test", name, **original.settings)
    told = str(raised.value)
    assert f"{tmp_path / file}, line {line}: " in told
    assert reason in told
    assert "skip_bad_rows=True" in told and "--skip-bad-rows" in told


def test_bad_rows_are_skipped_and_counted(name, tmp_path):
    original = ORIGINALS[name]
    file, _, line, _ = original.bad
    source = original.write(tmp_path, spoilt=True)
    with pytest.warns(SkippedRows) as told:
        found = load_examples(source, "test", name, skip_bad_rows=True, **original.settings)
    assert found
    (warning,) = told
    assert f"1 bad rows of {source} were left out" in str(warning.message)
    assert f"{tmp_path / file}, line {line}: " in str(warning.message)


def test_good_files_warn_of_nothing(name, tmp_path):
    original = ORIGINALS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", SkippedRows)
        load_examples(original.write(tmp_path), "test", name, skip_bad_rows=True, **original.settings)


@pytest.mark.parametrize(
    "name", sorted({*ORIGINALS} - {"imdb", "twenty_newsgroups", "hatexplain", "hugging_face"})
)
def test_gzipped_files_are_the_same(name, tmp_path):
    original = ORIGINALS[name]
    source = original.write(tmp_path)
    for file in [*tmp_path.glob("*.txt"), *tmp_path.glob("*sv"), *tmp_path.glob("*.jsonl")]:
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        if "hadm" not in file.name:
            file.unlink()
    found = load_examples(source, "test", name, **original.settings)
    assert sorted_by_id(found) == sorted_by_id(original.examples)


def test_an_unknown_setting_names_the_known_ones(name, tmp_path):
    original = ORIGINALS[name]
    with pytest.raises(UnknownName, match=f"No setting of {name} is called 'colour'"):
        load_examples(original.write(tmp_path), "test", name, colour="red")


def test_a_missing_source_raises_one_clear_sentence(name, tmp_path):
    with pytest.raises(PellucidError) as raised:
        load_examples(tmp_path / "nothing" / "here", "test", name, **ORIGINALS[name].settings)
    assert "nothing" in str(raised.value)


def test_a_part_that_is_not_there_raises(name, tmp_path):
    source = ORIGINALS[name].write(tmp_path)
    if source.is_file():
        pytest.skip("one file is its only part")
    with pytest.raises((BadFile, BadSetting)):
        load_examples(source, "validation", name, **ORIGINALS[name].settings)


def test_every_format_has_its_files_here():
    assert set(ORIGINALS) == set(formats.names())
