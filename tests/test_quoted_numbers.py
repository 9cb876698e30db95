"""Numbers in the prose of the main pages come from results: each has a source that is compared, or is allowed by name.

docs/quotes.json lists sentences with the numbers that they quote: `text` as written in the page (any white space), `of`
a file of results, `values` the places of its numbers in order, keys with / between them. A - before a place changes
the sign, a % multiplies by 100. In a page (.md) a place is a pattern whose first group is the number. `integers`: the
sentence quotes whole numbers, which are checked nowhere else.
"""

import json
import re
from functools import cache
from pathlib import Path

import pytest

from benchmarks.attacks import as_page as attacks_page
from benchmarks.attribution.cuda_page import write_cuda_page as attribution_cuda_page
from benchmarks.attribution.page import write_page as attribution_page
from benchmarks.cuda_passes import page as cuda_passes_page
from benchmarks.routes import as_page as routes_page
from benchmarks.span.cuda_page import write_cuda_page as span_cuda_page
from benchmarks.span.page import write_page as span_page
from benchmarks.span_training import as_page as span_training_page
from benchmarks.workers import as_page as workers_page
from studies.quoted_blocks.blocks import BLOCK, PAGES, filled

ROOT = Path(__file__).parents[1]
QUOTES = json.loads((ROOT / "docs" / "quotes.json").read_text(encoding="utf-8"))
PROSE = (
    "README.md",
    "docs/README.md",
    "docs/papers/s0.md",
    "docs/papers/s1.md",
    "docs/papers/s2.md",
    "docs/papers/s3.md",
    "docs/papers/s4.md",
    "docs/papers/believable-spans.md",
    "docs/design.md",
    "docs/methods/README.md",
    "docs/which-explanation.md",
)
NUMBER = re.compile(r"(?<![\w.])[+−-]?(?:\d*\.\d+(?![\w.]*\.?\d)|\d+(?= ?%))")
# What is no result: versions, levels, tolerances, settings and numbers of corrections, with the words around them.
ALLOWED = {
    "README.md": ["release 0.4.2", "Python 3.11", "Apache 2.0"],
    "docs/README.md": [],
    "docs/papers/s0.md": [
        "A0.14",
        "at 95 %",
        "at least −0.5 in the mean",
        "entropy × 0.1",
        "λ = 0.5",
        "λ = 1.5",
    ],
    "docs/papers/s1.md": [],
    "docs/papers/s2.md": [],
    "docs/which-explanation.md": [],
    "docs/papers/s4.md": [],
    "docs/papers/believable-spans.md": ["asked for 85 %"],
    "docs/papers/s3.md": ["more than 1.2 times"],
    "docs/methods/README.md": ["the 95 % interval", "A2.5"],
    "docs/design.md": ["λ = 1.5", "a spread of 0.05", "entropy × 0.1", "falls from .9"],
}


@cache
def page(name):
    return (ROOT / name).read_text(encoding="utf-8")


def words(text):
    return " ".join(text.split())


@cache
def prose(name):
    """A page without blocks, code and the targets of links."""
    bare = re.sub(r"```.*?```|`[^`\n]*`", " ", BLOCK.sub(" ", page(name)), flags=re.DOTALL)
    return words(re.sub(r"\]\([^)]*\)", "]", bare))


def numbers(text):
    return NUMBER.findall(text)


def value(of, place):
    scale = {"-": -1, "%": 100}.get(place[0], 1)
    place = place if scale == 1 else place[1:]
    if of.endswith(".md"):
        return scale * float(re.search(place, page(of))[1])
    entry = json.loads(page(of))
    for key in place.split("/"):
        entry = entry[int(key)] if isinstance(entry, list) else entry[key]
    return scale * float(entry)


@pytest.mark.parametrize("quote", QUOTES, ids=lambda quote: f"{quote['page']}: {quote['text'][:40]}")
def test_a_quoted_number_is_that_of_the_results(quote):
    assert words(quote["text"]) in words(page(quote["page"]))
    written = re.findall(r"\d+", quote["text"]) if quote.get("integers") else numbers(words(quote["text"]))
    assert len(written) == len(quote["values"]), written
    for number, place in zip(written, quote["values"], strict=True):
        digits = len(number.partition(".")[2])
        right = value(quote["of"], place)
        assert abs(float(number.replace("−", "-")) - right) <= 0.5 * 10**-digits + 1e-9, (number, right)


@pytest.mark.parametrize("name", PROSE)
def test_every_number_in_prose_has_a_source_or_is_allowed_by_name(name):
    text = prose(name)
    for quote in QUOTES:
        if quote["page"] == name:
            text = text.replace(words(quote["text"]), " ")
    for allowed in ALLOWED[name]:
        assert allowed in text, f"{allowed!r} is allowed and not there"
        text = text.replace(allowed, " ")
    strange = [text[max(one.start() - 50, 0) : one.end() + 20] for one in NUMBER.finditer(text)]
    assert not strange, "\n".join(strange)


@pytest.mark.parametrize("name", PAGES)
def test_generated_blocks_are_what_the_results_say(name):
    assert BLOCK.search(page(name))
    assert filled(page(name), ROOT) == page(name)


@pytest.mark.parametrize(
    "name, results, write",
    [
        ("span-layer", "span_layer", span_page),
        ("span-layer-cuda", "span_layer-cuda", span_cuda_page),
        ("performance", "attributions", attribution_page),
        ("performance-cuda", "attributions-cuda", attribution_cuda_page),
    ],
)
def test_pages_of_benchmarks_are_what_was_measured(name, results, write, tmp_path):
    (tmp_path / "pictures").mkdir()
    measured = json.loads(page(f"benchmarks/results/{results}.json"))
    assert write(measured, tmp_path).read_text(encoding="utf-8") == page(f"docs/{name}.md")


@pytest.mark.parametrize(
    "name, results, as_page",
    [
        ("cuda-passes", "cuda_passes", cuda_passes_page),
        ("span-training", "span_training", span_training_page),
        ("attack-speed", "attacks", attacks_page),
        ("routes", "routes", routes_page),
        ("workers-speed", "workers", workers_page),
    ],
)
def test_pages_in_one_string_are_what_was_measured(name, results, as_page):
    assert as_page(json.loads(page(f"benchmarks/results/{results}.json"))) == page(f"docs/{name}.md")


def test_as_many_methods_are_compared_as_the_readme_says():
    compared = json.loads(page("studies/sst2_methods/result.json"))["methods"]
    assert f"[{len(compared) - 1} methods and variants against chance]" in page("docs/README.md")


def test_what_counts_as_a_number():
    assert numbers("λ = 1.5, 39.0 % and 41 % of 3 texts, 0.4.2, −0.5, .93") == [
        "1.5",
        "39.0",
        "41",
        "−0.5",
        ".93",
    ]
