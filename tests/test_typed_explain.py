"""What editors complete: the types of `pellucid.explain` name every method with its settings, and ship with the
package.
"""

import ast
import subprocess
import sys
import zipfile

import pytest

import pellucid
from pellucid.base.kinds import attributions
from tests.test_supply import ROOT
from tests.typed_explain import STUB, stub


def test_the_types_are_those_of_the_methods():
    assert STUB.read_text(encoding="utf-8") == stub(), "run make fix"


OF_EVERY_METHOD = {
    "answer",
    "keep",
    "passages",
    "rest",
    "template",
    "target",
    "output",
    "seed",
    "text",
    "label",
    "label_map",
    "skip_bad_rows",
    "on_error",
    "workers",
    "progress",
}


@pytest.mark.parametrize("name", attributions.names())
def test_every_method_has_its_settings_there(name):
    entry = attributions.get(name)
    if not entry.module.startswith("pellucid."):
        pytest.skip("a method of another package")
    doors = [node for node in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)]
    (door,) = [door for door in doors if ast.unparse(door.args.args[2].annotation) == f"Literal[{name!r}]"]
    defaults = zip(door.args.kwonlyargs, door.args.kw_defaults, strict=True)
    written = {argument.arg: ast.literal_eval(default) for argument, default in defaults}
    assert entry.defaults.items() <= written.items()
    assert written.keys() - entry.defaults.keys() == OF_EVERY_METHOD


def test_the_public_explain_is_the_typed_one():
    from pellucid.explaining import explain as explaining

    assert pellucid.explain is explaining.explain


@pytest.mark.whole
def test_a_wheel_says_that_it_is_typed(tmp_path):
    build = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "--no-index",
        "--quiet",
    ]
    for name in ("pellucid", "pyproject.toml", "README.md"):
        (tmp_path / name).symlink_to(ROOT / name)
    subprocess.run([*build, "--wheel-dir", str(tmp_path / "out"), "."], check=True, cwd=tmp_path, timeout=300)
    (wheel,) = (tmp_path / "out").glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {
        "pellucid/py.typed",
        "pellucid/explaining/typed_explain.pyi",
        "pellucid/explaining/typed_explain.py",
    } <= names
