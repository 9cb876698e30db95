"""`pellucid methods --bibtex`: the papers that methods and checks name as their sources, as BibTeX."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

# A source as docstrings write it: Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", equation 3.
PAPER = re.compile(r"(?P<authors>[^\W\d_][^\"();:]*?)\s*\((?P<year>\d{4})\),\s*\"(?P<title>[^\"]+)\"")
BEFORE = re.compile(r"^.*(?:\b(?:as in|as|after|in|of|by|from|with|also|is)\b|\.)\s+(?=\w)")  # what comes before a name
SPECIAL = re.compile(r"[&%$#_]")
# The five papers that Pellucid began with: title -> what sources do not say.
IN_FULL = {
    "Self-Explaining Structures Improve NLP Models": (
        "Sun, Zijun and Fan, Chun and Han, Qinghong and Sun, Xiaofei and Meng, Yuxian and Wu, Fei and Li, Jiwei",
        "arXiv:2012.01786",
    ),
    "Decoding Layer Saliency in Language Transformers": (
        "Hou, Elizabeth M. and Castañón, Gregory",
        "International Conference on Machine Learning",
    ),
    "On Explaining Your Explanations of BERT": ("Wu, Zhengxuan and Ong, Desmond C.", "arXiv:2101.00196"),
    "Towards a Deep and Unified Understanding of Deep Neural Models in NLP": (
        "Guan, Chaoyu and Wang, Xiting and Zhang, Quanshi and Chen, Runjin and He, Di and Xie, Xing",
        "International Conference on Machine Learning",
    ),
    "Staying True to Your Word: (How) Can Attention Become Explanation?": (
        "Tutek, Martin and Šnajder, Jan",
        "Workshop on Representation Learning for NLP",
    ),
}


def bibliography(sources: Iterable[tuple[str, str]]) -> str:
    """The papers of these sources as BibTeX, each once, by key; its note says what here is from it.

    sources: name of a method or check, and its source as its docstring writes it.
    """
    papers: dict[str, tuple[str, str, str, list[str]]] = {}
    for name, source in sources:
        for match in PAPER.finditer(source):
            authors, title = BEFORE.sub("", match["authors"].strip()), match["title"].rstrip(",.")
            paper = title, authors, match["year"], list[str]()
            names = papers.setdefault(key_of(authors, match["year"], title), paper)[-1]
            names += [name] if name not in names else []
    return "\n\n".join(f"@misc{{{key},\n{_record(*paper)}}}" for key, paper in sorted(papers.items()))


def sources_in(listed: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Names and sources of entries as `pellucid.methods()` and its like list them."""
    return [(entry["name"], entry["paper"]) for entry in listed]


def key_of(authors: str, year: str, title: str) -> str:
    """Such as sun2020self: first author, year, first word."""
    first, word = (re.findall(r"[^\W\d_]+", text)[0].lower() for text in (authors, title))
    return f"{first}{year}{word}"


def _record(title: str, authors: str, year: str, names: Iterable[str]) -> str:
    in_bibtex = re.sub(r"\s*(?:,|&|\band\b)\s+", " and ", authors.replace("et al.", "and others"))
    in_full, where = IN_FULL.get(title, (re.sub(r"(?: and)+ ", " and ", in_bibtex), ""))
    fields = {"author": in_full, "title": f"{{{title}}}", "year": year, "howpublished": where}
    fields["note"] = f"Pellucid: {', '.join(names)}"
    lines = [f"  {name} = {{{SPECIAL.sub(_escaped, text)}}},\n" for name, text in fields.items() if text]
    return "".join(lines)


def _escaped(match: re.Match[str]) -> str:
    return f"\\{match[0]}"
