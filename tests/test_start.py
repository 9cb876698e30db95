"""Starting is quick because nothing heavy is imported before it is needed; asserted by modules, not by a clock."""

import ast
import json
import subprocess
import sys

import pytest

import pellucid
from pellucid.cli import MODULES
from supply.lock import ROOT
from supply.release_state import version_of

HEAVY = ("torch", "transformers", "sklearn", "scipy", "pandas", "pyarrow", "matplotlib", "numpy")


def heavy_modules(program, *words):
    """Which heavy packages are imported once a program has run in a process of its own."""
    report = (
        "import atexit, json, sys\n"
        f"atexit.register(lambda: print(json.dumps([name for name in {HEAVY} if name in sys.modules]), "
        f"file=sys.stderr))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", report + program, *words], capture_output=True, encoding="utf-8", timeout=300
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stderr.splitlines()[-1])


COMMAND_LINE = "from pellucid.__main__ import main\nsys.argv[0] = 'pellucid'\nmain()"


@pytest.mark.parametrize("words", (["--help"], ["methods"], ["methods", "--json"]), ids=" ".join)
def test_a_command_that_only_lists_imports_nothing_heavy(words):
    assert heavy_modules(COMMAND_LINE, *words) == []


@pytest.mark.parametrize(
    "program",
    ("import pellucid", "import pellucid; pellucid.methods(); pellucid.__version__; dir(pellucid)"),
)
def test_importing_pellucid_imports_nothing_heavy(program):
    assert heavy_modules(program) == []


@pytest.mark.parametrize("command", MODULES)
def test_help_of_a_command_imports_nothing_that_computes(command):
    """Within half a second of one processor; only numpy, a tenth of it, may be there."""
    assert set(heavy_modules(COMMAND_LINE, command, "--help")) <= {"numpy"}


def test_explaining_by_gradients_imports_no_library_of_other_methods(tmp_path):
    from tests.shared.tiny import save_tiny

    folder = save_tiny(tmp_path / "model")
    program = f"import pellucid; pellucid.explain(pellucid.load({str(folder)!r}), 'a fine film')"
    for imported in (
        heavy_modules(program),
        heavy_modules(COMMAND_LINE, "explain", str(folder), "A fine film.", "--method", "integrated_gradients"),
    ):
        assert not {"sklearn", "pandas", "pyarrow", "matplotlib"} & set(imported), imported


def test_every_public_name_is_there_and_listed():
    assert set(pellucid.__all__) <= set(dir(pellucid))
    assert all(getattr(pellucid, name) is not None for name in pellucid.__all__)
    assert pellucid.__version__ == version_of(ROOT)


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'pellucid' has no attribute 'exlpain'"):
        pellucid.exlpain  # noqa: B018


def test_help_lists_every_command_and_a_wrong_name_gets_the_nearest(monkeypatch, capsys):
    from pellucid.cli import main

    for words, texts in ((["--help"], MODULES), (["explian"], ("Did you mean 'explain'",))):
        monkeypatch.setattr(sys, "argv", ["pellucid", *words])
        with pytest.raises(SystemExit):
            main()
        output = "".join(capsys.readouterr())
        assert all(text in output for text in texts), output


def test_every_command_of_a_file_is_listed():
    """A file of commands names in its first sentence each command that it has."""
    from pathlib import Path

    package = Path(pellucid.__file__).parent
    files = [*package.rglob("command.py"), *package.rglob("commands.py"), *package.glob("*/commands/*.py")]
    for path in files:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        module = ".".join(path.relative_to(package.parent).with_suffix("").parts)
        commands = {
            node.name.replace("_", "-")
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and "typer.Argument" in ast.unparse(node.args)
        }
        assert commands <= {name.replace(" ", "-") for name, place in MODULES.items() if place == module}, path
