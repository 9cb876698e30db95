"""Units of work: each leaves a file, none is done twice, and units that have begun are finished when another fails."""

import json
import lzma
import os
import shutil
import time
from dataclasses import replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
import torch

from pellucid.base.errors import BadFile, BadInput
from pellucid.base.processes import silent
from pellucid.text.example import Example
from studies.shared.computing_environment import computing_record, count_machines, where_computed
from studies.shared.unit_files import PACKED, RUNS, pack_units, read_unit, unpack_units, write_unit
from studies.shared.units import Unit, reserve_folder, run_units, text_digest


def halves(number, share):
    """Reports when half of it is done."""
    share(0.5)
    return {"twice": 2 * number}


def failing(folder, share):
    """Says that it has begun."""
    (folder / "begun").touch()
    raise BadInput("no such thing")


def slow(folder, share):
    """Ends only after `failing` has failed."""
    end = time.monotonic() + 300
    while not (folder / "begun").exists() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(1)
    return {"twice": 0}


def units(*numbers, about=None):
    return [Unit(str(one), about or {"of": [one]}, partial(halves, one)) for one in numbers]


def test_finished_units_are_read_and_the_others_done(tmp_path):
    (tmp_path / "1.json").write_text(json.dumps({"about": {"of": [1]}, "twice": "kept"}))
    numbers = run_units(units(1, 2), tmp_path, 1, silent)
    assert [numbers[name]["twice"] for name in ("1", "2")] == ["kept", 4]
    saved = json.loads((tmp_path / "2.json").read_text())
    assert saved.pop("seal")["of"] == {"unit": "2"}
    assert saved.pop("computed") == numbers["2"].pop("computed")
    assert saved == numbers["2"] == {"about": {"of": [2]}, "twice": 4}


def test_another_units_numbers_and_changed_ones_are_refused(tmp_path):
    """Units of one study may have the same settings."""
    same = units(1, 2, about={"seed": 0})
    run_units(same, tmp_path, 1, silent)
    mine = (tmp_path / "1.json").read_text()
    (tmp_path / "1.json").write_text((tmp_path / "2.json").read_text())
    with pytest.raises(BadFile, match=r"1.json is of \{'unit': '2'\}, not of \{'unit': '1'\}; remove it"):
        run_units(same, tmp_path, 1, silent)
    (tmp_path / "1.json").write_text(mine.replace('"twice": 2', '"twice": 3'))
    with pytest.raises(BadFile, match=r"1.json was changed after it was written; remove it"):
        run_units(same, tmp_path, 1, silent)
    (tmp_path / "1.json").unlink()
    assert run_units(same, tmp_path, 1, silent)["1"]["twice"] == 2


def test_numbers_of_other_weights_under_the_same_path_are_refused(tmp_path):
    encoder, work = tmp_path / "encoder", tmp_path / "work"
    encoder.mkdir()
    (encoder / "config.json").write_text("{}")
    (encoder / "model.safetensors").write_bytes(b"one")
    of_encoder = [replace(unit, encoder=str(encoder)) for unit in units(1)]
    numbers = run_units(of_encoder, work, 1, silent)
    (encoder / "README.md").write_text("of no matter")
    assert run_units(of_encoder, work, 1, silent) == numbers
    (encoder / "model.safetensors").write_bytes(b"two")
    with pytest.raises(BadFile, match=r"1.json is of \{'encoder': "):
        run_units(of_encoder, work, 1, silent)
    shutil.rmtree(encoder)  # its numbers can still be read
    assert run_units(of_encoder, work, 1, silent) == numbers


def test_one_bar_runs_over_all_units_that_are_missing(tmp_path):
    calls = []
    run_units(units(1), tmp_path, 1, silent)
    run_units(units(1, 2, 3), tmp_path, 1, lambda *call: calls.append(call), "doubling")
    assert calls == [("doubling", done, 200) for done in (50, 100, 150, 200)]


@pytest.mark.parametrize("saved", [{"about": {"of": [5], "seed": 0}}, {"twice": 4}])
def test_a_file_of_something_else_is_refused_before_any_work(tmp_path, saved):
    (tmp_path / "2.json").write_text(json.dumps(saved))
    with pytest.raises(BadFile, match=r"not of \{'of': \[2\].*give another folder"):
        run_units([*units(1), Unit("2", {"of": (2,), "seed": 0}, partial(halves, 2))], tmp_path, 1, silent)
    assert not (tmp_path / "1.json").exists()


def test_a_work_folder_belongs_to_its_settings(tmp_path):
    for _ in range(2):
        reserve_folder(tmp_path / "work", {"concentration": 1.5})
    with pytest.raises(BadFile, match=r"is of \{'concentration': 1.5\}, not of .*give another folder"):
        reserve_folder(tmp_path / "work", {"concentration": 1.0})


def test_a_digest_knows_texts_labels_and_parts():
    one, other = Example(("good",), "up"), Example(("good",), "down")
    parts = [{"train": [one]}, {"train": [other]}, {"dev": [one]}, {"train": [one, one]}]
    assert len(set(map(text_digest, parts))) == 4
    assert text_digest({"train": [replace(one, id="z", meta={"year": 1999})]}) == text_digest(parts[0])


def test_a_tuple_is_the_list_that_json_keeps(tmp_path):
    for _ in range(2):
        run_units(units(1, about={"labels": ("bad", "good")}), tmp_path, 1, silent)


