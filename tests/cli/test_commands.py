"""The command line: what it prints, what it writes, and one clear sentence with status 2 when something is wrong."""

import json

import pytest
from transformers import AutoModel, AutoTokenizer

import pellucid
from tests.shared.parsed import parsed
from tests.shared.tiny import save_tiny


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A classifier's folder, as its trainer would have left it."""
    return str(save_tiny(tmp_path_factory.mktemp("classifier"), id2label={0: "bad", 1: "so-so", 2: "good"}))


def test_explain_draws_each_text(run, saved):
    status, out, _ = run("explain", saved, "A gripping, lovely film.", "Dull.", "--method", "occlusion")
    assert status == 0
    assert "gripping" in out and "Dull" in out


def test_a_text_with_an_error_is_left_out_where_the_others_are_to_stay(run, saved):
    words = ["explain", saved, "A lovely film.", "\u200b", "--method", "occlusion"]
    status, out, err = run(*words)
    assert status == 2 and "lovely" not in out and len(err.splitlines()) == 1
    status, out, err = run(*words, "--on-error", "keep")
    assert status == 0 and "lovely" in out and "1 text could not be explained (row 1: " in out + err
    status, _, err = run(*words, "--on-error", "raise")
    assert status == 2 and "--on-error='raise' is not possible; give one of keep, stop." in err


def test_explain_prints_json_that_reads_back(run, saved, tmp_path):
    status, out, _ = run(
        "explain",
        saved,
        "A lovely film.",
        "--method",
        "gradient",
        "--json",
        "--save",
        tmp_path / "run.parquet",
    )
    assert status == 0
    (record,) = json.loads(out)
    (saved_explanation,) = pellucid.read(tmp_path / "run.parquet")
    assert record["scores"] == saved_explanation.scores.tolist()
    assert record["classes"] == ["bad", "so-so", "good"]


def test_explain_reads_standard_input_a_file_and_a_pair(run, saved, tmp_path):
    (tmp_path / "texts.txt").write_text("one fine text\n\nanother\n", encoding="utf-8")
    assert len(json.loads(run("explain", saved, "-", "--json", stdin="first\nsecond\nthird\n")[1])) == 3
    assert len(json.loads(run("explain", saved, "--file", tmp_path / "texts.txt", "--json")[1])) == 2
    (pair,) = json.loads(run("explain", saved, "a premise", "--second", "a hypothesis", "--json")[1])
    assert pair["segments"] == ["a premise", "a hypothesis"]


def test_settings_target_and_contrast_reach_the_method(run, saved):
    words = (
        "--set",
        "n_steps=4",
        "--set",
        "baselines=mask",
        "--target",
        "good",
        "--against",
        "bad",
        "--json",
    )
    (record,) = json.loads(run("explain", saved, "A lovely film.", *words)[1])
    assert json.loads(record["settings"])["n_steps"] == 4
    assert (record["target_label"], record["target_against"]) == ("good", "bad")


def test_all_methods_stand_side_by_side(run, saved, tmp_path):
    page, results = tmp_path / "page.html", tmp_path / "run.json"
    words = ("--methods", "all", "--set", "integrated_gradients.n_steps=2", "--html", page, "--save", results)
    status, out, _ = run("explain", saved, "A lovely film.", *words)
    methods = [one.method for one in pellucid.read(results)]
    assert status == 0 and {"integrated_gradients(n_steps=2)", "chance", "attention"} <= set(methods)
    assert "integrated gradients (n_steps=2)" in out and out.count("1 = ") == len(methods)
    assert "pooler='span'): span_attention" in " ".join(out.split())  # where lines break depends on the path
    assert page.read_text(encoding="utf-8").count('class="pl-row"') == len(methods)


