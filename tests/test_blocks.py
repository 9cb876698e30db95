"""Every block of code in the pages is run, or says why not; those that are not run are checked against what they call.

`python -m tests.test_blocks` runs all tests of blocks and notes in docs/site/blocks.json that they passed: `make site`
wants to see that.
"""

import ast
import inspect
import re
import shlex
import sys
from itertools import takewhile

import pytest

import pellucid
from docs.site import blocks
from docs.site.__main__ import markdown
from docs.site.pages import gather
from pellucid.base.kinds import attributions
from pellucid.cli import MODULES, _imported
from tests.test_docs import DOCS, HOW_TO_ADD, PAGES, ROOT, RUNNABLE, name_of, python_blocks, text_of

SHELLS = re.compile(r"^```(?:sh|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
ENDS = {"|", "&&", ";", "&"}  # of one command of a line
OTHERS = {"python", "pip", "pytest", "cat", "ray", "export", "apt-get", "uvx", "pipx"}  # commands that are not ours
NOT_RUN = {  # page -> why its Python is not run as it stands
    "docs/checks.md": "needs further trainings of a model and explanations of other data",
    "docs/how-to/analyse-errors.md": "needs a model whose classes are the stars of its data",
    "docs/how-to/attack-a-model.md": "parts of a program around the reader's model and texts",
    "docs/how-to/can-attention-be-believed.md": "needs three trained models and their twins",
    "docs/how-to/concepts-of-a-model.md": "parts of a program around the reader's model and texts",
    "docs/how-to/explain-a-corpus.md": "needs a folder of files with very many texts",
    "docs/how-to/explain-a-pipeline.md": "parts of a program around the reader's table",
    "docs/how-to/explain-a-service.md": "needs a service and its key",
    "docs/how-to/explain-your-model.md": "needs models of many kinds, from the hub and from disk",
    "docs/how-to/extract-rationales.md": "needs a model that was trained with span attention",
    "docs/how-to/plant-a-reason.md": "needs a model that learnt from texts with a planted reason",
    "docs/how-to/question-the-spans.md": "needs a model that was trained with span attention",
    "docs/how-to/read-your-data.md": "names columns of a file that is not there",
    "docs/how-to/synonyms-and-translations.md": "needs translators that few machines have",
    "docs/how-to/train-a-self-explaining-model.md": "trains ten models",
    "docs/how-to/upgrade-a-classifier.md": "trains on data of the reader",
    "docs/methods/chance.md": "goes on from a model of the reader",
}


def commands(page):
    """Every command of the shell blocks of a page, in words."""
    for block in SHELLS.findall(text_of(page)):
        for line in block.replace("\\\n", " ").splitlines():
            plain = re.sub(r" 2?> *[^ ]+|^(\$ |[A-Z_]+=[^ ]* +)+", "", line.strip())  # what a shell keeps for itself
            words = shlex.split(plain, comments=True)
            starts = [0, *(place + 1 for place, word in enumerate(words) if word in ENDS)]
            for start in starts:
                command = list(takewhile(lambda word: word not in ENDS, words[start:]))
                if command:
                    yield command


@pytest.mark.parametrize("page", [page for page in PAGES if SHELLS.search(text_of(page))], ids=name_of)
def test_every_command_of_a_page_is_one_that_the_program_takes(page):
    for program, *words in commands(page):
        if program == "pellucid":
            name = " ".join(words[:2]) if " ".join(words[:2]) in MODULES else words[0]
            assert name in MODULES, words
            rest = words[len(name.split()) :]
            _imported(name).make_context(name, rest)  # an option or argument that does not fit raises
        else:
            assert program in OTHERS, program


@pytest.mark.parametrize("page", [page for page in PAGES if python_blocks(page)], ids=name_of)
def test_every_call_of_a_page_fits_what_it_calls(page):
    settings = {name for method in attributions.names() for name in attributions.get(method).defaults}
    for block in python_blocks(page):
        calls = [node for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)]
        for node in calls:
            name = ast.unparse(node.func).removeprefix("pellucid.")
            if name == ast.unparse(node.func) or "." in name:
                continue
            assert name in pellucid.__all__, name
            parameters = inspect.signature(getattr(pellucid, name)).parameters
            free = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
            if not free or name in ("explain", "explain_all"):
                known = parameters.keys() | (settings if free else set())
                assert {word.arg for word in node.keywords if word.arg} <= known, ast.unparse(node)


def test_every_page_with_python_is_run_or_says_why_not():
    run = {name_of(page) for page in (*RUNNABLE, *HOW_TO_ADD.values(), DOCS / "how-to" / "tour.md")}
    assert {name_of(page) for page in PAGES if python_blocks(page)} - run == NOT_RUN.keys()


TESTS = ("test_blocks.py", "test_doctests.py", "test_examples.py", "test_docs.py")  # those of blocks, and of docstrings


def main(words):
    """Run every test of blocks; where all pass, note that the blocks have been run."""
    texts = markdown(gather(ROOT / "build" / "blocks"))  # before the tests: what is changed meanwhile has not been run
    status = pytest.main([*(str(ROOT / "tests" / name) for name in TESTS), *words])
    if status == 0:
        blocks.write(texts)
        print(f"Written: {blocks.RECORD}")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
