"""What every command that makes a folder promises: damage to any file is seen by `verify`, and mended by the same
command or named.
"""

import json
import shutil

import pytest

import pellucid
from pellucid.base.manifest import MANIFEST
from tests.cli.jobs import commands
from tests.shared.moments import files_of

SMALL = {  # further words of the long commands, which come last and so count
    "train": ["--epochs", 1],
    "compare": ["--limit", 6],
    "lens": ["--head-steps", 2, "--translator-steps", 2],
    "layers": ["--limit", 6],
    "attention": ["--limit", 8],
    "attack": ["--limit", 6],
}
FOLDERS = {"attack": "deepwordbug"}  # below --out, where it is not --out itself
MODEL = {"config.json", "model.safetensors"}
# What only training makes again: the command says so in one sentence.
LASTING = {"train": MODEL, "train-translator": MODEL, "lens": {"lens.json", "lens.safetensors"}}
PAIRS = [(f"a {animal} and {n}", f"ein {animal} und {n}") for animal in ("dog", "cat") for n in range(8)]
SIZES = "--network-set layers=1 --network-set width=16 --network-set heads=2 --pieces 300 --epochs 1".split()
CONCEPTS = "--layer 1 --n 2 --n-texts 2 --method svd --limit 20".split()
NAMES = (*SMALL, "train-translator", "plant", "extract", "concepts find")
pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """The words of each command, but for --out."""
    folder = tmp_path_factory.mktemp("inputs")
    every = {name: [*line, *SMALL[name]] for name, line in commands(folder).items() if name in SMALL}
    pairs = folder / "pairs.jsonl"
    pairs.write_text("".join(json.dumps({"text_a": a, "text_b": b}) + "\n" for a, b in PAIRS))
    every["train-translator"] = ["train-translator", pairs, *SIZES]
    every["plant"] = ["plant", "token", "--n", 20]
    every["extract"] = ["extract", folder / "model", folder / "data", "--extractor", "gradient", "--limit", 4]
    every["concepts find"] = ["concepts", "find", folder / "model", folder / "data", *CONCEPTS]
    return every


@pytest.fixture(scope="module")
def whole_folders(words, tmp_path_factory):
    """Folders of whole runs: (name, seed) -> folder, made when it is first read."""
    return {}


@pytest.fixture
def whole(words, whole_folders, run, tmp_path_factory):
    def folder_of(name, seed=0):
        if (name, seed) not in whole_folders:
            out = tmp_path_factory.mktemp("whole") / "out"
            status, _, err = run(*words[name], "--seed" if seed else "--out", *([seed, "--out"] if seed else []), out)
            assert status == 0, err
            whole_folders[name, seed] = out
        return whole_folders[name, seed]

    return folder_of


def delete(path, _):
    path.unlink()


def truncate(path, _):
    path.write_bytes(path.read_bytes()[:-7])


def empty(path, _):
    path.write_bytes(b"")


def replace(path, other):
    """By that of another run, or by any other file."""
    bytes_before = path.read_bytes()
    same_name = other.read_bytes() if other.is_file() else bytes_before
    path.write_bytes(same_name if same_name != bytes_before else b"{}")


def append_a_script(path, _):
    with path.open("ab") as file:
        file.write(b"<script>alert(1)</script>")


HARMS = (delete, truncate, empty, replace, append_a_script)
CASES = [
    pytest.param(name, harm, id=f"{name}-{harm.__name__}")
    for name in NAMES
    for harm in (HARMS if name == "compare" else (delete, replace))  # what is seen of harm is the same for all
]


@pytest.mark.parametrize(("name", "harm"), CASES)
def test_damage_is_seen_and_mended_or_named(name, harm, words, whole, run, tmp_path):
    """Every second file is missing, then the others; damage of other kinds is in all: each run takes seconds."""
    finished, other, inside = whole(name), whole(name, 1), FOLDERS.get(name, "")
    assert run("verify", finished)[0] == 0
    files = sorted(path for path in files_of(finished / inside) if path != MANIFEST)
    assert len(files) >= 2
    lasting = [file for file in files if file in LASTING.get(name, ())]
    mended = [file for file in files if file not in lasting]
    for number, group in enumerate([*([file] for file in lasting), *batches(mended, harm)]):
        out = tmp_path / str(number)
        shutil.copytree(finished, out)
        for file in group:
            harm(out / inside / file, other / inside / file)
        status, listing, _ = run("verify", out)
        assert status == 1 and ("Missing" if harm is delete else "Changed") in listing
        assert all(file in listing for file in group)
        damaged = files_of(out)
        status, _, err = run(*words[name], "--out", out)
        if group[0] in lasting:
            sentence = err.strip().splitlines()[-1]  # notices about the texts come first
            assert status == 2 and group[0] in sentence and "to train again" in sentence
            assert files_of(out) == damaged
        else:
            assert status == 0, err
            assert "Made again in" in err and all(file in err for file in group)
            assert files_of(out) == files_of(finished), group
            assert run("verify", out)[0] == 0


