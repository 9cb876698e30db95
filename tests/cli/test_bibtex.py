"""`pellucid methods --bibtex`: every source with a title becomes one entry, and BibTeX can read it."""

import re

import pellucid
from pellucid.explaining.commands.lists import IN_FULL, PAPER, bibliography, sources_in

LISTED = [*pellucid.methods(), *pellucid.checks()]


def test_every_title_that_a_source_names_is_an_entry_once():
    text = bibliography(sources_in(LISTED))
    keys = re.findall(r"^@misc\{([^\W_]+),$", text, re.MULTILINE)
    assert len(keys) == len(set(keys)) == text.count("@misc") > 30
    named = {match["title"].rstrip(",.") for entry in LISTED for match in PAPER.finditer(entry["paper"])}
    firsts = {title.split(":")[0] for title in re.findall(r"title = \{\{(.*)\}\}", text)}
    assert {title.split(":")[0].replace("&", "\\&") for title in named} == firsts
    assert not re.findall(r"author = \{(?![A-ZŠ][^(]*\},$)", text, re.MULTILINE)
    for entry in text.split("\n\n"):
        assert entry.count("{") == entry.count("}") and not re.search(r"(?<!\\)[&%$#_]", entry)


def test_the_five_papers_stand_in_full_with_their_methods():
    text = bibliography(sources_in(LISTED))
    for title, (authors, where) in IN_FULL.items():
        (entry,) = (each for each in text.split("\n\n") if f"{{{{{title}}}}}" in each)
        assert authors in entry and where in entry
    assert "decoded\\_saliency" in text and "author = {Abnar and Zuidema}" in text


def test_what_stands_around_a_source_is_no_author():
    source = 'A curve as in Hase, Xie & Bansal (2021), "A Title: 100 % of it", section 2; as in Wu et al. (2020).'
    (entry,) = bibliography([("a_method", source)]).split("\n\n")
    assert "author = {Hase and Xie and Bansal}" in entry and "100 \\% of it" in entry
