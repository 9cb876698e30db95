"""The documentation is whole: every name has its page, every link leads somewhere, and every example works."""

import re
from functools import cache
from pathlib import Path

import pytest
import typer

import pellucid
from pellucid.base.kinds import attacks, attributions, checks, metrics
from pellucid.cli import MODULES, function_of
from pellucid.data.load import classes_of
from tests.shared import warm_python
from tests.shared.tiny import TOKENIZERS, network_for_pieces, save_tiny, tiny_masked_lm
from tests.shared.tiny_writing import save_tiny_writing

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
CORRECTIONS = DOCS / "papers" / "corrections.md"
PAGES = sorted([*DOCS.rglob("*.md"), *ROOT.glob("*.md")])
RUNNABLE = [
    ROOT / "README.md",
    *(
        DOCS / "how-to" / f"{name}.md"
        for name in (
            "believe-an-explanation",
            "class-words",
            "decoded-saliency",
            "draw-figures",
            "explanations-in-ci",
            "train-a-lens",
            "use-results-elsewhere",
            "what-layers-know",
            "explain-what-a-model-writes",
            "zero-shot",
            "similarity-and-reranking",
            "explain-parts-of-a-text",
            "find-shortcuts",
            "train-a-translator",
        )
    ),
]
HOW_TO_ADD = {path.stem: path for path in sorted((DOCS / "how-to").glob("add-a*-*.md"))}
ANCHOR = re.compile(r"\bA\d+\.\d+")


def name_of(path):
    return str(path.relative_to(ROOT))


@cache
def text_of(path):
    return path.read_text(encoding="utf-8")


def without_code(text):
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


@cache
def headings(path):
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ +(.*)$", re.sub(r"```.*?```", "", text_of(path), flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-") for title in titles}


def links(path):
    """The targets of a page's links that stay in the repository."""
    targets = re.findall(r"\]\(([^)\s]+)\)", without_code(text_of(path)))
    return [target for target in targets if not re.match(r"[a-z]+:", target)]


def python_blocks(path):
    return re.findall(r"```python\n(.*?)```", text_of(path), re.DOTALL)


@pytest.mark.parametrize(
    "kind, name",
    [
        *(("methods", name) for name in attributions.names()),
        *(("checks", name) for name in checks.names()),
        *(("attacks", name) for name in attacks.names()),
    ],
)
def test_every_method_check_and_attack_has_a_page_that_names_its_settings(kind, name):
    page = DOCS / kind / f"{name}.md"
    assert page.is_file(), f"write {name_of(page)}"
    known = {"methods": attributions, "checks": checks, "attacks": attacks}[kind]
    missing = [setting for setting in known.get(name).defaults if f"`{setting}`" not in text_of(page)]
    assert not missing, f"{name_of(page)} does not explain {missing}"


@pytest.mark.parametrize("kind, known", [("checks", checks), ("attacks", attacks)])
def test_the_list_leads_to_each_page(kind, known):
    missing = [name for name in known.names() if f"({kind}/{name}.md)" not in text_of(DOCS / f"{kind}.md")]
    assert not missing


@pytest.mark.parametrize("name", metrics.names())
def test_every_metric_has_a_page(name):
    page = DOCS / "metrics" / f"{name}.md"
    assert page.is_file(), f"write {name_of(page)}"


@pytest.mark.parametrize(
    "kind, known",
    [("methods", attributions), ("metrics", metrics), ("checks", checks), ("attacks", attacks)],
)
def test_every_page_has_its_subject(kind, known):
    assert {page.stem for page in (DOCS / kind).glob("*.md")} <= {*known.names(), "README"}


@pytest.mark.parametrize("name", pellucid.__all__)
def test_every_public_name_is_documented(name):
    everything = "\n".join(text_of(page) for page in PAGES if page.name != "CHANGELOG.md")
    assert re.search(rf"`[^`\n]*\b{name}\b|pellucid\.{name}\b", everything), f"{name} is on no page"


@pytest.mark.parametrize("method", pellucid.methods(), ids=lambda method: method["name"])
def test_the_table_of_all_methods_says_what_the_catalogue_says(method):
    name, usual = method["name"], "yes" if method["usual"] else "no"
    row = f"| [{name}](../methods/{name}.md) | {method['summary']} | {method['cost']} | {usual} |"
    assert row in text_of(DOCS / "how-to" / "explain-your-model.md").splitlines(), f"write {row}"


