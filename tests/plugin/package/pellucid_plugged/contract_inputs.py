"""What the contract tests need beside the registrations. `pytest -p pellucid_plugged.contract_inputs` reads it
first.
"""

from tests.data.formats.originals import ORIGINALS, Original, example
from tests.reference.planted import REFERENCES, Reference, words_of

LOG = "ann\tHello.\nbob\tWho is there?\n"


def opening(segments, made_up):
    """The rule of the planted reason, read off the finished text."""
    (word,) = [word for word in words_of(segments) if word in made_up]
    return {made_up[0]: "no", made_up[1]: "yes"}[word], [word]


ORIGINALS["plugged_log"] = Original(
    {"test.log": LOG},
    [example("Hello.", "ann", "test-1"), example("Who is there?", "bob", "test-2")],
    ("test.log", LOG + "no tab\n", 3, "not enough values"),
)
REFERENCES["plugged_opening"] = Reference(opening, n_changed=frozenset({1}), single_words=True, in_both_texts=False)
