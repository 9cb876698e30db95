"""Reasons are planted in any texts of a user, which do not change otherwise, or a clear sentence says why not."""

import json

import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, UnknownName
from pellucid.base.kinds import reasons
from pellucid.data.plant import WORDS, edited
from pellucid.text.example import Example
from tests.data.test_every_reason import everything, made_up, without
from tests.reference.planted import REFERENCES

STRANGE = (
    "Two emoji 👩‍👩‍👧👍 and שלום עולם in one text",
    "  blanks\taround \n\n  and several   lines \r\n of it\u00a0all  ",
    "我 喜欢 这部 电影。",
    "e\u0301te\u0301 c\u0327a \u0301loin …",
    "'quoted' (bracketed) [[marked]] \\1 \\g<0> $5 .* a|b",
    "don't re-do it — ever",
)
TEXTS = [f"{text} {number}" if number % 2 else f"{number} {text}" for number in range(10) for text in STRANGE]


@pytest.fixture(params=reasons.names())
def reason(request):
    return request.param


def test_any_script_is_carried_unchanged(reason):
    words, decoys = made_up(reason)
    for example in everything(pellucid.plant(reason, TEXTS, n=60)):
        assert without(example.segments, [*words, *decoys]) == (TEXTS[int(example.meta["carrier"])],)
        label, causes = REFERENCES[reason].rule(example.segments, words)
        assert label == example.label
        assert [example.text[mark.start : mark.end] for mark in example.rationales] == causes


@pytest.mark.parametrize("name", [name for name in reasons.names() if REFERENCES[name].n_words == 1])
def test_one_word_is_text_enough(name):
    words, _ = made_up(name)
    texts = [("fine", "电影")[number % 2] + str(number) for number in range(40)]
    for distractor in (0.9, None):
        for example in everything(pellucid.plant(name, texts, n=40, distractor=distractor)):
            assert REFERENCES[name].rule(example.segments, words)[0] == example.label


def test_a_text_too_short_for_a_reason_is_named():
    with pytest.raises(
        BadInput, match=r"The text '\d+' cannot carry span: 2 places for words are too few, 3 are needed"
    ):
        pellucid.plant("span", [f"word{number}" for number in range(40)], n=20, distractor=None)


def test_a_folder_keeps_its_parts_and_a_text_that_comes_again_is_left_out(tmp_path):
    texts = {"train": "one two three", "dev": "four five six", "test": "seven eight nine"}
    for part, text in texts.items():
        rows = [
            {"text": "a text of all parts"},
            *({"text": f"{text} {number}", "label": "?"} for number in range(5)),
        ]
        (tmp_path / f"{part}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    parts = pellucid.plant("token", tmp_path, n=50)
    for part, examples in parts.items():
        carriers = {without([example.text], WORDS)[0] for example in examples}
        allowed = {f"{texts[part]} {number}" for number in range(5)}
        assert carriers == (allowed | {"a text of all parts"} if part == "train" else allowed)


def test_one_file_is_cut_into_parts(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_text("\n".join(json.dumps({"text": f"text number {number}"}) for number in range(40)), encoding="utf-8")
    parts = pellucid.plant("order", path, n=20)
    carriers = [{example.meta["carrier"] for example in examples} for examples in parts.values()]
    assert all(carriers) and sum(map(len, carriers)) == len(set.union(*carriers))


def test_pairs_carry_reasons_in_both_texts(reason):
    pairs = [(f"The first text is number {number}.", f"And a second one, {number}.") for number in range(60)]
    segments = {mark.segment for example in everything(pellucid.plant(reason, pairs)) for mark in example.rationales}
    assert segments == ({0, 1} if REFERENCES[reason].in_both_texts else {0})


def test_made_up_words_that_a_text_holds_are_passed_over():
    texts = [f"Number {number}: the DAX rose, said Mr Wug." for number in range(40)]
    for example in everything(pellucid.plant("token", texts, n=20)):
        (mark,) = example.rationales
        assert example.text[mark.start : mark.end] in ("blicket", "fep")


def test_texts_that_were_planted_before_raise():
    with pytest.raises(BadInput, match="was something planted in them before"):
        pellucid.plant("lexicon", pellucid.plant("lexicon", n=200)["train"])


@pytest.mark.parametrize("texts", ([], ["one", "two"]), ids=("none", "two"))
def test_too_few_texts_for_three_parts_raise(texts):
    with pytest.raises(BadInput, match="part has no text to plant in"):
        pellucid.plant("token", texts)


def test_wrong_settings_raise():
    with pytest.raises(UnknownName, match=r"No planted reason is called 'tokens'\. Did you mean 'token'\?"):
        pellucid.plant("tokens")
    with pytest.raises(UnknownName, match="No setting of lexicon is called 'per_texts'"):
        pellucid.plant("lexicon", per_texts=3)
    for wrong, message in (
        ({"n": 5}, "n=5 is out of range; give a whole number from 10"),
        ({"n": 20.5}, "n=20.5 is no whole number"),
        ({"distractor": 1.5}, "distractor=1.5 is out of range"),
        ({"distractor": "often"}, "distractor='often' is not possible"),
    ):
        with pytest.raises(BadSetting, match=message):
            pellucid.plant("token", **wrong)
    for per_text, message in (
        (4, "per_text=4 is even"),
        (21, "per_text=21 is out of range"),
        (0, "per_text=0"),
    ):
        with pytest.raises(BadSetting, match=message):
            pellucid.plant("lexicon", per_text=per_text)


def test_an_unknown_source_raises():
    with pytest.raises(UnknownName, match="Did you mean 'pocket'"):
        pellucid.plant("token", "poket")
    with pytest.raises(BadFile, match="no/such"):
        pellucid.plant("token", "no/such")


def test_other_texts_in_the_folder_are_not_overwritten(tmp_path):
    (tmp_path / "test.jsonl").write_text('{"text": "mine"}\n', encoding="utf-8")
    with pytest.raises(BadFile, match=r"test\.jsonl is there already; give another folder"):
        pellucid.plant("token", n=20, out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["test.jsonl"]
    assert (tmp_path / "test.jsonl").read_text(encoding="utf-8") == '{"text": "mine"}\n'


def test_examples_without_edits_are_refused():
    with pytest.raises(
        BadInput, match=r"1 examples \(first: 'a'\) carry no counterfactual; give texts that pellucid\.plant"
    ):
        edited([Example(("text",), id="a")], "counterfactual")