@pytest.mark.parametrize("command", MODULES)
def test_the_page_of_the_command_line_has_every_command_and_option(command):
    page = text_of(DOCS / "how-to" / "command-line.md")
    assert f"\n## {command}\n" in page
    missing = [option for option in options_of(command) if not re.search(rf"{option}(?![\w-])", page)]
    assert not missing, f"docs/how-to/command-line.md does not name {missing} of {command}"


def options_of(command):
    """The options of a command, as one writes them."""
    app = typer.Typer(add_completion=False)
    app.command(command)(function_of(command))
    parameters = typer.main.get_command(app).params
    return sorted(name for one in parameters for name in one.opts if name.startswith("--"))


def test_the_tour_and_its_file_have_the_same_code():
    cells = re.split(r"^# %%.*\n", text_of(ROOT / "examples" / "tour.py"), flags=re.MULTILINE)[1:]
    blocks = python_blocks(DOCS / "how-to" / "tour.md")
    assert [cell.strip() for cell in cells] == [block.strip() for block in blocks]


def test_there_are_pages_and_links_to_check():
    assert len(PAGES) > 15
    assert sum(len(links(page)) for page in PAGES) > 40


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page):
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor:
            assert anchor in headings(target), f"{name_of(page)} links to {link}, but there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_correction_that_a_page_cites_exists(page):
    assert cited_in(text_of(page)) <= corrections()


@pytest.mark.parametrize("folder", ("pellucid", "tests", "benchmarks"))
def test_every_correction_that_code_cites_exists(folder):
    files = [path for path in (ROOT / folder).rglob("*.py") if path != Path(__file__)]
    strange = {name_of(path): sorted(cited_in(text_of(path)) - corrections()) for path in files}
    assert not {name: names for name, names in strange.items() if names}


def cited_in(text):
    return set(ANCHOR.findall(text))


def corrections():
    titles = {title.strip() for title in re.findall(r"^### +(.*)$", text_of(CORRECTIONS), re.MULTILINE)}
    assert {"A0.1", "A1.5", "A2.8"} <= titles
    return titles


@pytest.mark.parametrize("name", HOW_TO_ADD)
def test_how_to_add_compiles(name):
    blocks = python_blocks(HOW_TO_ADD[name])
    assert blocks, f"{name} has no example"
    for block in blocks:
        compile(block, name, "exec")


USES = {
    "add-a-method": 'print(pellucid.explain(model, "A fine film.", "steepest_dimension")[0].scores.any())',
    "add-a-metric": 'print(pellucid.compare(model, texts, ["occlusion"], ["best_word"]).cell("occlusion", '
    '"best_word").n == 4)',
    "add-a-check": 'table = pellucid.compare(model, texts, ["occlusion"], ["comprehensiveness"], '
    'checks=["first_word"]); print(table.check("first_word").line("occlusion").n == 4)',
    "add-a-penalty": "from pellucid.training.objective import check_fit; check_fit({'short_spans': 0.1}, 'span', {}); "
    "from tests.shared.tiny import tiny_composed; small = tiny_composed('span'); "
    "output = small.network(**small.place(small.encode(texts).rows)); "
    "print(bool((example.short_spans(output.spans) >= 1).all()))",
    "add-an-objective": "from tests.training.test_every_objective import losses_of; "
    "print(losses_of('unsure_blanks').shape == (3,))",
    "add-a-policy": "print(pellucid.explain(model, 'fine', 'relevance', policy='steady')[0].scores.any())",
    "add-a-pooler": "from tests.models.test_every_pooler import check_all; check_all('mean_and_maximum', 'saved'); "
    "print(True)",
    "add-an-extractor": 'print(pellucid.extract(model, texts, "occluded_words")[0].coverage > 0)',
    "add-an-encoder": "from tests.models.test_every_encoder import check_all; check_all('neighbours', 'saved'); "
    "print(True)",
    "add-a-model-family": "lacks = example.look('classifier'); print(not lacks)",
    "add-a-dataset": 'print(len(pellucid.examples("things", "all")) == 20)',
    "add-a-view": "results = pellucid.explain(model, texts, 'gradient'); "
    "print(len(pellucid.figure(results, kind='lengths').axes) == 1)",
    "add-a-study": "from pathlib import Path; from studies.shared.runner import run_study; "
    "from studies.shared.study import Settings; settings = Settings('tiny', 20, Path('out'), 'pocket'); "
    "print(run_study(example.label_counts(), settings).startswith('# Labels'))",
}


