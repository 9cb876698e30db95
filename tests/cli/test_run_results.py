"""A run goes where results go: pages, files, words, differences, checks of its folder, and in place of explaining again."""

import gc
import itertools
import json
import re
import shutil

import pytest

import pellucid
from pellucid.base.errors import BadInput
from pellucid.corpus import page
from pellucid.errors import door as errors_door
from pellucid.results.explanation import Explanation
from pellucid.versions import door as versions_door
from pellucid.versions import page as difference_page
from tests.shared.moments import files_of
from tests.shared.tiny import LABELS, save_tiny
from tests.test_start import COMMAND_LINE, heavy_modules

TEXTS = [(f"A good film, number {n}." if n % 3 else f"Dull {n % 4}.", "positive") for n in range(30)]


def answer(texts):
    if any("number 8" in text for text in texts):
        raise RuntimeError("this word has no vector")
    return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]


@pytest.fixture(scope="module")
def model():
    return pellucid.from_function(answer, ["negative", "positive"])


@pytest.fixture(scope="module")
def whole(model, tmp_path_factory):
    """A run of 30 labelled texts, some of them equal, one of which fails."""
    folder = tmp_path_factory.mktemp("results") / "run"
    return pellucid.explain_corpus(model, TEXTS, "occlusion", folder=folder, progress=False)


def test_a_run_of_more_texts_than_a_page_has_an_index_of_pages(run, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "TEXTS", 12)
    out = tmp_path / "a page#1.html"
    assert run("report", whole.path, "--out", out) == (0, "", f"Written: {out}\n")
    index = out.read_text(encoding="utf-8")
    links = re.findall(r'href="([^"#]+)"', index)
    assert links == [f"a%20page%231-pages/000{number}.html" for number in (1, 2, 3)]
    assert "29 texts" in index and "<bdi>1 to 12</bdi>" in index and "<bdi>25 to 29</bdi>" in index
    assert re.search(r"<bdi>negative</bdi></th><td><bdi>10</bdi></td><td><bdi>10</bdi>", index)  # all of them wrong
    pages = [(tmp_path / "a page#1-pages" / f"000{number}.html").read_text(encoding="utf-8") for number in (1, 2, 3)]
    assert all('href="../a%20page%231.html"' in text and "Mistakes come first" in text for text in pages)
    for explanation in whole:
        (shown,) = [n for n, text in enumerate(pages) if f'pl-nr"><bdi>{explanation.example.id}</bdi>' in text]
        assert shown == list(whole).index(explanation) // 12
    assert "http" not in re.sub(r"<style>.*</style>|http-equiv", "", index)


def test_the_address_of_a_run_goes_where_its_folder_goes(run, model, whole, tmp_path, monkeypatch):
    monkeypatch.setenv("PELLUCID_CACHE", str(tmp_path / "cache"))
    address = f"file://{tmp_path}/store/run"
    pellucid.explain_corpus(model, TEXTS, "occlusion", folder=address, progress=False)
    for words in (["words", "--json"], ["diff", whole.path, "--json"]):
        of_folder, of_address = (run(words[0], place, *words[1:]) for place in (whole.path, address))
        assert of_address == of_folder and of_folder[1].startswith("{")
    outs = [("save", "all.csv"), ("report", "--out", "page.html"), ("figure", "--out", "words.svg")]
    for command, *options in outs:
        contents = []
        for place in (whole.path, address):
            status, _, error = run(command, place, *options[:-1], tmp_path / options[-1])
            assert status == 0, error
            contents.append((tmp_path / options[-1]).read_bytes())
        assert contents[0] == contents[1]
    status, _, error = run("words", f"file://{tmp_path}/none")
    assert status == 2 and "holds no run" in error


