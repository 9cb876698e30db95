"""Every public name has an example in its docstring, and every example prints what stands under it.

An example is what a reader can paste after `import pellucid`. Those of a class's methods go on from that of the class.
The folder that they run in has what a reader has already: `my-classifier`, `my-span-classifier`,
`my-attention-classifier`, `my-nli-model`, `my-translator`, `reviews.csv`, and a program in the place of a word aligner.
"""

import doctest
import inspect
import re

import pytest

import pellucid
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from pellucid.results.class_words import ClassWords
from tests.shared.tiny import LABELS, save_tiny, tiny_composed
from tests.shared.tiny_writing import save_tiny_writing

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
# public name -> (class, methods whose examples go on from that of the public name)
METHODS = {
    "Explanation": (pellucid.Explanation, ["words", "types", "top", "row", "to_html", "to_svg", "plot"]),
    "Extraction": (pellucid.Extraction, ["texts"]),
    "Results": (pellucid.Results, ["where", "sorted_by", "summary", "words", "data_frame"]),
    "Table": (pellucid.Table, ["cell", "save", "read"]),
    "class_words": (ClassWords, ["strongest"]),
}
NEEDED_PACKAGES = {
    "Explanation": "matplotlib",
    "Results": "pandas",
    "figure": "matplotlib",
    "to_data_frame": "pandas",
    "to_dataset": "datasets",
    "to_shap": "shap",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A reader's folder: three models, and forty labelled reviews."""
    folder = tmp_path_factory.mktemp("reader")
    save_tiny(folder / "my-classifier", "bert", LABELS)
    save_tiny(folder / "my-nli-model", "bert", ("contradiction", "neutral", "entailment"))
    span = tiny_composed("span")
    save_composed(span.network, span.tokenizer, Plan("tiny", "span", {}, LABELS), folder / "my-span-classifier")
    units = tiny_composed("additive")
    save_composed(
        units.network,
        units.tokenizer,
        Plan("tiny", "additive", {}, LABELS),
        folder / "my-attention-classifier",
    )
    save_tiny_writing(folder / "my-translator")
    rows = [f"A {word} {thing}.,{label}" for label, word in WORDS.items() for thing in THINGS]
    (folder / "eflomal-align").write_text(ALIGNER)
    (folder / "eflomal-align").chmod(0o755)
    (folder / "reviews.csv").write_text("\n".join(["text,label", *rows]), encoding="utf-8")
    return folder


ALIGNER = (  # links the words of one pair at the same places
    '#!/bin/sh\nfor option in "$@"; do case $option in *-links=*) echo 0-0 1-1 > "${option#*=}";; esac; done\n'
)
WORDS = dict(zip(LABELS, ("dull", "long", "lovely"), strict=True))
THINGS = "film book play song game dish hotel phone tale show walk trip lamp coat bike room".split()


def examples_in(documented, names=None):
    """The examples in a docstring, to be run with these names."""
    names = {"pellucid": pellucid} if names is None else names
    title = documented.__qualname__
    return doctest.DocTestParser().get_doctest(inspect.getdoc(documented), names, title, None, None)


def documented_parts(name):
    """A public name, and then its methods that have examples of their own."""
    of_class, methods = METHODS.get(name, (None, []))
    return [getattr(pellucid, name), *(getattr(of_class, method) for method in methods)]


@pytest.mark.parametrize("name", pellucid.__all__)
def test_every_public_name_has_an_example_that_is_right(name, folder, monkeypatch):
    pytest.importorskip(NEEDED_PACKAGES.get(name, "pellucid"))
    monkeypatch.chdir(folder)
    names = {"pellucid": pellucid}
    for part in documented_parts(name):
        test, differences = examples_in(part, names), []
        assert test.examples, f"{part.__qualname__} has no example in its docstring"
        test.globs = names  # get_doctest copies them; a method's example reads what the class's left
        doctest.DocTestRunner(optionflags=FLAGS).run(test, out=differences.append, clear_globs=False)
        assert not differences, "".join(differences)


@pytest.mark.parametrize("name", pellucid.__all__)
def test_no_example_is_left_out_of_the_run(name):
    for part in documented_parts(name):
        assert not [one.source for one in examples_in(part).examples if doctest.SKIP in one.options]


@pytest.mark.parametrize("name", pellucid.__all__)
def test_every_argument_is_described(name):
    documented = getattr(pellucid, name)
    if name == "PellucidError":
        return  # takes a sentence, as every exception
    described = re.findall(
        r"(?:^|[.] |[.]\n|; )([a-z_]+(?:, [a-z_]+)*):(?=\s)", inspect.getdoc(documented), re.MULTILINE
    )
    words = {word for words in described for word in words.split(", ")}
    missing = inspect.signature(documented).parameters.keys() - words
    assert not missing, f"the docstring of {name} does not say what {missing} are"
