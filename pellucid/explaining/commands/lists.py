"""The commands that list what can be chosen: `pellucid methods`, `formats`, `checks` and `attacks`."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any

import typer

import pellucid
from pellucid.explaining.commands.safe_text import print_entry, say, settings_in_words


def methods(
    routes: Annotated[
        bool, typer.Option("--routes", help="List the routes of a pass instead: how models can be computed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
    bibtex: Annotated[
        bool, typer.Option("--bibtex", help="Print the papers of methods and checks as BibTeX instead.")
    ] = False,
) -> None:
    """List the attribution methods: what each does, needs and costs, its settings and its paper."""
    if bibtex:
        say(bibliography(sources_in([*pellucid.methods(), *pellucid.checks()])))
        return
    listed = pellucid.routes() if routes else pellucid.methods()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts_of_route(entry) if routes else _facts_of_method(entry))


def _facts_of_method(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "needs": ", ".join(entry["needs"]) or "any model",
        "costs": entry["cost"],
        "runs": "" if entry["usual"] else 'by name; not part of "all methods"',
        "settings": settings_in_words(entry),
        "paper": entry["paper"],
    }


def _facts_of_route(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "computes on": ", ".join(entry["devices"]) or "any device",
        "here": f"not possible: {entry['lacks']}" if entry["lacks"] else "possible",
    }


# `pellucid formats`: how data can be read, from which files, with which settings.


def formats(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the data formats: what each contains, its files, its settings (for --read) and its paper."""
    listed = pellucid.formats()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts_of_format(entry))


def _facts_of_format(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "files": entry["files"],
        "holds": entry["data"] + (", with people's rationales" if entry["rationales"] else ""),
        "dev": "" if entry["own_dev"] else "15 % of train, which then lacks them",
        "settings": settings_in_words(entry),
        "needs": f"the package {entry['package']}" if entry["package"] else "",
        "paper": entry["paper"],
    }


# `pellucid checks`: every check of methods that `pellucid compare --checks` can run.

OPTIONS = {
    "twins": "twins (--twin)",
    "trainer": "texts to train on (--train)",
    "corpora": "other data sets (--corpus)",
}


def checks(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the checks of methods: what each asks, needs and costs, and when a method passes."""
    listed = pellucid.checks()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts_of_check(entry))


def _facts_of_check(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "needs": ", ".join(OPTIONS.get(need, need) for need in entry["needs"]) or "nothing more",
        "costs": entry["cost"],
        "runs": 'by name; not part of "all"' if entry["long"] else "",
        "rule": entry["rule"],
        "settings": settings_in_words(entry),
        "paper": entry["paper"],
    }


# `pellucid attacks`: every attack, what it edits and needs, and where it was published.


def attacks(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the attacks: what each edits and needs, its parts and its source."""
    entries = pellucid.attack_list()
    if as_json:
        print(json.dumps(entries))
        return
    for entry in entries:
        facts = {
            "edits": f"{entry['unit']}s",
            "needs": ", ".join(entry["needs"]) or "any model",
            "order": entry["order"],
            "candidates": ", ".join(entry["candidates"]),
            "settings": settings_in_words(entry),
            "source": entry["source"],
        }
        print_entry(entry, facts)


# `pellucid methods --bibtex`: the papers that methods and checks name as their sources, as BibTeX.

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
