"""The site: its pages say what the code says, its configuration leads to every page, and its build stops at what is wrong."""

import inspect
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

import pellucid
from docs.pictures import drawn, self_explaining
from docs.pictures.of_studies import study_pictures
from docs.site import blocks, built, commands, pages, python_names
from docs.site.__main__ import configuration, main
from pellucid.cli import MODULES
from supply.lock import LOCKS, pinned
from tests.test_docs import options_of

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "docs" / "site" / "requirements.txt"


def section(page, heading, marks="###"):
    """A part of a page, from its heading to the next one as high."""
    return re.split(rf"^#{{2,{len(marks)}}} ", page.split(f"\n{marks} {heading}\n")[1], maxsplit=1, flags=re.MULTILINE)[
        0
    ]


@pytest.fixture(scope="module")
def python_page():
    return python_names.page()


@pytest.mark.parametrize("name", pellucid.__all__)
def test_the_page_of_python_has_every_public_name_with_its_arguments(name, python_page):
    part = section(python_page, name)
    named = set(re.findall(r"`([a-z_]+)`", part)) | set(re.findall(r"^\*{0,2}([a-z_]+):", part, re.MULTILINE))
    missing = set() if name == "PellucidError" else inspect.signature(getattr(pellucid, name)).parameters.keys() - named
    assert not missing, missing
    assert ">>> " in part and inspect.getdoc(getattr(pellucid, name)).split("\n")[0].split("`")[0].strip()[:30] in part


def test_the_page_of_commands_has_every_command_and_option():
    page = commands.page()
    for command in MODULES:
        part = section(page, command, "##")
        assert all(f"`{option}`" in part for option in options_of(command)), command


