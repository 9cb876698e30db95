"""The command line, whatever is typed: an answer, or one sentence and status 2; never a trace of Python."""

import json

import pytest
from hypothesis import strategies as st

import pellucid
from tests.hostile.assertions import assert_safe_to_print
from tests.hostile.command_line import run
from tests.hostile.generated_cases import generated
from tests.hostile.input_strategies import names, texts
from tests.shared.tiny import LABELS, save_tiny

METHODS = st.one_of(st.sampled_from(["gradient", "chance", "attention", "span_attention", "Gradient"]), names())
SETTINGS = st.one_of(
    st.sampled_from(["n_draws=2", "norm=l1", "norm", "=", "n_draws=-1", "n_draws=NaN", "unit=[]"]), names()
)
TARGETS = st.one_of(st.sampled_from(["predicted", "gold", *LABELS, "0", "9", "-1", "²", "٣"]), names())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    return str(save_tiny(tmp_path_factory.mktemp("classifier"), labels=LABELS))


def ends_well(status, out, err):
    """One sentence on standard error where something is wrong; nothing that a terminal would obey."""
    assert status in (0, 2)
    assert "Traceback" not in out + err
    assert_safe_to_print(out)
    assert_safe_to_print(err)
    if status and "Usage:" not in out + err:
        assert err.count("\n") == 1 and len(err) < 1500 and out == "", err


@generated(
    20,
    700,
    text=st.lists(texts(), max_size=2),
    stdin=texts(surrogates=False),
    method=METHODS,
    settings=st.lists(SETTINGS, max_size=2),
    target=TARGETS,
    more=st.sampled_from(
        [
            [],
            ["--json"],
            ["--against", "neutral"],
            ["--output", "loss"],
            ["--second", "<b>"],
            ["--seed", "-1"],
        ]
    ),
)
def test_explaining_anything_ends_well(*, saved, text, stdin, method, settings, target, more):
    words = ["explain", saved, "--method", method, "--target", target, *more]
    words += [word for setting in settings for word in ("--set", setting)]
    status, out, err = run([*words, "--", *text] if text else words, stdin)
    if "--json" in more and not status:
        json.loads(out)
        return
    ends_well(status, out, err)


@generated(15, 300, name=names(surrogates=True), ending=st.sampled_from([".json", ".parquet", ".html", ""]))
def test_writing_anywhere_ends_well(saved, tmp_path_factory, name, ending):
    folder = tmp_path_factory.mktemp("written")
    option = "--html" if ending == ".html" else "--save"
    place = f"{folder}/{name.replace('/', '_')}{ending}"
    ends_well(*run(["explain", saved, "A fine film.", "--method", "gradient", option, place]))


@generated(
    20,
    300,
    words=st.lists(st.one_of(names(), st.sampled_from(["explain", "compare", "train", "--help"])), max_size=4),
)
def test_any_words_end_well(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    ends_well(*run(words))


@generated(
    20,
    400,
    rows=st.lists(
        st.one_of(
            st.builds(
                lambda text, label: json.dumps({"text": text, "label": label}),
                texts(),
                st.sampled_from(LABELS),
            ),
            st.dictionaries(st.sampled_from(["text", "label", "id", "evidence", "text_a"]), names()).map(json.dumps),
            names(),
        ),
        min_size=1,
        max_size=3,
    ),
    skip=st.booleans(),
)
def test_data_of_any_kind_end_well(saved, folder, rows, skip):
    path = folder / "data.jsonl"
    path.write_bytes("\n".join(rows).encode("utf-8", "surrogatepass"))
    words = [
        "explain",
        saved,
        "--file",
        str(path),
        "--method",
        "gradient",
        *(["--skip-bad-rows"] if skip else []),
    ]
    status, out, err = run(words)
    assert status in (0, 2) and "Traceback" not in err
    assert_safe_to_print(out + err)


def test_a_report_of_hostile_words_holds_them_as_text(saved, tmp_path):
    text = "<script>window.__ran=1</script>"
    status, _, _ = run(["explain", saved, text, "--method", "gradient", "--html", str(tmp_path / "<b>.html")])
    assert status == 0
    assert "<script" not in (tmp_path / "<b>.html").read_text(encoding="utf-8")
    assert pellucid.load(saved).labels == LABELS


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["explan", "x"], "Did you mean 'explain'?"),
        (
            ["concepts", "model", "A film."],
            "Give --word W, a word of the text, to ask what layers hold of it, or --learnt FOLDER, made by `pellucid "
            "concepts find`, to ask which concepts the text has; one of the two.",
        ),
        (["explain", "model", "A film.", "--nonsense"], "No such option: --nonsense"),
        (["compare"], "Missing argument 'model'"),
        (["explain", "model", "A film.", "--limit", "x"], "Invalid value for '--limit'"),
    ],
)
def test_words_that_do_not_fit_end_in_one_sentence(words, sentence):
    status, out, err = run(words)
    assert (status, out, err.count("\n")) == (2, "", 1), err
    assert sentence in err