def test_several_methods_are_named_with_commas(run, saved):
    records = json.loads(run("explain", saved, "A lovely film.", "--methods", "occlusion,gradient", "--json")[1])
    assert [one["method"] for one in records] == ["occlusion", "gradient"]
    words = ("--methods", "occlusion,gradient", "--set", "gradient.norm=l1", "--json")
    records = json.loads(run("explain", saved, "A lovely film.", *words)[1])
    assert [one["method"] for one in records] == ["occlusion", "gradient(norm=l1)"]


def test_explain_and_compare_write_reports(run, saved, tmp_path):
    data = tmp_path / "data.jsonl"
    rows = [
        {"id": "a", "text": "A lovely film", "label": "good", "evidence": [[2, 8]]},
        {"id": "b", "text": "Dull", "label": "bad"},
    ]
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert run("explain", saved, "<script>alert(1)</script>", "--html", tmp_path / "one.html")[0] == 0
    words = ("--methods", "gradient,occlusion", "--metrics", "comprehensiveness,auprc", "--resamples", "50")
    status, out, _ = run(
        "compare", saved, data, *words, "--html", tmp_path / "two.html", "--save", tmp_path / "table.json"
    )
    assert status == 0 and "occlusion" in out
    assert pellucid.Table.read(tmp_path / "table.json").methods == ("gradient", "occlusion", "chance")
    for name in ("one.html", "two.html"):
        assert "<script" not in (tmp_path / name).read_text(encoding="utf-8")


def test_a_comparison_of_saved_explanations_asks_the_model_for_no_answer_again(run, saved, tmp_path, monkeypatch):
    data, results, page = tmp_path / "data.jsonl", tmp_path / "results.json", tmp_path / "page.html"
    rows = [{"id": "a", "text": "A lovely film", "label": "good"}, {"id": "b", "text": "Dull", "label": "bad"}]
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    assert run("explain", saved, "--file", data, "--method", "occlusion", "--save", results)[0] == 0
    monkeypatch.setattr(pellucid, "predict", lambda *_, **__: pytest.fail("a second prediction"))
    words = ("--explained", results, "--metrics", "comprehensiveness", "--resamples", "50", "--html", page)
    status, _, err = run("compare", saved, *words)
    assert status == 0, err
    assert "A lovely film" in parsed(page.read_text(encoding="utf-8")).text


