"""Every format: its original files are read as they stand, and a wrong row is named by file, line and reason.

A package of your own adds its files by `ORIGINALS["my_format"] = Original(...)` before pytest collects this file.
"""

import gzip
import inspect
import warnings
from codecs import BOM_UTF8

import pytest

from pellucid.base.errors import BadFile, BadSetting, PellucidError, UnknownName
from pellucid.base.kinds import formats
from pellucid.data.load import load_examples
from pellucid.data.shared.rows import SkippedRows
from tests.data.formats.originals import ORIGINALS

TEXT_FILES = (".jsonl", ".csv", ".tsv", ".txt", ".json", ".log")


@pytest.fixture(params=formats.names())
def name(request):
    return request.param


@pytest.fixture
def original(name):
    """The small files of the format, and the examples that they must become."""
    assert name in ORIGINALS, f"Give {name} small files in tests/data/formats/originals.py."
    return ORIGINALS[name]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path_factory.mktemp("cache"))


def sorted_by_id(examples):
    return sorted(examples, key=lambda example: example.id)


def read(source, name, original, **reading):
    return load_examples(source, "test", name, **original.settings, **reading)


def test_it_says_what_it_reads(name):
    entry = formats.get(name)
    assert entry.summary and entry.paper is not None
    assert entry.facts["reads"] and entry.facts["data"]
    parameters = list(inspect.signature(entry.make).parameters.values())
    assert [parameter.kind for parameter in parameters[:2]] == [inspect.Parameter.POSITIONAL_OR_KEYWORD] * 2
    assert all(parameter.kind is inspect.Parameter.KEYWORD_ONLY for parameter in parameters[2:])


def test_the_original_is_read(name, original, tmp_path):
    examples = read(original.write(tmp_path), name, original)
    assert sorted_by_id(examples) == sorted_by_id(original.examples)
    assert len({example.id for example in examples}) == len(examples)


def test_reading_again_gives_the_same_order(name, original, tmp_path):
    source = original.write(tmp_path)
    assert read(source, name, original) == read(source, name, original)


def test_declared_rationales_are_there(name, original):
    marked = any(example.rationales for example in original.examples)
    assert marked == formats.get(name).facts["rationales"]


def test_a_bad_row_is_named_by_file_line_and_reason(name, original, tmp_path):
    file, _, line, reason = original.bad
    with pytest.raises(BadFile) as raised:
        read(original.write(tmp_path, spoilt=True), name, original)
    message = str(raised.value)
    assert f"{tmp_path / file}, line {line}: " in message
    assert reason in message
    assert "skip_bad_rows=True" in message and "--skip-bad-rows" in message


def test_bad_rows_are_skipped_and_counted(name, original, tmp_path):
    file, _, line, _ = original.bad
    source = original.write(tmp_path, spoilt=True)
    with pytest.warns(SkippedRows) as warned:
        assert read(source, name, original, skip_bad_rows=True)
    (warning,) = warned
    assert f"1 bad rows of {source} were left out" in str(warning.message)
    assert f"{tmp_path / file}, line {line}: " in str(warning.message)


def test_good_files_warn_of_nothing(name, original, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error", SkippedRows)
        read(original.write(tmp_path), name, original, skip_bad_rows=True)


def test_gzipped_files_are_the_same(name, original, tmp_path):
    if not original.gzipped:
        pytest.skip("these files are not read gzipped")
    source = original.write(tmp_path)
    for file in [path for path in tmp_path.iterdir() if path.suffix in TEXT_FILES]:
        file.with_name(f"{file.name}.gz").write_bytes(gzip.compress(file.read_bytes()))
        if file.name not in original.plain_only:
            file.unlink()
    assert sorted_by_id(read(source, name, original)) == sorted_by_id(original.examples)


def test_a_byte_order_mark_changes_nothing(name, original, tmp_path):
    source = original.write(tmp_path)
    for path in [path for path in tmp_path.rglob("*") if path.is_file() and path.suffix in TEXT_FILES]:
        path.write_bytes(BOM_UTF8 + path.read_bytes())
    assert sorted_by_id(read(source, name, original)) == sorted_by_id(original.examples)


def test_an_unknown_setting_names_the_known_ones(name, original, tmp_path):
    with pytest.raises(UnknownName, match=f"No setting of {name} is called 'colour'"):
        load_examples(original.write(tmp_path), "test", name, colour="red")


def test_a_missing_source_raises_one_clear_sentence(name, original, tmp_path):
    with pytest.raises(PellucidError) as raised:
        read(tmp_path / "nothing" / "here", name, original)
    assert "nothing" in str(raised.value)


def test_a_part_that_is_not_there_raises(name, original, tmp_path):
    source = original.write(tmp_path)
    if source.is_file():
        pytest.skip("one file is its only part")
    with pytest.raises((BadFile, BadSetting)):
        load_examples(source, "validation", name, **original.settings)


def test_files_without_a_format_have_none_here():
    assert set(ORIGINALS) <= set(formats.names())