def threads(share):
    """How many threads a unit computes on."""
    return {"threads": torch.get_num_threads()}


def test_a_unit_records_what_it_was_computed_with(tmp_path):
    """On one thread for any number of processes: another number of threads is another rounding, and another model."""
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        [numbers] = run_units([Unit("a", {}, threads, precision="float32")], tmp_path, 1, silent).values()
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert numbers["threads"] == 1
    assert {name: numbers["computed"][name] for name in ("precision", "threads", "device", "route")} == {
        "precision": "float32",
        "threads": 1,
        "device": "cpu",
        "route": "eager",
    }
    assert numbers["computed"]["processor"] and numbers["computed"]["versions"]["torch"]


def test_what_is_missing_is_not_computed_in_another_precision(tmp_path):
    """Numbers that are all there can be read anywhere; those of earlier versions do not say, and are believed."""
    wanted = {kind: [replace(one, precision=kind) for one in units(1, 2)] for kind in ("float32", "bfloat16")}
    run_units(wanted["float32"][:1], tmp_path, 1, silent)
    assert run_units(wanted["bfloat16"][:1], tmp_path, 1, silent)["1"]["twice"] == 2
    with pytest.raises(BadFile, match=r"1.json was computed with \{'precision': 'float32'\}, and the rest would"):
        run_units(wanted["bfloat16"], tmp_path, 1, silent)
    assert not (tmp_path / "2.json").exists()
    (tmp_path / "1.json").write_text(json.dumps({"about": {"of": [1]}, "twice": 2}))
    assert run_units(wanted["bfloat16"], tmp_path, 1, silent)["2"]["twice"] == 4


def test_runs_of_earlier_versions_say_that_nothing_was_recorded(tmp_path):
    runs = [{}, {}, {"computed": computing_record("float32", "cpu")}]
    sentence = where_computed(count_machines(runs))
    assert sentence.startswith(
        "Computed with (units): precision, threads, processor and versions not recorded (2); float32, "
    )
    assert sentence.endswith("(1).")


def test_routes_are_not_mixed(tmp_path):
    """What was computed before there were routes is eager; other routes round in another way, and pages say so."""
    one, two = units(1, 2)
    run_units([one], tmp_path, 1, silent)
    with pytest.raises(BadFile, match=r"1.json was computed with \{'route': 'eager'\}, and the rest would"):
        run_units([replace(each, route="onednn") for each in (one, two)], tmp_path, 1, silent)
    now, other = (computing_record("float32", "cpu", route) for route in ("eager", "onednn"))
    before = {name: value for name, value in now.items() if name != "route"}
    groups = count_machines([{"computed": each} for each in (before, now, other)])
    assert [one["units"] for one in groups] == [2, 1]
    assert where_computed(groups).count("route onednn") == 1


def endless(folder, share):
    """Says who it is, and works on."""
    (folder / f"{os.getpid()}.pid").touch()
    time.sleep(300)


def study(folder):
    run_units([Unit(name, {}, partial(endless, folder)) for name in "ab"], folder, 2, silent)


@pytest.mark.whole
def test_a_killed_study_leaves_no_process_behind(tmp_path):
    process = get_context("spawn").Process(target=study, args=(tmp_path,))
    process.start()
    assert _within(300, lambda: len(list(tmp_path.glob("*.pid"))) == 2)
    process.kill()
    process.join()
    workers = [int(path.stem) for path in tmp_path.glob("*.pid")]
    assert _within(300, lambda: not any(map(_runs, workers)))


def _within(seconds, holds):
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
    return holds()


def _runs(number):
    """Whether a process is at work; one that has ended and that nobody asked about yet is not."""
    try:
        status = Path(f"/proc/{number}/stat").read_text()
    except FileNotFoundError:
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


@pytest.mark.whole
def test_one_failure_ends_it_all_but_units_that_have_begun_are_finished(tmp_path):
    wanted = [
        Unit("slow", {}, partial(slow, tmp_path)),
        Unit("bad", {}, partial(failing, tmp_path)),
        *units(1, 2),
    ]
    with pytest.raises(BadInput, match="no such thing"):
        run_units(wanted, tmp_path, 2, silent)
    assert [path.name for path in tmp_path.glob("*.json")] == ["slow.json"]
    numbers = run_units([wanted[0], *wanted[2:]], tmp_path, 1, silent)
    assert [one["twice"] for one in numbers.values()] == [0, 2, 4]


def test_packed_units_are_read_and_go_on_and_are_the_same_bytes(tmp_path):
    """An interrupted packing leaves both; then a unit's own file counts."""
    runs = tmp_path / RUNS
    numbers = run_units(units(1, 2), runs, 1, silent)
    pack_units(runs)
    packed = (tmp_path / PACKED).read_bytes()
    assert not runs.exists() and run_units(units(1, 2), runs, 1, silent) == numbers
    unpack_units(runs)
    pack_units(runs)
    assert (tmp_path / PACKED).read_bytes() == packed
    write_unit(runs, "1", read_unit(runs, "2"))
    with pytest.raises(BadFile, match="remove it"):
        run_units(units(1, 2), runs, 1, silent)


@pytest.mark.parametrize("content", (b"", b"[]", lzma.compress(b"{}"), lzma.compress(b"{")))
def test_damaged_packed_units_are_refused(tmp_path, content):
    (tmp_path / PACKED).write_bytes(content)
    with pytest.raises(BadFile, match="is damaged"):
        run_units(units(1), tmp_path / RUNS, 1, silent)
