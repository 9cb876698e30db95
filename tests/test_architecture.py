"""Who may import whom: imports point one way, and what is dangerous or only for tests is imported nowhere."""

import ast
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import pellucid

PACKAGE = Path(pellucid.__file__).parent
ROOT = PACKAGE.parent
FILES = sorted([*PACKAGE.rglob("*.py"), *(ROOT / "studies").rglob("*.py")])
TOPS = (PACKAGE, ROOT / "studies")
FOLDERS = sorted({path.parent for path in FILES})  # a test a folder: a test a file takes longer to begin than to run
FLOORS = (  # a room imports rooms of floors before its own; rooms of one floor meet through arguments alone
    ("base",),
    ("text",),
    ("results",),
    ("run",),
    ("models",),
    ("attribution",),
    ("data",),
    ("drawing",),
    ("explaining",),
    ("training", "words", "versions", "corpus"),
    ("comparison", "layers", "writing"),
    ("attention", "evidence", "discovery"),
    ("errors", "attacks"),
    ("studio",),
)
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
LIGHT = ("base", "text", "results", "run")  # rooms that every other one imports
LIGHT_NEEDS = {"torch", "numpy", "pyarrow", "regex", "scipy", "icu4py", *sys.stdlib_module_names}
LIGHT_TYPES = {
    "matplotlib",
    "pandas",
}  # named in annotations alone; imported when asked for, by `optional_package`
NOWHERE = {
    "captum",
    "shap",
    "lime",
    "pytest",
    "hypothesis",
    "pickle",
    "dill",
    "joblib",
    "cloudpickle",
    "tests",
    "benchmarks",
}


@cache
def nodes(path):
    """The syntax tree of a file, node by node."""
    return tuple(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def imports(path):
    """The full names of all that a file imports, also inside functions."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room_of(name):
    """The folder or file right under the package that a full module name lies in."""
    return [*name.split("."), ""][1]


def is_command(path):
    """Whether the file holds commands, which call the doors as a user does: by `import pellucid`."""
    return path.parent.name == "commands" or path.stem in ("command", "commands", "train_command")


def of_every_folder(test):
    """Run a test for each folder; it names the file that fails."""
    return pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: str(path.relative_to(ROOT)))(test)


@of_every_folder
def test_imports_point_one_way(folder):
    for path in sorted(folder.glob("*.py")):
        package, room, *_ = [*path.relative_to(ROOT).with_suffix("").parts, ""]
        named = list(imports(path))
        ours = {room_of(name) for name in named if name.split(".")[0] == "pellucid"} - {room}
        others = {name.split(".")[0] for name in named} - {"pellucid"}
        assert not others & NOWHERE, path
        if package == "studies":
            assert "cli" not in ours, path
            continue
        assert "studies" not in others, path
        if room in FLOOR:
            assert all(FLOOR[below] < FLOOR[room] for below in ours & FLOOR.keys()), path
            assert ours <= FLOOR.keys() | ({""} if is_command(path) else set()), path
        if room in LIGHT:
            assert others <= LIGHT_NEEDS | LIGHT_TYPES, path


def module_of(path):
    """A file's full name; that of a folder's `__init__` is the folder's."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_no_files_import_each_other_in_a_circle():
    modules = {module_of(path) for path in FILES}
    below = {}
    for path in FILES:
        named = [name if name in modules else name.rpartition(".")[0] for name in imports(path)]
        below[module_of(path)] = modules.intersection(named)
    TopologicalSorter(below).prepare()  # raises CycleError, which names the circle


def test_no_folders_import_each_other_in_a_circle():
    """Also inside a room: a folder that leans on another is not leant on by it."""
    folders = {module_of(path): module_of(path.parent / "__init__.py") for path in FILES if path.parent not in TOPS}
    below = {folder: set() for folder in folders.values()}
    for path in FILES:
        if path.parent not in TOPS:
            named = [name if name in folders else name.rpartition(".")[0] for name in imports(path)]
            folder = folders[module_of(path)]
            below[folder].update({folders[name] for name in named if name in folders} - {folder})
    TopologicalSorter(below).prepare()


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "attribution" / "backward").rglob("*.py")), ids=lambda path: path.stem
)
def test_relevance_knows_families_of_models_and_no_models(path):
    named = {name for name in imports(path) if name.startswith("pellucid.models.")}
    assert all(name.startswith("pellucid.models.families.") for name in named)


DANGEROUS = ("torch.load", "torch.save", "eval", "exec", "__import__", "os.system")
HOOKS = ("register_forward", "register_full_backward", "register_module")
MOST_FILES = 30  # in a folder: more are more than one question


def test_no_folder_is_crowded():
    folders = {path.parent for path in FILES}
    crowded = {str(folder.relative_to(ROOT)) for folder in folders if len(list(folder.glob("*.py"))) > MOST_FILES}
    assert not crowded


def test_every_folder_is_known():
    rooms = {path.relative_to(PACKAGE).parts[0] for path in PACKAGE.glob("*/**/*.py")}
    assert rooms == FLOOR.keys()


@of_every_folder
def test_nothing_dangerous_is_called(folder):
    for path in sorted(folder.glob("*.py")):
        for node in nodes(path):
            if isinstance(node, ast.keyword) and node.arg == "trust_remote_code":
                assert isinstance(node.value, ast.Constant) and node.value.value is False, path
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called not in DANGEROUS, path
                assert not (called.startswith("subprocess.") and "shell=True" in ast.unparse(node)), path


@of_every_folder
def test_hooks_on_modules_are_registered_in_one_place(folder):
    """Where they are given to one thread alone."""
    for path in sorted(folder.glob("*.py")):
        if path.relative_to(ROOT).as_posix() != "pellucid/run/module_hooks.py":
            names = {node.attr for node in nodes(path) if isinstance(node, ast.Attribute)}
            assert not [name for name in names if name.startswith(HOOKS)], path