def batches(files, harm):
    """The files that are damaged together."""
    return [half for half in (files[::2], files[1::2]) if half] if harm is delete else [files] if files else []


@pytest.mark.parametrize(("name", "harm"), CASES)
def test_a_damaged_manifest_is_seen_and_written_again(name, harm, words, whole, run, tmp_path):
    finished, other, inside = whole(name), whole(name, 1), FOLDERS.get(name, "")
    shutil.copytree(finished, tmp_path / "out")
    harm(tmp_path / "out" / inside / MANIFEST, other / inside / MANIFEST)
    assert run("verify", tmp_path / "out")[0] == (2 if harm is delete else 1)
    status, _, err = run(*words[name], "--out", tmp_path / "out")
    if name in ("plant", "extract"):  # without a manifest nothing says that the files are theirs
        assert status == 2 and "is there already" in err
    else:
        assert status == 0, err
        assert files_of(tmp_path / "out") == files_of(finished)


@pytest.mark.parametrize("name", NAMES)
def test_foreign_files_are_listed_and_left_alone(name, words, whole, run, tmp_path):
    out, inside = tmp_path / "out", FOLDERS.get(name, "")
    shutil.copytree(whole(name), out)
    (out / inside / "notes.txt").write_text("mine")
    status, listing, _ = run("verify", out)
    assert status == 0 and "Foreign" in listing and "notes.txt" in listing
    status, _, err = run(*words[name], "--out", out)
    if name not in ("plant", "extract"):  # which write to no folder that has their files
        assert status == 0 and "Not made by this command" in err and "notes.txt" in err
    assert (out / inside / "notes.txt").read_text() == "mine"


def test_verify_prints_json_and_names_of_one_line(whole, run, tmp_path):
    shutil.copytree(whole("plant"), tmp_path / "out")
    (tmp_path / "out" / "a\nout is whole").write_text("")
    (tmp_path / "out" / "dev.jsonl").write_text("")
    status, text, _ = run("verify", tmp_path / "out")
    assert status == 1 and len(text.splitlines()) == 3
    status, text, _ = run("verify", tmp_path / "out", "--json")
    record = json.loads(text)
    assert (status, record["changed"], record["is_whole"]) == (1, ["dev.jsonl"], False)
    assert record["foreign"] == ["a\nout is whole"] and record["checked"] == 3
    status, text, _ = run("verify", tmp_path)  # which itself has none
    assert status == 1 and "out/dev.jsonl" in text
    assert run("verify", tmp_path / "none")[0] == 2


@pytest.mark.parametrize("name", ("attack", "compare", "train"))
def test_a_folder_of_an_earlier_version_gets_its_manifest(name, words, whole, run, tmp_path):
    out, inside = tmp_path / "out", FOLDERS.get(name, "")
    shutil.copytree(whole(name), out)
    (out / inside / MANIFEST).unlink()
    derived = {"attack": "attempts.parquet", "compare": "report.html", "train": "metrics.jsonl"}[name]
    append_a_script(out / inside / derived, None)
    status, _, err = run(*words[name], "--out", out)
    assert status == 0 and f"Made again in {out / inside}" in err and derived in err
    assert files_of(out) == files_of(whole(name))


def test_a_trained_folder_with_its_manifest_is_loaded_and_planted_data_are_trained_on(words, whole, run, tmp_path):
    assert pellucid.load(whole("train")).labels == ("negative", "neutral", "positive")
    assert len(pellucid.examples(whole("plant"), "train")) == 20
    with_manifest = pellucid.examples(whole("plant"), "all")
    shutil.copytree(whole("plant"), tmp_path / "bare", ignore=shutil.ignore_patterns(MANIFEST))
    assert with_manifest == pellucid.examples(tmp_path / "bare", "all")
