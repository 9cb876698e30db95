"""The readers of concepts, on files in the forms of the originals; a bad line is named with its number."""

import bz2
import json

import pytest

from pellucid.base.errors import BadFile, BadInput, BadSetting, PellucidError, UnknownName
from pellucid.data.load import load_concepts
from pellucid.text.lexicon import Concept

NOUNS = """  1 This line is of the licence.
00001000 03 n 02 feeling 0 emotion 1 002 ~ 00002000 n 0000 ~ 00003000 n 0000 | what is felt
00002000 12 n 01 joy 0 002 @ 00001000 n 0000 ~ 00004000 n 0000 | being glad
00003000 12 n 02 fear 0 cold_feet 0 001 @ 00001000 n 0000 | being afraid
00004000 12 n 01 bliss 0 001 @ 00002000 n 0000 | much joy
00005000 09 n 01 feeling 1 000 | an opinion
"""
INDEX = """  1 This line is of the licence.
emotion n 1 1 ~ 1 1 00001000
feeling n 2 1 ~ 2 2 00005000 00001000
joy n 1 2 @ ~ 1 1 00002000
"""
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
TRIPLES = f"""# started
<http://dbpedia.org/resource/Berlin> {TYPE} <http://dbpedia.org/ontology/City> .
<http://dbpedia.org/resource/New_York> {TYPE} <http://dbpedia.org/ontology/City> .
<http://dbpedia.org/resource/Paris_(Texas)> {TYPE} <http://dbpedia.org/ontology/City> .
<http://dbpedia.org/resource/Berlin> <http://www.w3.org/2000/01/rdf-schema#label> "Berlin"@en .
<http://dbpedia.org/resource/Z%C3%BCrich> {TYPE} <http://dbpedia.org/ontology/City> .
<http://dbpedia.org/resource/Elbe> {TYPE} <http://dbpedia.org/ontology/River> .
"""
GRAPH = "emotion\tanger\t12\ncity\tBerlin\t90\nemotion\tjoy\t40\nemotion\tmild regret\t70\nemotion\tfear\t12\n"


@pytest.fixture
def originals(tmp_path):
    """A folder with a source of every kind."""
    files = {
        "lists.txt": "# ours\n\ntime: year, day, day\nplaces: house, street\n",
        "lists.json": json.dumps({"time": ["year", "day"], "places": ["house"]}),
        "graph.tsv": GRAPH,
        "types.nt": TRIPLES,
        "wordnet/data.noun": NOUNS,
        "wordnet/index.noun": INDEX,
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "types.nt.bz2").write_bytes(bz2.compress(TRIPLES.encode()))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        ("lists.txt", (), {"time": ("year", "day"), "places": ("house", "street")}),
        ("lists.txt", ("places",), {"places": ("house", "street")}),
        ("lists.json", (), {"time": ("year", "day"), "places": ("house",)}),
        ("graph.tsv", ("emotion",), {"emotion": ("joy", "anger", "fear")}),
        ("types.nt", ("River", "City"), {"River": ("Elbe",), "City": ("Berlin", "Paris", "Zürich")}),
        ("types.nt.bz2", ("River",), {"River": ("Elbe",)}),
        ("wordnet", ("emotion", "joy"), {"emotion": ("feeling", "emotion", "joy", "fear", "bliss"), "joy": ("joy", "bliss")}),
        ("wordnet", ("feeling", "feeling.2"), {"feeling": ("feeling",), "feeling.2": ("feeling", "emotion", "joy", "fear", "bliss")}),
    ],
)  # fmt: skip
def test_every_reader_reads_what_its_original_says(originals, name, names, expected):
    concepts = load_concepts(originals / name, names)
    assert {concept.name: concept.words for concept in concepts} == expected
    assert [concept.name for concept in concepts] == list(expected)
    assert all(len(concept.words) == 1 for concept in load_concepts(originals / name, names, most=1))