def test_methods_names_every_method_with_its_paper(run):
    _, out, _ = run("methods")
    listed = json.loads(run("methods", "--json")[1])
    assert {entry["name"] for entry in listed} >= {
        "gradient",
        "occlusion",
        "integrated_gradients",
        "span_attention",
    }
    assert all(entry["name"] in out for entry in listed)
    assert all(entry["summary"] and entry["paper"] for entry in listed)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("explain", "MODEL", "x", "--method", "integrated_gradient"),
            "Did you mean 'integrated_gradients'?",
        ),
        (("explain", "MODEL", "x", "--set", "n_stepz=3"), "Did you mean 'n_steps'?"),
        (("explain", "MODEL", "x", "--methods", "all", "--set", "n_steps=3"), "--set METHOD.n_steps="),
        (
            ("explain", "MODEL", "x", "--methods", "all", "--set", "lome.n=3"),
            "attribution method is called 'lome'",
        ),
        (("explain", "MODEL", "x", "--set", "lime.n=3"), "lime is not among the methods to run"),
        (("explain", "MODEL", "x", "--set", "n_steps=0"), "n_steps=0 is too small"),
        (("explain", "MODEL", "x", "--set", "n_steps"), "not name=value"),
        (("explain", "MODEL", "x", "--target", "god"), "Did you mean 'good'?"),
        (("explain", "MODEL", "x", "--target", "gold"), "has no label"),
        (("explain", "MODEL", "x", "--method", "span_attention"), "has no span weights"),
        (("explain", "MODEL", "  "), "A text is empty"),
        (("explain", "MODEL", "--file", "/nowhere/texts.txt"), "/nowhere/texts.txt"),
        (("explain", "MODEL", "x", "--save", "run.pickle"), ".parquet or .json"),
        (("explain", "MODEL", "x", "--html", "/proc/nothing/report.html"), "Cannot write"),
        (("explain", "MODEL", "x", "--dtype", "int8"), "float32"),
        (("explain", "/nowhere/model", "x"), "There is no folder"),
        (("compare", "MODEL", "pockett"), "Did you mean 'pocket'?"),
        (("compare", "MODEL", "/nowhere.jsonl"), "There is no file"),
        (("train", "pocket", "--out", "OUT", "--encoder", "/nowhere/encoder"), "Cannot load the encoder"),
        (("train", "pocket", "--out", "OUT", "--pooler", "spam"), "Did you mean 'span'?"),
        (("train", "pocket", "--out", "OUT", "--max-length", "5000"), "number from 8 to 4096"),
        (("train", "pocket", "--out", "OUT", "--penalty", "concentraton=1"), "Did you mean 'concentration'?"),
        (("train", "pocket", "--out", "OUT", "--objective", "masked_word=1"), "Did you mean 'masked_words'?"),
        (
            ("train", "pocket", "--out", "OUT", "--objective-set", "share=0.2"),
            "does not say of what it is a setting; write OWNER.NAME=VALUE",
        ),
        (
            ("train", "pocket", "--out", "OUT", "--objective", "imitation=1"),
            "needs another model; give its folder",
        ),
        (
            ("train", "pocket", "--out", "OUT", "--recipe", "epochs=2"),
            "No setting of --recipe is called 'epochs'",
        ),
        (("train", "pocket", "--out", "OUT", "--recipe", "dropout=1"), "dropout=1 is out of range"),
        (("train", "pocket", "--out", "OUT", "--recipe", "sun2021"), "No recipe is called 'sun2021'"),
        (
            ("train", "pocket", "--out", "OUT", "--recipe", "sun2020", "--recipe", "believable"),
            "--recipe has 2 names, sun2020, believable",
        ),
        (("train", "pocket", "--out", "OUT", "--spans", "0.5"), "spans=0.5 is too small"),
        (
            ("train", "pocket", "--out", "OUT", "--pooler", "mean", "--spans", "2"),
            "which only pooler='span' with weights='learned'",
        ),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_status_2(run, saved, tmp_path, words, message):
    places = {"MODEL": saved, "OUT": tmp_path / "out"}
    status, out, err = run(*(places.get(word, word) for word in words))
    assert status == 2
    assert message in err
    assert err.count("\n") == 1 and "Traceback" not in err and out == ""


def test_a_model_without_a_head_is_refused(run, tmp_path):
    save_tiny(tmp_path / "whole")
    AutoModel.from_pretrained(tmp_path / "whole").save_pretrained(tmp_path / "headless")
    AutoTokenizer.from_pretrained(tmp_path / "whole").save_pretrained(tmp_path / "headless")
    status, _, err = run("explain", tmp_path / "headless", "x")
    assert status == 2 and "no trained classification head" in err


def test_errors_and_compare_take_saved_explanations_in_place_of_data(run, saved, tmp_path):
    data = tmp_path / "data.jsonl"
    rows = [{"text": text, "label": label} for text, label in (("A lovely film.", "good"), ("Dull.", "bad"))]
    data.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    explained = tmp_path / "explained.parquet"
    assert run("explain", saved, data, "--method", "occlusion", "--save", explained)[0] == 0
    metric = ("--metrics", "comprehensiveness", "--resamples", 20)
    status, out, err = run("compare", saved, "--explained", explained, *metric)
    assert status == 0 and "occlusion" in out, err
    assert err.startswith("Advice takes 100 texts or more; 2 texts give intervals only.")
    assert out == run("compare", saved, data, "--methods", "occlusion", *metric)[1]
    status, out, err = run("errors", saved, "--explained", explained)
    assert status == 0 and out == run("errors", saved, data, "--method", "occlusion")[1], err
    status, _, err = run("errors", saved)
    assert status == 2 and "--explained FILE" in err
