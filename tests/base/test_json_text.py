"""JSON of strangers: nested without end, or behind a byte order mark."""

import json

import pytest

import pellucid
from pellucid.base.errors import BadFile, PellucidError
from pellucid.base.files import read_text
from pellucid.base.json_text import DEEPEST, parsed, read_json
from pellucid.comparison.judged_part import JudgedPart
from pellucid.results.storage import save
from pellucid.results.table import Table
from pellucid.training.upgrading import Upgrade
from tests.shared.explanations import explanation
from tests.shared.sample_results import sample_table as comparison_table

DEEP = "[" * 100_000 + "]" * 100_000
OBJECTS = '{"form":' * 100_000 + "1" + "}" * 100_000


@pytest.mark.parametrize("text", (DEEP, OBJECTS, "[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)))
def test_deep_json_is_no_json_that_is_read(text):
    with pytest.raises(ValueError, match=f"more than {DEEPEST} deep"):
        parsed(text)


def test_other_json_is_read_as_ever():
    value = {"a": [1, {"b": None}], "c": "[[["}
    assert parsed(json.dumps(value)) == value
    assert parsed("[" * DEEPEST + "]" * DEEPEST)
    with pytest.raises(ValueError):
        parsed("{")


@pytest.mark.parametrize("text", (DEEP, OBJECTS))
@pytest.mark.parametrize(
    ("name", "reading"),
    (
        ("results.json", pellucid.read),
        ("table.json", Table.read),
        ("part.json", JudgedPart.read),
        ("upgrade.json", lambda path: Upgrade.read(path.parent)),
        ("config.json", lambda path: pellucid.load(path.parent)),
        ("rows.jsonl", pellucid.examples),
    ),
)
def test_every_file_of_deep_json_is_refused(tmp_path, name, reading, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(BadFile):
        reading(tmp_path / name)


def test_a_deep_value_inside_a_string_is_refused(tmp_path):
    save([explanation()], tmp_path / "results.json")
    record = json.loads((tmp_path / "results.json").read_text())
    for field in ("settings", "meta", "rows"):
        record["explanations"][0][field] = '{"a": ' + DEEP + "}"
        (tmp_path / "results.json").write_text(json.dumps(record))
        with pytest.raises(BadFile, match="deep"):
            pellucid.read(tmp_path / "results.json")


def test_what_is_no_json_is_named(tmp_path):
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(BadFile, match=r"x.json is not JSON"):
        read_json(tmp_path / "x.json")


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path):
    save([explanation()], tmp_path / "results.json")
    comparison_table().save(tmp_path / "table.json")
    for path in tmp_path.iterdir():
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert pellucid.read(tmp_path / "results.json") == [explanation()]
    assert Table.read(tmp_path / "table.json") == comparison_table()
    assert read_text(tmp_path / "table.json")[0] == "{"


def test_deep_settings_on_the_command_line_are_words():
    from pellucid.explaining.commands.model_options import settings_from

    assert settings_from([f"n={DEEP}"]) == {"n": DEEP}
    assert issubclass(BadFile, PellucidError)