def small(tmp_path, text):
    """A repository of one page, a file of code and a picture."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(text, encoding="utf-8")
    (tmp_path / "code.py").write_text("x = '````'\n", encoding="utf-8")
    (tmp_path / "drawn.png").write_bytes(b"png")
    return tmp_path


def test_a_link_to_code_leads_to_a_page_that_shows_it(tmp_path):
    text = (
        "[code](../code.py) `[no](link)` ![drawn](../drawn.png)\n\n```python\na[0](b)\n```\n[out](https://example.org)"
    )
    root = small(tmp_path, text)
    pages.gather(tmp_path / "out", root)
    written = (tmp_path / "out" / "docs" / "page.md").read_text()
    assert written == text.replace("(../code.py)", "(../code.py.md)")
    assert "x = " in (tmp_path / "out" / "code.py.md").read_text() and (tmp_path / "out" / "drawn.png").exists()


@pytest.mark.parametrize(
    "text, sentence",
    [
        ("[a](b.md)", "docs/page.md: the link to b.md leads nowhere"),
        ("[a](../../../etc/hosts)", "leads nowhere"),
        ("[a](..)", "leads to a folder"),
        ("![ ](../drawn.png)", "docs/page.md: the picture ../drawn.png has no text"),
    ],
)
def test_the_build_stops_at_a_broken_link_and_a_picture_without_text(text, sentence, tmp_path):
    with pytest.raises(SystemExit, match=sentence):
        pages.gather(tmp_path / "out", small(tmp_path, text))


def test_what_was_built_is_read_once_more(tmp_path):
    good = '<h1 id="a">a</h1><a href="b.html#b">b</a><img src="data:image/png;base64,AA" alt="b">'
    (tmp_path / "a.html").write_text(good)
    (tmp_path / "b.html").write_text('<h1 id="b">b</h1><a href="https://example.org">out</a>')
    assert built.check(tmp_path) == 2
    faults = ('<a href="b.html#c">b</a>', '<a href="..">up</a>', '<img src="c.png" alt="c">', '<img src="a.html">')
    faults += ('<script src="https://example.org/a.js"></script>', '<link href="//example.org/a.css">')
    for fault in faults:
        (tmp_path / "a.html").write_text(good + fault)
        with pytest.raises(SystemExit, match="1 faults" if "c.png" in fault or "b.html" in fault else "faults"):
            built.check(tmp_path)


@pytest.fixture(scope="module")
def gathered(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    pages.gather(folder)
    return folder


def test_the_configuration_lists_pages_that_exist_and_the_version(gathered):
    settings = tomllib.loads(configuration(gathered))["project"]
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert settings["site_name"] == f"Pellucid {version}"
    listed = re.findall(r"'([^']*\.md)'", str(settings["nav"]))
    written = {"docs/reference/python.md", "docs/reference/commands.md"}
    assert not [name for name in listed if name not in written and not (gathered / name).is_file()]
    assert not [name for name, count in ((name, listed.count(name)) for name in set(listed)) if count > 1]
    of_docs = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert not of_docs - set(listed), "name these pages in docs/site/zensical.toml"


def test_what_the_site_is_built_with_is_locked_and_the_same_as_elsewhere():
    locked = [line.partition(" ")[0] for line in LOCKS[TOOLS].read_text().splitlines()[1:]]
    assert sorted(locked, key=str.lower) == sorted(pinned(TOOLS), key=str.lower)
    elsewhere = dict(line.lower().split("==") for line in pinned(ROOT / "constraints.txt"))
    here = dict(line.lower().split("==") for line in pinned(TOOLS))
    shared = ("typer", "numpy", "rich", "regex", "pydantic")
    assert {name: here[name] for name in shared} == {name: elsewhere[name] for name in shared}
    assert here["zensical"] == "0.0.73"


def test_every_picture_is_what_its_command_has_drawn(gathered):
    names = [path.relative_to(gathered).as_posix() for path in gathered.rglob("*") if path.suffix in pages.PICTURES]
    assert len(names) > 50 and drawn.faults(names) == []
    assert drawn.without_command() == []


@pytest.mark.parametrize("picture", [*study_pictures()], ids=lambda picture: picture.path.relative_to(ROOT).as_posix())
def test_the_picture_of_a_study_is_what_its_numbers_say(picture):
    assert picture.drawing() == picture.path.read_text(encoding="utf-8")


def with_picture(root):
    """A repository with a picture that has just been drawn."""
    (root / "docs" / "pictures").mkdir(parents=True)
    for name in ("data.csv", "a.png"):
        (root / name).write_text("1")
    drawn.record("python -m draw", ["data.csv"], ["a.png"], root)
    return root


@pytest.mark.parametrize(
    "spoil, sentence",
    [
        (lambda root: (root / "data.csv").write_text("2"), "a.png is older than data.csv, from which it is drawn; run `python -m draw`"),
        (lambda root: (root / "data.csv").unlink(), "a.png is older than data.csv"),
        (lambda root: (root / "a.png").write_text("2"), "a.png is not what its command drew; run `python -m draw`"),
        (lambda root: (root / "a.png").unlink(), "a.png is named in docs/pictures/drawn.json and is not there"),
        (lambda root: (root / drawn.RECORD).unlink(), "a.png has no command in docs/pictures/drawn.json; call"),
    ],
)  # fmt: skip
def test_a_picture_older_than_its_command_is_named(spoil, sentence, tmp_path):
    root = with_picture(tmp_path)
    assert drawn.faults(["a.png"], root) == []
    spoil(root)
    (fault,) = drawn.faults(["a.png"], root)
    assert fault.startswith(sentence)


def test_a_picture_that_no_command_draws_is_named_with_the_reason(tmp_path):
    root = with_picture(tmp_path)
    drawn.write({"a.png": {"by_hand": "a photograph"}}, root)
    assert drawn.faults(["a.png"], root) == [] and drawn.without_command(root) == ["a.png: a photograph"]


def test_a_change_that_alters_no_picture_is_noted_by_hand(tmp_path):
    root = with_picture(tmp_path)
    (root / "data.csv").write_text("1\n")
    drawn.main(["data.csv"], root)
    assert drawn.faults(["a.png"], root) == []
    with pytest.raises(SystemExit, match=r"No picture is drawn from more\.csv"):
        drawn.main(["more.csv"], root)


def test_blocks_that_have_not_been_run_are_named(tmp_path):
    text = "# Page\n\n```python\nprint(1)\n```\n"
    blocks.write({"a.md": text, "b.md": "no code"}, tmp_path / "blocks.json")
    assert blocks.faults({"a.md": f"{text}\nMore words."}, tmp_path / "blocks.json") == []
    more = [{"a.md": text.replace("1", "2")}, {"a.md": f"{text}\n```sh\npellucid words\n```\n"}, {"c.md": text}]
    for changed in more:
        (fault,) = blocks.faults(changed, tmp_path / "blocks.json")
        assert "its blocks of code have not been run as they stand; run `python -m tests.test_blocks`" in fault


def test_the_build_stops_before_it_draws_what_is_stale(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "RECORD", tmp_path / "none.json")
    with pytest.raises(SystemExit, match=r"README\.md: its blocks of code have not been run"):
        main(tmp_path / "build")
    assert not (tmp_path / "build" / "site").exists()


def test_a_drawing_without_a_model_is_what_its_command_draws():
    path = ROOT / "docs" / "pictures" / "self-explaining.svg"
    assert self_explaining.drawing() == path.read_text(encoding="utf-8")


@pytest.mark.long
def test_the_site_is_built_from_an_empty_folder_and_stops_at_a_wrong_anchor(tmp_path):
    names = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, encoding="utf-8"
    )
    for name in names.stdout.splitlines():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, tmp_path / name)
    subprocess.run(["make", "site"], cwd=tmp_path, check=True)
    front = (tmp_path / "build" / "site" / "index.html").read_text(encoding="utf-8")
    assert "docs/pictures/report.png" in front and "https://unpkg.com" not in front
    with (tmp_path / "README.md").open("a", encoding="utf-8") as readme:
        readme.write("\n[wrong](docs/guard.md#nowhere)\n")
    assert subprocess.run(["make", "site"], cwd=tmp_path).returncode != 0