@pytest.mark.whole
@pytest.mark.parametrize("page", RUNNABLE, ids=name_of)
def test_the_code_of_a_page_runs_as_it_is_written(page, tmp_path):
    """In an empty folder with a small classifier and the reviews under the names that the pages use."""
    for folder in ("my-classifier", "runs/pocket", "runs/twin"):
        save_tiny(tmp_path / folder, id2label={0: "negative", 1: "neutral", 2: "positive"})
    save_tiny(tmp_path / "runs" / "helpdesk", labels=classes_of("helpdesk", []))
    save_tiny(tmp_path / "my-nli-model", labels=("contradiction", "neutral", "entailment"))
    save_tiny(tmp_path / "my-reranker", labels=("relevance",), problem_type="regression")
    tiny_masked_lm().save_pretrained(tmp_path / "my-checkpoint")
    TOKENIZERS["bert"]().save_pretrained(tmp_path / "my-checkpoint")
    save_tiny_writing(tmp_path / "my-translator")
    for folder, kind in (("my-tagger", "TokenClassification"), ("my-reader", "QuestionAnswering")):
        network_for_pieces(kind, "bert").save_pretrained(tmp_path / folder)
        TOKENIZERS["bert"]().save_pretrained(tmp_path / folder)
    reviews = (ROOT / "examples" / "data" / "reviews.csv").read_bytes().splitlines(keepends=True)
    (tmp_path / "reviews.csv").write_bytes(b"".join(reviews[:61]))  # a line a review
    requests = (ROOT / "examples" / "data" / "requests.csv").read_bytes().splitlines(keepends=True)
    (tmp_path / "requests.csv").write_bytes(b"".join(requests[:61]))
    program = "\n".join(python_blocks(page))
    program = program.replace('strongest("positive"', "strongest(words.labels[0]")  # its one answer may be another
    program = program.replace('pellucid.examples("pocket", "test")', 'pellucid.examples("pocket", "test")[:30]')
    program = program.replace('out="runs/lens"', 'out="runs/lens", head_steps=3, translator_steps=2')
    done = warm_python.run(program, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.whole
@pytest.mark.parametrize("name", HOW_TO_ADD)
def test_how_to_add_opens_with_an_example_that_works(name, tmp_path):
    """In a process of its own, so that what it registers stays there."""
    folder = save_tiny(tmp_path / "classifier", id2label={0: "negative", 1: "neutral", 2: "positive"})
    (tmp_path / "example.py").write_text(python_blocks(HOW_TO_ADD[name])[0], encoding="utf-8")
    program = (
        f"import example, pellucid; model = pellucid.load({str(folder)!r}); texts = pellucid.examples('pocket')[:4]; "
    )
    done = warm_python.run(program + USES[name], cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "True"


@pytest.mark.whole
def test_a_method_in_a_file_of_the_reader_is_used_as_its_page_says(tmp_path):
    save_tiny(tmp_path / "my-classifier", id2label={0: "negative", 1: "neutral", 2: "positive"})
    reviews = (ROOT / "examples" / "data" / "reviews.csv").read_bytes().splitlines(keepends=True)
    (tmp_path / "reviews.csv").write_bytes(b"".join(reviews[:13]))
    method, use, edits, *_ = python_blocks(HOW_TO_ADD["add-a-method"])
    (tmp_path / "steepest_dimension.py").write_text(method, encoding="utf-8")
    same = (
        'mine = pellucid.explain(model, "A fine film.", "without_each")[0].scores\n'
        'ours = pellucid.explain(model, "A fine film.", "occlusion", unit="piece")[0].scores\n'
        "assert abs(mine - ours).max() < 1e-4, (mine, ours)\n"
    )
    done = warm_python.run(f"{use}\n{edits}\n{same}", cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr
