"""Every study lists, shows help, refuses unknown sizes, and goes on after an interruption to the same page."""

import json
import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

import pellucid
from pellucid.base.processes import silent
from pellucid.text.wordnet import wordnet_folder
from studies.shared import what_ran
from studies.shared.runner import main, parse_settings, run_study
from studies.shared.study import studies
from studies.shared.unit_files import units_of, unpack_units
from tests.shared.tiny_training import save_encoder

STUDIES = studies.names()
TINY = [name for name in STUDIES if "tiny" in studies.get(name).make().sizes]
LARGEST = ("s0_eraser", "s0_transfers")  # a minute and more for each run; their own tests resume them
# Five to twenty seconds each, and run by tests of their own; the runner that goes on is the same for all.
WITH_OWN_TESTS = (
    "believable_spans",
    "s0_attacks",
    "s0_evidence",
    "s0_translation",
    "s1_games",
    "s3_layers",
    "s3_steps",
    "s3_training",
    "s4_adversary",
    "s4_fragility",
    "s4_layers",
    "s4_verdicts",
    "s4_weights",
    "translation_links",
)
RESUMED = [
    pytest.param(name, marks=[pytest.mark.long] if name in WITH_OWN_TESTS else [])
    for name in TINY
    if name not in LARGEST
]
WITH_DICTIONARIES = ("s0_attacks", "attack_orders", "fragile_explanations", "attack_training")
VALUES = {"--data": "pocket", "--task": "pocket", "--enough": "0"}
VARYING = (
    "seconds",
    "seal",
    "computed",
)  # of a unit's file: clock times, what is digested with them, the machine


def words_of(name, folder, size="tiny"):
    """A command line for a study: of every option that it needs one value, and a tiny encoder."""
    values = VALUES | {"--out": here(folder / "out"), "--work": here(folder / "work")}
    if name == "sst2_methods":
        values["--data"] = here(two_classes(folder.parent))
    if name in WITH_DICTIONARIES and not ((wordnet_folder() / "data.noun").is_file() and shutil.which("apertium")):
        pytest.skip("needs WordNet and Debian's apertium-eng-spa")
    if name == "s0_translation":
        pytest.importorskip("sacrebleu")
        values["--data"] = here(two_languages(folder.parent))
    words = ["--size", size]
    for option in studies.get(name).make().all_options:
        if option.name in values:
            words += [option.name, values[option.name]]
        if option.name == "--encoder":
            words += [option.name, here(encoder(folder.parent))]
    return words


def here(path):
    """A path from the current folder, as people write it."""
    return os.path.relpath(path)


def encoder(folder):
    path = folder / "encoder"
    return path if path.exists() else save_encoder(path)


def two_classes(folder):
    """Sentences of ours without the neutral ones."""
    for part in ("train", "dev", "test"):
        two = [one for one in pellucid.examples("pocket", part) if one.label != "neutral"]
        pellucid.write_json_lines(two[:48], folder / "data" / f"{part}.jsonl")
    return folder / "data"


def two_languages(folder):
    """Sentences of ours in two languages, one of which is the other with its words turned round."""
    (folder / "pairs").mkdir(exist_ok=True)
    for part in ("train", "dev", "test"):
        texts = [one.segments[0] for one in pellucid.examples("pocket", part)][:40]
        lines = [json.dumps({"en": text, "de": " ".join(reversed(text.split()))}) for text in texts]
        (folder / "pairs" / f"{part}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "pairs"


def run(name, folder, progress=silent):
    entry = studies.get(name)
    study = entry.make()
    return run_study(study, parse_settings(entry, study, words_of(name, folder)), progress)


def test_the_list_has_a_sentence_for_every_study(capsys):
    main([])
    listed = capsys.readouterr().out
    for name in STUDIES:
        summary = studies.get(name).summary
        assert f"  {name} " in listed and summary in listed
        assert summary.endswith((".", "?"))


@pytest.mark.parametrize("name", STUDIES)
def test_help_names_every_option_and_says_what_the_study_asks(name, capsys):
    with pytest.raises(SystemExit) as end:
        main([name, "--help"])
    shown = capsys.readouterr().out
    assert end.value.code == 0
    assert f"python -m studies {name}" in shown
    assert all(option.name in shown for option in studies.get(name).make().all_options)


@pytest.mark.parametrize("name", STUDIES)
def test_an_unknown_size_is_refused_in_one_sentence_that_lists_the_sizes(name, tmp_path, capsys):
    words = words_of(name, tmp_path / "study", size="giant")
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        main([name, *words])
    lines = capsys.readouterr().err.strip().splitlines()
    assert end.value.code == 2 and len(lines) == 1
    assert f"No size of {name} is called 'giant'" in lines[0]
    assert all(size in lines[0] for size in studies.get(name).make().sizes)
    assert not (tmp_path / "study" / "out").exists()


def test_an_unknown_study_is_refused_in_one_sentence(capsys):
    with pytest.raises(SystemExit):
        main(["s0_acuracy"])
    assert "Did you mean 's0_accuracy'?" in capsys.readouterr().err


class Stop(Exception):
    """An interruption."""


def stop_after(calls):
    """A progress callback that ends the study in the middle of its work."""
    left = [calls]

    def progress(stage, done, total):
        left[0] -= 1
        if left[0] < 0:
            raise Stop

    return progress


def files_of(folder):
    """The files of a finished study: pages, bytes of pictures, units without what differs between two runs."""
    out = folder / "out"
    pages = {path.name: path.read_bytes() for path in out.glob("*.svg")}
    pages |= {path.name: steady(path.read_text(encoding="utf-8")) for path in out.glob("*.md")}
    units = [bare(numbers) for numbers in units_of(out / "runs")]
    return pages, units


def steady(page):
    """A page without the cells below a heading `seconds`: two runs take different times."""
    lines, timed = [], set()
    for line in page.splitlines():
        cells = line.split("|")
        if {cell.strip() for cell in cells} & {"seconds"}:
            timed = {place for place, cell in enumerate(cells) if cell.strip() == "seconds"}
        elif len(cells) == 1:
            timed = set()
        lines.append("|".join("" if place in timed else cell for place, cell in enumerate(cells)))
    return "\n".join(lines)


def bare(numbers):
    return {name: one for name, one in numbers.items() if name not in VARYING}


def without_its_last_unit(folder):
    """Take the last unit out of the folder, where the study has units."""
    unpack_units(folder / "out" / "runs")
    for unit in sorted((folder / "out" / "runs").glob("*.json"))[-1:]:
        unit.unlink()


@pytest.mark.whole
@pytest.mark.parametrize("name", RESUMED)
def test_an_interrupted_study_goes_on_to_the_same_page_and_a_finished_one_does_no_work(
    name, tmp_path, monkeypatch, capsys
):
    """And a unit has the same numbers when it is done alone; the page names what ran, and its command makes it again."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "study"
    with pytest.raises(Stop):
        run(name, folder, stop_after(7))
    page = run(name, folder)
    assert page.startswith("# ")
    names_what_ran(name, page)
    files = files_of(folder)
    without_its_last_unit(folder)
    assert steady(run(name, folder)) == steady(page)
    assert files_of(folder) == files
    monkeypatch.setattr("pellucid.training.train.train", None)  # it would be called to train again
    units = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("units.jsonl.xz")}
    assert steady(printed_command_again(page, capsys)) == steady(page)
    assert units == {path: path.stat().st_mtime_ns for path in units}


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in TINY if name not in LARGEST])
def test_an_interrupted_study_ends_as_an_uninterrupted_one(name, tmp_path):
    page = run(name, tmp_path / "whole")
    for calls in (1, 7):
        with pytest.raises(Stop):
            run(name, tmp_path / "resumed", stop_after(calls))
    assert steady(run(name, tmp_path / "resumed")) == steady(page)
    assert files_of(tmp_path / "resumed") == files_of(tmp_path / "whole")


# What a page names is what ran.

ROOT = Path(__file__).parents[2]
COMMAND = re.compile(r"Made by\n`(python -m studies [^`]+)`")
RESULTS = sorted(
    (path.parent.relative_to(ROOT / "studies").parts[0], path.parent)
    for path in (ROOT / "studies").rglob("result.json")
)
CORPORA = ("SST-2", "SST-5", "SNLI", "AG News", "IMDb", "Multi30k", "SemEval", "Yelp-5", "HateXplain")


def printed_command(page):
    return shlex.split(COMMAND.search(page)[1])


def printed_command_again(page, capsys):
    capsys.readouterr()
    main(printed_command(page)[3:])
    return capsys.readouterr().out.removesuffix("\n")


def names_what_ran(name, page):
    """The command has the data and the encoder, and nothing else on the page speaks of the usual ones."""
    options = [option.name for option in studies.get(name).make().all_options]
    words = printed_command(page)
    assert words[3] == name
    if "--encoder" in options:
        assert words[words.index("--encoder") + 1].endswith("encoder") and "MiniLM" not in page
    if "--data" in options:
        assert "--data" in words
        title = page.partition("\n")[0]
        assert not any(corpus in title.partition(" in place of ")[0] for corpus in CORPORA), title


@pytest.mark.parametrize(("name", "folder"), RESULTS, ids=lambda value: getattr(value, "name", value))
def test_a_page_under_another_encoder_and_other_data_names_them(name, folder):
    """The stored numbers, drawn as if another encoder had been named: so all studies are asked, and none is run."""
    numbers = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    study = studies.get(name).make()
    words = ["--size", next(iter(study.sizes)), "--out", "out"]
    answers = {"--data": "m/texts", "--work": "work", "--encoder": "m/bert", "--lens": "m/lens", "--task": "sst2"}
    for option in study.all_options:
        if option.name in answers:
            choices = option.arguments.get("choices", [answers[option.name]])
            words += [option.name, answers[option.name] if answers[option.name] in choices else choices[0]]
    settings = parse_settings(studies.get(name), study, words)
    record = what_ran.what_ran(study, settings)
    assert what_ran.command_sentence(record).startswith(f"Made by\n`python -m studies {name} ")
    assert all(
        answers[option.name] in record["command"]
        for option in study.all_options
        if option.name in ("--data", "--encoder", "--lens")
    )
    if "--encoder" in words and isinstance(numbers, dict):
        drawn = json.dumps(what_ran.with_encoder(numbers, settings.encoder))
        assert "MiniLM" not in drawn


@pytest.mark.parametrize(("name", "folder"), RESULTS, ids=lambda value: getattr(value, "name", value))
def test_a_stored_page_prints_the_command_of_its_result(name, folder):
    page = (folder / "README.md").read_text(encoding="utf-8")
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    words = printed_command(page)
    assert words[3] == name and words[words.index("--out") + 1] == folder.relative_to(ROOT).as_posix()
    if isinstance(result, dict):
        assert result["ran"]["command"] == shlex.join(words)
