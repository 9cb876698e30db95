"""Written words in the terminal, on a page, and in files."""

import re

import pytest

import pellucid
from tests.shared.tiny_writing import tiny_writing

PAIR = ("A good film about a dog.", "A fine story, well told.")


@pytest.fixture(scope="module")
def results():
    return pellucid.explain(tiny_writing(), [PAIR], progress=False)


def test_the_terminal_has_a_line_for_each_word(results):
    printed = str(results[0])
    assert "tiny bart writing A fine story, well told." in printed and "log-probability of each word" in printed
    assert re.search(r"^3 story  “\w+” [+−]", printed, re.MULTILINE)
    assert not re.search(r"^1 A .*(fine|story)", printed, re.MULTILINE)


def test_the_page_has_a_line_for_each_word(results, tmp_path):
    page = pellucid.report(results, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert "What the written words depend on" in page and "Each of the 7 words that were written" in page
    assert re.search(r"log-probability −[\d.]+", page)  # and not "value"
    assert re.search(r"7 \.(<[^>]+>)*</th>", page) and "text classifier" not in page


@pytest.mark.parametrize("ending", ("parquet", "json"))
def test_saved_results_are_equal(results, ending, tmp_path):
    pellucid.save(results, tmp_path / f"words.{ending}")
    assert list(pellucid.read(tmp_path / f"words.{ending}")) == list(results)


def test_methods_side_by_side_have_every_word(tmp_path):
    methods = pellucid.explain_all(tiny_writing(), [PAIR], ["occlusion", "gradient"], progress=False)
    printed = str(methods)
    assert len(re.findall(r"^ +3 story  “\w+” [+−]", printed, re.MULTILINE)) == 2
    assert "Beside each written word" in printed and "divided by the largest" not in printed
    page = pellucid.report(methods, path=tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.count("Each of the 7 words that were written") == 2 and "What the written words depend on" in page
    assert "text classifier" not in page and "first word of" not in page
