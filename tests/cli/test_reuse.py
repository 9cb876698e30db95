"""`--reuse`: what an earlier call has of equal texts is copied bit for bit, and the others are computed; `--estimate`."""

import json

import pandas
import pytest

import pellucid
from pellucid.attacks.question import AttackQuestion
from pellucid.base.errors import BadFile, BadSetting
from pellucid.comparison import compared_part
from pellucid.evidence import extracted_parts
from tests.shared.tiny import LABELS, save_tiny

TEXTS = [f"A {word} film, {how} played." for word in "good bad fine dull slow".split() for how in "well badly".split()]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model; yesterday's texts, and today's: some of these in another order under other ids, and new ones."""
    folder = tmp_path_factory.mktemp("reuse")
    save_tiny(folder / "model", labels=LABELS)
    today = ["A new film.", *reversed(TEXTS[2:]), "A lovely evening, long as it was."]
    for name, texts in (("yesterday", TEXTS), ("today", today)):
        examples = [pellucid.Example((text,), LABELS[0], id=f"{name}-{row}") for row, text in enumerate(texts)]
        pellucid.write_json_lines(examples, folder / name / "test.jsonl")
    return folder, today


COMPUTES = {  # where each analysis computes, and which of its arguments has the texts
    "attack": (AttackQuestion, "attempts", 1),
    "compare": (compared_part, "explained_part", 1),
    "extract": (extracted_parts, "extract_from", 1),
}
WORDS = {
    "attack": ["attack", "model", "--file", "{}", "--attack", "deepwordbug"],
    "compare": ["compare", "model", "{}", "--methods", "gradient,lime", "--metrics", "comprehensiveness"],
    "extract": ["extract", "model", "{}", "--extractor", "gradient", "--parts", "test"],
}


def written(name, folder):
    """Text -> all that an analysis wrote of it."""
    if name == "attack":
        attempts = pellucid.read(folder / "deepwordbug")
        return {attempt.example.segments: (attempt.edits, attempt.queries, attempt.after) for attempt in attempts}
    if name == "extract":
        lines = map(json.loads, (folder / "test.jsonl").read_text().splitlines())
        return {tuple(line["original"]): {**line, "id": ""} for line in lines}
    of_text, texts = {}, {}
    for explanation in pellucid.read(folder / "parts" / "0000.parquet"):
        texts[explanation.example.id] = explanation.example.segments
        of_text.setdefault(explanation.example.segments, []).append(explanation.scores.tobytes())
    for row in pandas.read_parquet(folder / "values.parquet").itertuples():
        of_text[texts[row.example]].append((row.method, row.metric, row.draw, row.value))
    return of_text


@pytest.mark.parametrize("name", WORDS)
def test_equal_texts_are_copied_bit_for_bit_and_only_the_others_computed(run, place, name, monkeypatch):
    folder, today = place
    monkeypatch.chdir(folder)

    def call(day, *more):
        status, _, err = run(*[word.format(day) for word in WORDS[name]], *more)
        assert status == 0, err
        return err

    call("yesterday", "--out", f"{name}-1")
    (owner, attribute, place_of_texts), computed = COMPUTES[name], set()
    compute = getattr(owner, attribute)

    def noted(*arguments, **more):
        texts = arguments[place_of_texts]
        computed.update(example.segments for example in getattr(texts, "examples", texts))
        return compute(*arguments, **more)

    monkeypatch.setattr(owner, attribute, noted)
    assert "8 of 10 texts" in call("today", "--out", f"{name}-2", "--reuse", f"{name}-1")
    before, now = written(name, folder / f"{name}-1"), written(name, folder / f"{name}-2")
    assert {text for (text,) in now} == set(today)
    assert computed == now.keys() - before.keys() and len(computed) == 2
    assert all(now[text] == before[text] for text in now.keys() & before.keys())


def test_another_question_is_not_reused(place, tmp_path, monkeypatch):
    folder, _ = place
    monkeypatch.chdir(folder)
    model, texts = pellucid.load("model"), [("A good film.", LABELS[0]), ("A bad film.", LABELS[1])]
    first = {"folder": tmp_path / "first", "progress": False}
    pellucid.attack(model, texts, "deepwordbug", **first)
    with pytest.raises(BadFile, match=r"cannot be reused .*seed was 0 and is 1"):
        pellucid.attack(model, texts, "deepwordbug", seed=1, folder=tmp_path / "second", reuse=tmp_path / "first")
    with pytest.raises(BadFile, match="holds no attempts"):
        pellucid.attack(model, texts, "deepwordbug", folder=tmp_path / "second", reuse=tmp_path / "none")
    pellucid.compare(model, texts, ["gradient"], ["sufficiency"], folder=tmp_path / "compared", progress=False)
    new = {"folder": tmp_path / "third", "reuse": tmp_path / "compared", "progress": False}
    with pytest.raises(BadFile, match="its metrics lack comprehensiveness"):
        pellucid.compare(model, texts, ["gradient"], ["comprehensiveness"], **new)
    with pytest.raises(BadFile, match="seed was 0 and is 1"):
        pellucid.compare(model, texts, ["gradient"], ["sufficiency"], seed=1, **new)
    with pytest.raises(BadSetting, match="copies into a folder"):
        pellucid.compare(model, texts, ["gradient"], ["sufficiency"], reuse=tmp_path / "compared")


def test_a_damaged_part_is_computed_again(place, tmp_path):
    folder, _ = place
    model, texts = pellucid.load(folder / "model"), [(text, LABELS[0]) for text in TEXTS]
    ask = {"methods": ["gradient"], "metrics": ["sufficiency"], "progress": False}
    table = pellucid.compare(model, texts, folder=tmp_path / "first", **ask)
    (tmp_path / "first" / "parts" / "0000.parquet").write_bytes(b"PAR1")
    again = pellucid.compare(model, texts, folder=tmp_path / "second", reuse=tmp_path / "first", **ask)
    assert again.cell("gradient", "sufficiency") == table.cell("gradient", "sufficiency")


def test_a_changed_file_of_an_earlier_extraction_is_named_and_not_copied(run, place, monkeypatch, tmp_path):
    folder, _ = place
    monkeypatch.chdir(folder)
    words = [word.format("yesterday") for word in WORDS["extract"]]
    assert run(*words, "--out", tmp_path / "first")[0] == 0
    file = tmp_path / "first" / "test.jsonl"
    written = file.read_text()
    file.write_text(written.replace('"spans": [[0', '"spans": [[1', 1))
    status, _, err = run(*words, "--out", tmp_path / "second", "--reuse", tmp_path / "first")
    assert status == 0 and "test.jsonl is not as `pellucid extract` wrote it" in err and "0 of 10 texts" in err
    assert (tmp_path / "second" / "test.jsonl").read_text() == written


@pytest.mark.parametrize("name", WORDS)
def test_an_estimate_writes_nothing(run, place, name, monkeypatch):
    folder, _ = place
    monkeypatch.chdir(folder)
    words = [word.format("yesterday") for word in WORDS[name]]
    status, out, err = run(*words, "--out", "estimated", "--estimate", "--workers", 2)
    assert status == 0 and not (folder / "estimated").exists(), err
    status, _, err = run(*words, "--out", "estimated", "--estimate", "--reuse", "none")
    assert status == 2 and "none" in err and err.count("\n") == 1
    if name == "compare":
        assert "10 texts are too few for an estimate" in out
    else:
        assert "10 texts by 2 workers: about" in out and "judged by 10 texts" in out