@pytest.mark.parametrize(
    ("name", "text", "names", "sentence"),
    [
        ("lists.txt", "time: year\nplaces\n", (), "Line 2 of"),
        ("lists.txt", "time: year\ntime: day\n", (), "Line 2 of"),
        ("lists.txt", "", (), "it is empty; write `concept: word, word`"),
        ("lists.txt", "time: year\n", ("people",), "has no concept people: it has time."),
        ("lists.json", '{\n"time": [\n', (), "Line 3 of"),
        ("lists.json", "[1]", (), "is no JSON object"),
        ("lists.json", '{"time": "year"}', (), "Concept 'time' of"),
        ("graph.tsv", GRAPH + "emotion joy 4\n", ("emotion",), "Line 6 of"),
        ("graph.tsv", GRAPH + "emotion\tjoy\tmany\n", ("emotion",), "Line 6 of"),
        ("graph.tsv", GRAPH, ("colour",), "has no words of 'colour'"),
        ("types.nt", TRIPLES + "Berlin is a City\n", ("City",), "Line 8 of"),
        ("types.nt", TRIPLES, ("Lake",), "has no words of 'Lake'"),
        (
            "wordnet/data.noun",
            NOUNS.replace("00004000 12 n 01 bliss 0", "00004000 12 n 09 bliss"),
            ("joy",),
            "Line 5 of",
        ),
        ("wordnet/index.noun", INDEX + "bliss n\n", ("bliss",), "Line 5 of"),
        ("wordnet/index.noun", INDEX.replace("joy n", "\xa0 n"), ("joy",), "has no sense 1 of 'joy'"),
        ("wordnet/data.noun", NOUNS.replace("00002000 12", "00002001 12"), ("joy",), "names synset 00002000"),
        ("wordnet/index.noun", INDEX, ("joy.3",), "has no sense 3 of 'joy'; it has 1 senses"),
    ],
)
def test_a_bad_line_is_named_with_its_number(originals, name, text, names, sentence):
    (originals / name).write_text(text, encoding="utf-8")
    source = originals / "wordnet" if name.startswith("wordnet") else originals / name
    with pytest.raises(BadFile) as raised:
        load_concepts(source, names)
    assert sentence in str(raised.value)
    assert str(originals) in str(raised.value) and str(raised.value).endswith(".")


@pytest.mark.parametrize("name", ("graph.tsv", "types.nt", "wordnet"))
def test_large_sources_need_names(originals, name):
    with pytest.raises(BadSetting, match="name the concepts"):
        load_concepts(originals / name)


def test_files_that_are_no_text_are_refused(originals):
    (originals / "graph.tsv").write_bytes(b"emotion\tjoy\t3\n\xff\xfe\n")
    with pytest.raises(BadFile, match="after line"):
        load_concepts(originals / "graph.tsv", ["emotion"])
    packed = (originals / "types.nt.bz2").read_bytes()
    (originals / "types.nt.bz2").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(BadFile):
        load_concepts(originals / "types.nt.bz2", ["City"])


@pytest.mark.parametrize(
    ("source", "changes", "kind"),
    [
        ("no-such-set", {}, BadFile),
        ("a.xyz", {}, BadFile),
        ({}, {}, BadInput),
        ({"time": "year"}, {}, BadInput),
        ({"time": []}, {}, BadInput),
        ({"time": [3]}, {}, BadInput),
        (7, {}, BadInput),
        ({"time": ["year"]}, {"names": ["people"]}, UnknownName),
        ({"time": ["year"]}, {"names": "time"}, BadSetting),
        ("everyday", {"most": 0}, BadSetting),
        ("everyday", {"names": ["colours"]}, BadFile),
    ],
)
def test_other_sources_are_refused_in_one_sentence(tmp_path, monkeypatch, source, changes, kind):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.xyz").write_text("time: year\n", encoding="utf-8")
    with pytest.raises(PellucidError) as raised:
        load_concepts(source, **changes)
    assert isinstance(raised.value, kind)


def test_lists_of_the_caller_are_concepts():
    lists = {"time": ["year", " year ", "day"], "people": ("man",)}
    assert load_concepts(lists) == [Concept("time", ("year", "day")), Concept("people", ("man",))]
    assert load_concepts([Concept("people", ("man",))], ["people"]) == [Concept("people", ("man",))]