def test_pages_of_several_methods_follow_each_other(model, tmp_path, monkeypatch):
    both = pellucid.explain_corpus(model, TEXTS, ["occlusion", "lime"], folder=tmp_path / "run", progress=False)
    side_by_side = pellucid.report(both, path=tmp_path / "few.html").read_text(encoding="utf-8")
    assert "occlusion" in side_by_side and "lime" in side_by_side and not (tmp_path / "few-pages").exists()
    monkeypatch.setattr(page, "TEXTS", 20)
    index = pellucid.report(both, path=tmp_path / "many.html").read_text(encoding="utf-8")
    first, second = index.rsplit("The texts, by lime", 1)
    assert "The texts, by occlusion" in first and "0002.html" in first and "29 texts" in first
    assert "0003.html" in second and "<bdi>1 to 20</bdi>" in second


def test_a_run_of_few_texts_is_one_page_and_pages_of_long_texts_have_fewer(whole, tmp_path, monkeypatch):
    few = pellucid.report(whole, path=tmp_path / "few.html")
    assert few.read_bytes() == pellucid.report(whole[:], path=tmp_path / "results.html").read_bytes()
    assert not (tmp_path / "few-pages").exists()
    longest = max(len(text) for text, _ in TEXTS)
    monkeypatch.setattr(page, "CHARACTERS", 3 * longest)
    pellucid.report(whole, path=tmp_path / "long.html", about={"by": "us"})
    assert "What was done" in (tmp_path / "long.html").read_text(encoding="utf-8")
    assert 10 <= len(list((tmp_path / "long-pages").iterdir())) <= 30


@pytest.mark.parametrize("words", (["report", "--out", "page.html"], ["save", "all.parquet"]), ids=("report", "save"))
def test_a_run_is_drawn_and_saved_without_what_computes(whole, tmp_path, words):
    """Which takes four seconds to import, where ten thousand texts take nine."""
    command, *options, name = words
    in_pages = (
        f"from pellucid.corpus import page\npage.TEXTS = 12\n{COMMAND_LINE}"  # one page has cards, which need more
    )
    imported = heavy_modules(in_pages, command, str(whole.path), *options, str(tmp_path / name))
    assert not {"torch", "transformers", "sklearn"} & set(imported)


def test_a_notebook_shows_what_a_run_is_and_its_first_texts(whole):
    first = whole[:5]._repr_html_()
    assert whole._repr_html_() == f"<p>&lt;Run of 30 texts by occlusion: whole&gt;</p>{first}"


def test_a_page_needs_an_explanation(tmp_path):
    model = pellucid.from_function(answer, ["negative", "positive"])
    run = pellucid.explain_corpus(model, ["number 8"], "occlusion", folder=tmp_path / "run", progress=False)
    with pytest.raises(BadInput, match=r"no text of .* is explained"):
        pellucid.report(run, path=tmp_path / "page.html")


@pytest.mark.parametrize("name", ("all.parquet", "all.json", "all.jsonl", "all.csv"))
def test_a_run_is_saved_in_every_form(run, whole, tmp_path, name):
    assert run("save", whole.path, tmp_path / name) == (0, "", f"Written: {tmp_path / name}\n")
    if name in ("all.parquet", "all.json"):
        assert pellucid.read(tmp_path / name) == list(whole)
    elif name == "all.jsonl":
        lines = (tmp_path / name).read_text(encoding="utf-8").splitlines()
        assert [json.loads(line)["id"] for line in lines] == [shown.example.id for shown in whole]
    else:
        pellucid.write_csv(whole[:], tmp_path / "same.csv")
        assert (tmp_path / name).read_bytes() == (tmp_path / "same.csv").read_bytes()


def test_other_names_of_files_and_pages_are_refused(run, whole, tmp_path):
    for words, sentence in (
        (["save", whole.path, tmp_path / "all.txt"], "ends in '.txt'; give a name that ends in .csv, .parquet, .json"),
        (["report", whole.path, "--out", tmp_path / "page.pdf"], "does not end in .html; give such a name"),
    ):
        status, output, errors = run(*words)
        assert (status, output) == (2, "") and sentence in errors and len(errors.splitlines()) == 1


def test_words_and_differences_take_the_folder_of_a_run(run, whole, tmp_path):
    status, output, _ = run("words", whole.path, "--json", "--min-texts", 2)
    assert status == 0
    assert json.loads(output) == json.loads(json.dumps(pellucid.class_words(whole[:], min_texts=2).record()))
    pellucid.save(whole, tmp_path / "all.parquet")
    for other in (tmp_path / "all.parquet", whole.path):
        status, output, _ = run("diff", whole.path, other, "--most-changed", 0, "--least-overlap", 1, "--json")
        difference = json.loads(output)
        assert status == 0 and difference["exceeded"] == [] and len(difference["texts"]) == len(whole)


