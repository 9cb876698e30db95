"""Names say what a thing is: words that only say that something was done to it are refused."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path for room in ("pellucid", "studies", "benchmarks", "tests") for path in (ROOT / room).rglob("*.py"))
REFUSED = set(
    "told found held said asked given kept taken gone made chosen pulled placed placing "
    "stretch stretches slope slopes".split()
)
TERMS = ("held_out", "made_up", "reason_found")  # a part of the data; a word that no language has; a metric
OTHERS = {
    "hypothesis": {"given"},
    "pyarrow": {"allow_not_found"},
    "uvicorn.protocols.http.h11_impl": {"connection_made"},
}  # names that other libraries chose


def names(path):
    """Every identifier of a file, where it is bound and where it is read; and the file's own name."""
    yield path.stem
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        for field in ("id", "arg", "name", "asname", "attr"):
            name = getattr(node, field, None)
            if isinstance(name, str):
                yield from name.split(".")


def refused(name):
    """The parts of a name that say nothing."""
    for term in TERMS:
        name = name.replace(term, "")
    return set(name.lower().split("_")) & REFUSED


SAYS_NOTHING = {"one", "of", "own", "other", "number"}
PUBLIC = {  # parameters and fields that users write, or that stand in saved files
    "of": {"span.py", "table.py", "forward_pass.py", "target.py"},
    "own": {"record.py", "span_analysis.py"},
}


def bound(path):
    """The names that a file binds itself: targets, parameters and functions; those of operators are Python's."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.Lambda):
            is_operator = isinstance(node, ast.FunctionDef) and node.name.startswith("__")
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            yield from () if is_operator else (parameter.arg for parameter in parameters)
            yield getattr(node, "name", "")


def test_names_of_the_package_say_more_than_that_there_is_a_thing():
    package = [path for path in FILES if path.is_relative_to(ROOT / "pellucid")]
    lazy = {
        (path.name, name)
        for path in package
        for name in SAYS_NOTHING.intersection(bound(path))
        if path.name not in PUBLIC.get(name, ())
    }
    assert not lazy


def borrowed(path):
    """Names of other libraries that a file imports."""
    text = path.read_text(encoding="utf-8")
    return {name for library, own in OTHERS.items() if f"from {library} import" in text for name in own}


@pytest.mark.parametrize(
    "folder", sorted({path.parent for path in FILES}), ids=lambda path: str(path.relative_to(ROOT))
)
def test_names_say_what_a_thing_is(folder):
    for path in sorted(folder.glob("*.py")):
        assert not sorted({name for name in names(path) if refused(name)} - borrowed(path)), path


def test_a_name_that_says_nothing_is_refused():
    assert refused("found") and refused("_told_where") and refused("Kept") and not refused("held_out_ids")


def test_one_class_a_name():
    places = {}
    for path in FILES:
        if path.is_relative_to(ROOT / "pellucid") or path.is_relative_to(ROOT / "studies"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert not {name: paths for name, paths in places.items() if len(paths) > 1}
