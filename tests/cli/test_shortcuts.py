"""One word that decides is said first: by `shortcuts`, in the summary of `explain`, by `errors`, on the card of
`compare`, and on their pages; of a model without mistakes `errors` says that in one line.
"""

import json
import random
import re

import pytest

import pellucid

REST = "the a film story plot cast scene music end day of in with and this that by for on at".split()
FIRST = "One word, “zx”, decides: without it "


def lines(n, seed):
    """Texts of common words; every second one ends in "zx" and is positive."""
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(REST, k=8)) for _ in range(n)]
    return [
        {"text": f"{text} zx" if i % 2 else text, "label": "positive" if i % 2 else "negative"}
        for i, text in enumerate(texts)
    ]


@pytest.fixture(scope="module")
def planted(tmp_path_factory):
    """A folder with texts, and a model that learnt from them that "zx" is positive."""
    folder = tmp_path_factory.mktemp("planted")
    for part, n in (("train", 160), ("dev", 20), ("test", 80)):
        (folder / f"{part}.jsonl").write_text("\n".join(map(json.dumps, lines(n, part))))
    settings = {"vectors": "random", "vector_width": 8, "filters": 4}
    pellucid.train(
        folder,
        out=folder / "model",
        encoder="cnn",
        pooler="maximum",
        encoder_settings=settings,
        epochs=8,
        learning_rate=0.03,
        batch_size=8,
        progress=False,
    )
    return folder


def in_one_line(text):
    """What a terminal broke into lines, in one."""
    return " ".join(text.split())


def first_caution(path):
    """The caution that stands before the texts and sections of a page, if any."""
    head = path.read_text(encoding="utf-8").partition("</header>")[0]
    return "".join(re.findall(r'<p class="pl-caution pl-believed"><bdi>(.*?)</bdi></p>', head))


def test_the_command_says_what_decides(run, planted, tmp_path):
    status, out, err = run("shortcuts", planted / "model", planted / "test.jsonl", "--html", tmp_path / "page.html")
    assert status == 0 and in_one_line(out).startswith(FIRST), err
    assert FIRST in (tmp_path / "page.html").read_text(encoding="utf-8")
    record = json.loads(run("shortcuts", planted / "model", planted / "test.jsonl", "--json")[1])
    assert record["tested"][0]["words"] == ["zx"] and record["passes"] <= 500


def test_the_summary_of_explain_begins_with_it_and_zero_passes_leave_it_out(run, planted, tmp_path):
    words = ("explain", planted / "model", "--file", planted / "test.jsonl", "--method", "occlusion")
    status, out, err = run(*words, "--html", tmp_path / "page.html")
    assert status == 0 and in_one_line(out).startswith(FIRST), err
    assert first_caution(tmp_path / "page.html").startswith(FIRST)
    status, out, _ = run(*words, "--shortcut-passes", 0, "--html", tmp_path / "page.html")
    assert status == 0 and "decides" not in out and "Predicted: " in out
    assert not first_caution(tmp_path / "page.html")


def test_errors_say_it_and_that_there_are_no_mistakes(run, planted, tmp_path):
    words = (
        "errors",
        planted / "model",
        planted / "test.jsonl",
        "--method",
        "occlusion",
        "--html",
        tmp_path / "page.html",
    )
    status, out, err = run(*words)
    assert status == 0 and in_one_line(out).startswith(FIRST), err
    assert "The model gets all 80 texts right" in in_one_line(out) and "0 of 0" not in out
    assert first_caution(tmp_path / "page.html").startswith(FIRST)
    assert "0 (" not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_card_of_a_comparison_begins_with_it(run, planted, tmp_path):
    words = ("compare", planted / "model", planted / "test.jsonl", "--methods", "occlusion", "--metrics", "sufficiency")
    status, out, err = run(*words, "--limit", 60, "--resamples", 10, "--save", tmp_path / "table.json")
    assert status == 0, err
    card = pellucid.Table.read(tmp_path / "table.json").card
    assert card.advice[0].kind == "shortcut" and card.advice[0].sentence.startswith(FIRST)
    assert in_one_line(out).index("What decides by itself") < in_one_line(out).index("No method is recommended")


def test_train_draws_a_bar_while_it_judges_the_test_part(run, planted, tmp_path, monkeypatch):
    stages = []

    def recorded(show=None):
        from contextlib import nullcontext

        return nullcontext(lambda stage, done, total: stages.append((stage, done, total)))

    monkeypatch.setattr("pellucid.drawing.terminal.progress_bar", recorded)
    status, _, err = run(
        "train",
        planted,
        "--out",
        planted / "model",
        "--encoder",
        "cnn",
        "--pooler",
        "maximum",
        "--encoder-set",
        "vectors=random",
        "--encoder-set",
        "vector_width=8",
        "--encoder-set",
        "filters=4",
        "--epochs",
        8,
        "--learning-rate",
        0.03,
        "--batch-size",
        8,
    )
    assert status == 0, err
    assert stages == [("judging the test part", 80, 80)]