def test_a_run_stands_where_explanations_go(model, whole):
    """As `Results` do: nothing is explained again, and nothing comes out otherwise."""
    analyses = [
        pellucid.error_analysis(model, explained=source, shortcut_passes=0, progress=False).record()
        for source in (whole, whole[:], whole.path)
    ]
    assert analyses[0] == analyses[1] == analyses[2] and analyses[0]["wrong"] > 0
    tables = [
        pellucid.compare(model, explained=source, metrics=["comprehensiveness"], resamples=10, progress=False)
        for source in (whole, whole[:])
    ]
    assert tables[0] == tables[1]
    texts = [explanation.example for explanation in whole[:5]]
    attempts = [
        pellucid.attack(model, texts, "pwws", order_from=source, progress=False)
        for source in (whole, whole[:], whole.path)
    ]
    assert attempts[0] == attempts[1] == attempts[2]
    with pytest.raises(BadInput, match="explained= came as int; give what explain or read returned"):
        pellucid.error_analysis(model, explained=3)


MANY = 1300  # of more than a shard
ALIVE = 700  # explanations that may be in memory: two sides by a few hundred


@pytest.fixture(scope="module")
def large(model, tmp_path_factory):
    """Two runs of labelled texts, of more than a shard each, by two versions of a model."""
    folder, other = tmp_path_factory.mktemp("large"), pellucid.from_function(dull_answer, ["negative", "positive"])
    texts = [(f"{'good' if n % 3 else 'dull'} {n}", ("positive", "negative")[n % 5 > 0]) for n in range(MANY)]
    settings = {"progress": False, "methods": "occlusion"}
    first = pellucid.explain_corpus(model, texts, folder=folder / "first", **settings)
    second = pellucid.explain_corpus(other, [texts[0], *reversed(texts[100:])], folder=folder / "second", **settings)
    return first, second


def dull_answer(texts):
    return [[0.9, 0.1] if "dull" in text else [0.3, 0.7] for text in texts]


def watched(monkeypatch, module, name):
    """How many explanations are alive at each hundredth call of a function."""
    function, counts, calls = getattr(module, name), [], itertools.count()

    def counted(*arguments):
        if next(calls) % 100 == 0:
            counts.append(sum(type(each) is Explanation for each in gc.get_objects()))
        return function(*arguments)

    monkeypatch.setattr(module, name, counted)
    return counts


def test_errors_of_a_run_hold_few_explanations_and_are_those_of_its_results(model, large, monkeypatch, tmp_path):
    run, before = large[0], gc.collect()
    alive = watched(monkeypatch, errors_door, "evidence_of")
    in_turn = pellucid.error_analysis(model, explained=run.path, shortcut_passes=0, progress=False)
    assert len(alive) == MANY // 100 and max(alive) < ALIVE, before
    at_once = pellucid.error_analysis(model, explained=run[:], shortcut_passes=0, progress=False)
    assert in_turn.record() == at_once.record() and str(in_turn) == str(at_once) and in_turn.wrong > ALIVE
    pages = [pellucid.report(each, path=tmp_path / "page.html").read_bytes() for each in (in_turn, at_once)]
    assert pages[0] == pages[1]
    monkeypatch.setattr(errors_door, "LOOKED_AT", 300)
    drawn = pellucid.error_analysis(model, explained=run, shortcut_passes=100, progress=False).shortcuts
    assert drawn.n_texts == 300 and "Of 1,300 texts 300 were drawn to look for what decides." in drawn.caveats


