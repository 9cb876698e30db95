"""Apertium, where it is installed: texts do not touch each other, killed programs change nothing, odd characters do no
harm.
"""

import os
import random
import signal
import threading
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.attacks.apertium.modes import (
    PIVOTS,
    closed,
    escaped,
    installed_pivots,
    opened,
    translation_stages,
    unescaped,
)
from pellucid.attacks.apertium.pipeline import Pipeline
from pellucid.attacks.apertium.tagged_words import Pivot, Tagger, back_translations
from pellucid.base.errors import BadFile, BadSetting, UnknownName
from pellucid.base.processes import PROGRAM_ENVIRONMENT

needs_spanish = pytest.mark.skipif(
    "spanish" not in installed_pivots(), reason="Debian's package apertium-eng-spa is not installed"
)
SPOILING = "( this one included ) ."  # its tags change what Apertium's tagger reads after it
SPOILT = "you 've got ice water in your veins ."
SENTENCES = [
    "A gripping, lovely film.",
    SPOILING,
    "The actors were wonderful and the music is very good.",
    SPOILT,
    "I did not like the plot at all!",
    "Mary Smith went to New York in March",
    "",
    "He has broken the old window; she repaired it.",
]
HOSTILE = "^$[]{}<>@/\\ ~ *a #b +c \x00\x01\x7f [[t:x]] ^a/b<n>$ 😀 \ud800 \u202e é\t\r\n"


@pytest.fixture(scope="module")
def pivot():
    with_programs = Pivot("spanish")
    yield with_programs
    with_programs.close()


@pytest.fixture(scope="module")
def tagger():
    with_programs = Tagger()
    yield with_programs
    with_programs.close()


@needs_spanish
def test_a_text_alone_has_the_paraphrase_that_it_has_among_others(pivot):
    together = pivot.paraphrases(SENTENCES)
    assert pivot.paraphrases(SENTENCES[::-1]) == together[::-1]
    for text, paraphrase in zip(SENTENCES, together, strict=True):
        fresh = Pivot("spanish")
        assert fresh.paraphrases([text]) == [paraphrase]
        fresh.close()


@needs_spanish
def test_the_tagger_reads_a_text_alone_as_among_others(tagger):
    together = tagger.words(SENTENCES)
    fresh = Tagger()
    assert fresh.words([SPOILT]) == [together[SENTENCES.index(SPOILT)]]
    fresh.close()


@needs_spanish
def test_paraphrases_differ_from_the_text_and_keep_what_is_around_it(pivot):
    texts = ["  The actors were wonderful. ", "the plot that you have seen", "", " \n", "12"]
    many, few, *none = back_translations(texts, [pivot, pivot])
    assert len(many) <= 1 and all(one.startswith("  T") and one.endswith(". ") for one in many)
    assert all(one[0].islower() and not one.endswith(".") for one in few)
    assert none == [(), (), ()]


@needs_spanish
@pytest.mark.parametrize(
    ("count", "pause"),
    [pytest.param(4, 0.3, marks=pytest.mark.whole), pytest.param(20, 1.0, marks=pytest.mark.long)],
)
def test_killed_programs_change_nothing(pivot, count, pause):
    """Five kills in a row cost a text its answer: fewer never do, and a pause is longer than a start takes."""
    texts = SENTENCES * 4
    expected = pivot.paraphrases(texts)
    n_killed, generator = 0, random.Random(0)
    finished = threading.Event()

    def kill():
        nonlocal n_killed
        while n_killed < count and not finished.is_set():
            time.sleep(pause)
            numbers = pivot.there.process_ids() + pivot.back.process_ids()
            with suppress(ProcessLookupError, IndexError):  # it has ended by itself since, or none is there
                os.kill(generator.choice(numbers), signal.SIGKILL)
                n_killed += 1

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    deadline = time.monotonic() + 120
    try:
        while n_killed < count and time.monotonic() < deadline:
            assert pivot.paraphrases(texts) == expected
    finally:
        finished.set()
        thread.join()
    assert n_killed == count


@needs_spanish
def test_hostile_characters_come_back(pivot, tagger):
    (paraphrase,) = pivot.paraphrases([HOSTILE + " end"])
    assert paraphrase is not None
    for sign in "^$[]{}<>@/\\~*#+\x01\x7f😀":
        assert sign in paraphrase
    assert "\0" not in paraphrase
    (words,) = tagger.words([HOSTILE + " films"])
    assert words[-1].lemma == "film" and words[-1].form == "plural"


@needs_spanish
@settings(deadline=None, max_examples=60)
@given(text=st.text(max_size=40) | st.text("^$[]{}<>@/\\~*#+ \n\0ab.'", max_size=40))
def test_words_lie_inside_any_text_in_order(tagger, text):
    (words,) = tagger.words([text])
    ends = [0, *(word.end for word in words)]
    assert all(end <= word.start < word.end <= len(text) for end, word in zip(ends, words, strict=False))


