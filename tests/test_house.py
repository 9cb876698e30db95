"""The size of the house: how many files, how long, how many ways between them. `python -m tests.test_house` prints the
table.

Each number has a bound that it may not pass again, and an aim. What is counted is the package, without studies and
tests.
"""

import ast
from pathlib import Path
from statistics import median, quantiles

import pytest

import pellucid

PACKAGE = Path(pellucid.__file__).parent
SHORT = 15  # lines of code
# name -> (bound, aim, whether less is better). Each leaves room for about ten new methods, metrics or views.
BOUNDS = {
    "files": (515, 320, True),
    "lines": (106_550, 68_000, True),
    "median file, lines": (200, 180, False),
    "files of 15 lines of code or fewer": (4, 4, True),
    "own imports per 1,000 lines": (42.3, 25, True),
    "lines of a body, p90": (13, 13, True),
}


def code_lines(text, tree):
    """Lines with code: neither empty, nor a comment, nor of a docstring."""
    documented = {
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, node.body[0].end_lineno + 1)
    }
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(line.strip()) and not line.strip().startswith("#") and n not in documented for n, line in lines)


def body_lines(node):
    """The lines of a function, without its head and its docstring."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def own_imports(tree, modules, own):
    """The files of the package that a file imports."""
    named = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in modules:
            full = {f"{node.module}.{alias.name}" for alias in node.names}
            named |= (full & modules) or {node.module}
    return named - {own}


@pytest.fixture(scope="module")
def house():
    return measured()


def measured():
    """name -> number, for each of `BOUNDS`."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(PACKAGE.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    names = {
        path: ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")
        for path in texts
    }
    modules = set(names.values())
    bodies = [
        body_lines(node) for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
    ]
    lines = [text.count("\n") for text in texts.values()]
    short = [
        path for path, text in texts.items() if path.name != "__init__.py" and code_lines(text, trees[path]) <= SHORT
    ]
    imports = sum(len(own_imports(tree, modules, names[path])) for path, tree in trees.items())
    return {
        "files": len(texts),
        "lines": sum(lines),
        "median file, lines": median(lines),
        "files of 15 lines of code or fewer": len(short),
        "own imports per 1,000 lines": round(1000 * imports / sum(lines), 1),
        "lines of a body, p90": round(quantiles(bodies, n=10)[-1]),
    }


@pytest.mark.parametrize("name", BOUNDS)
def test_the_house_does_not_grow(name, house):
    bound, _, less = BOUNDS[name]
    assert house[name] <= bound if less else house[name] >= bound, (
        f"{name}: {house[name]:,}, and the bound is {bound:,}. Put what is read together into one file, as far as that reads "
        "well; else move the bound, and say why in the commit."
    )


def table():
    """The numbers with their bounds and aims."""
    rows = [
        f"| {name} | {number:,} | {BOUNDS[name][0]:,} | {BOUNDS[name][1]:,} |" for name, number in measured().items()
    ]
    return "\n".join(["| | now | bound | aim |", "|---|---|---|---|", *rows])


if __name__ == "__main__":
    print(table())