def test_a_difference_of_runs_holds_few_explanations_and_is_that_of_their_results(large, monkeypatch, tmp_path):
    first, second = large
    monkeypatch.setattr(difference_page, "LINES", 1200)
    alive = watched(monkeypatch, versions_door, "text_difference")
    in_turn = pellucid.diff(first.path, second, twins=first.path)
    assert len(alive) >= 2 * (MANY // 100) and max(alive) < ALIVE
    at_once = pellucid.diff(first[:], second[:], twins=[first[:]])
    assert in_turn.record() == at_once.record() and str(in_turn) == str(at_once)
    assert len(in_turn) == 1201 and len(in_turn.only_before) == 99
    pages = [pellucid.report(each, path=tmp_path / "page.html").read_text() for each in (in_turn, at_once)]
    assert "1 more texts are in the difference, and not on this page." in pages[0]
    assert [text.count('pl-nr"') for text in pages] == [1200, 1201]
    monkeypatch.setattr(difference_page, "LINES", 1201)
    assert pellucid.report(in_turn, path=tmp_path / "page.html").read_text() == pages[1]


FILES = ("rows/00000.parquet", "rows/keys.npy", "shards/00000.parquet", "shards/00000.json", "failures/00000.jsonl")


@pytest.mark.parametrize("name", FILES)
def test_the_folder_of_a_run_is_verified(run, whole, tmp_path, name):
    assert run("verify", whole.path)[0] == 0
    shutil.copytree(whole.path, tmp_path / "run")
    path = tmp_path / "run" / name
    content = path.read_bytes()
    for spoilt in (content[:-1], b"", content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]):
        path.write_bytes(spoilt)
        assert name in pellucid.verify(tmp_path / "run").changed
    path.unlink()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    outcome = pellucid.verify(tmp_path / "run")
    assert name in outcome.missing and outcome.foreign == ("notes.txt",)
    assert run("verify", tmp_path / "run")[0] == 1


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model in a folder, and forty labelled reviews."""
    folder = tmp_path_factory.mktemp("errors")
    save_tiny(folder / "model", labels=LABELS)
    rows = [f"{LABELS[n % 3]},a {'lovely' if n % 2 else 'dull'} film of number {n}" for n in range(40)]
    (folder / "reviews.csv").write_text("\n".join(["label,text", *rows]))
    return folder


@pytest.mark.whole
def test_errors_computes_a_run_and_goes_on_from_it(run, place, monkeypatch):
    monkeypatch.chdir(place)
    usual = ["--method", "gradient", "--shortcut-passes", 0, "--json"]
    words = ["errors", "model", "--data", "reviews.csv", "--out", "run", "--yes", *usual]
    status, output, errors = run(*words)
    assert status == 0 and "40 texts explained by gradient; none failed. Folder: run" in errors
    before = files_of(place / "run")
    computed, without = json.loads(output), json.loads(run("errors", "model", "reviews.csv", *usual)[1])
    saved = json.loads(run("errors", "model", "--explained", "run", "--shortcut-passes", 0, "--json")[1])
    for name in ("wrong", "right", "patterns"):
        assert computed[name] == without[name] == saved[name]
    assert run(*words)[:2] == (0, output) and files_of(place / "run") == before
    status, output, _ = run(*words, "--estimate")
    assert status == 0 and output.startswith("40 texts by 1 worker: about")


@pytest.mark.parametrize(
    ("words", "sentence"),
    (
        (["reviews.csv", "--data", "reviews.csv"], "are both data; give one of them"),
        (["--out", "new"], "--out keeps a run over data; name them"),
        (["reviews.csv", "--out", "new", "--sample", 3], "--sample does not go with --out"),
        (["reviews.csv", "--out", "new", "--only", "wrong"], "--only or --sort does not go with --out"),
        (["reviews.csv", "--out", "new", "--explained", "run"], "--explained does not go with --out"),
        (["reviews.csv", "--workers", 2], "--workers computes a run in a folder; name it: --out FOLDER"),
        (["reviews.csv", "--slice", "1/2"], "--slice belongs to a run in a folder; name it: --out FOLDER"),
    ),
)
def test_what_errors_cannot_do_is_refused_in_one_sentence(run, place, monkeypatch, words, sentence):
    monkeypatch.chdir(place)
    status, output, errors = run("errors", "model", *words)
    assert (status, output) == (2, "") and sentence in errors and len(errors.splitlines()) == 1, errors