@given(st.text())
def test_the_stream_format_gives_the_text_back(text):
    assert unescaped(escaped(text)) == text.replace("\0", " ")
    assert opened(closed(text), text) == text or text.endswith(".") or text != text.rstrip()


@needs_spanish
def test_words_have_parts_of_speech_forms_and_kinds_of_names(tagger):
    text = "Mary went to Paris; he has broken two bigger windows at IBM"
    (words,) = tagger.words([text])
    by_surface = {text[word.start : word.end]: word for word in words}
    assert (by_surface["Mary"].name, by_surface["Paris"].name) == ("person", "place")
    assert (by_surface["went"].lemma, by_surface["went"].form) == ("go", "past")
    assert (by_surface["broken"].part_of_speech, by_surface["broken"].form) == ("verb", "participle")
    assert (by_surface["windows"].part_of_speech, by_surface["windows"].form) == ("noun", "plural")
    assert by_surface["bigger"].form == "comparative"


@pytest.mark.whole
@needs_spanish
def test_a_text_that_takes_too_long_has_no_paraphrase_and_the_next_has():
    short = Pivot("spanish", seconds=3.0)
    assert short.paraphrases(["the film is good . " * 60_000, "The film is good"])[0] is None
    patient = Pivot("spanish")
    assert short.paraphrases(["The film is good"]) == patient.paraphrases(["The film is good"])
    short.close()
    patient.close()


def test_a_pipeline_answers_in_order_and_ends_its_programs():
    pipeline = Pipeline([["cat"], ["cat"]])
    texts = [str(number) * number for number in range(300)]
    assert pipeline.answers(texts) == texts
    numbers = pipeline.process_ids
    del pipeline
    for number in numbers:
        with pytest.raises(ProcessLookupError):
            os.kill(number, 0)


def test_a_long_text_fills_no_pipe():
    pipeline = Pipeline([["cat"], ["cat"]])
    assert pipeline.answers(["a" * 3_000_000, "b"]) == ["a" * 3_000_000, "b"]


def test_programs_that_were_started_earlier_answer_the_first_text():
    pipeline = Pipeline([["cat"], ["cat"]])
    pipeline.start()
    started = pipeline.process_ids
    pipeline.start()
    assert pipeline.process_ids == started and pipeline.answers(["a", "b"]) == ["a", "b"]
    assert pipeline.process_ids == started


def test_the_time_that_programs_take_to_start_is_not_the_first_texts():
    pipeline = Pipeline([["sh", "-c", "sleep 1; exec cat"]], seconds=0.3)
    pipeline.start()
    assert pipeline.answers(["a"]) == ["a"]
    pipeline.close()


def test_a_program_killed_between_its_start_and_the_first_text_is_started_again():
    pipeline = Pipeline([["cat"], ["cat"]])
    pipeline.start()
    killed = pipeline.process_ids
    os.kill(killed[1], signal.SIGKILL)
    assert pipeline.answers(["a", "b"]) == ["a", "b"]
    assert not set(killed) & set(pipeline.process_ids)
    pipeline.close()


def test_programs_that_do_not_run_end_in_one_sentence():
    for program in ("false", "/nowhere/program"):
        pipeline = Pipeline([[program]])
        pipeline.start()  # the first text says what is wrong
        with pytest.raises(BadFile, match="install its package again"):
            pipeline.answers(["a"])


def test_a_missing_language_names_its_package(tmp_path):
    with pytest.raises(BadFile, match="apertium-eng-cat"):
        Pivot("catalan", modes=tmp_path)
    with pytest.raises(BadFile, match="apertium-eng-spa"):
        Tagger(modes=tmp_path)
    with pytest.raises(UnknownName, match="spanish"):
        Pivot("french")
    with pytest.raises(BadSetting):
        Pivot("spanish", seconds=-1) if "spanish" in installed_pivots() else Pipeline([], seconds=-1)


def test_a_mode_starts_no_other_program_and_no_shell(tmp_path):
    path = tmp_path / "eng-spa.mode"
    for content in ("sh -c 'touch x' | lt-proc a", "lt-proc a; touch x", "touch x", "", "'"):
        path.write_text(content)
        try:
            stages = translation_stages("eng-spa", PIVOTS["spanish"][2], tmp_path)
        except BadFile as error:
            assert str(error).endswith(".")
        else:  # what a shell would run is an argument
            assert [stage[2:] for stage in stages] == [["a;", "touch", "x"]]
    assert set(PROGRAM_ENVIRONMENT) == {"LC_ALL", "PATH", "PYTHONSAFEPATH"}
