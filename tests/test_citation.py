"""CITATION.cff and the issue forms are what their readers expect: YAML with the keys that they need."""

from datetime import date

import pytest
import yaml

from supply.lock import ROOT
from supply.release_state import version_of

FORMS = sorted(path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.name != "config.yml")


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_the_citation_has_the_keys_that_its_form_requires_and_this_version():
    citation = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors", "type", "license", "version"} <= citation.keys()
    assert citation["cff-version"] == "1.2.0" and citation["type"] == "software"
    assert citation["version"] == version_of(ROOT) == version_of(ROOT / "studies")
    assert all({"name", "family-names"} & author.keys() for author in citation["authors"])
    assert isinstance(citation.get("date-released", date.today()), date)


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_a_form_asks_for_what_it_needs_and_each_field_once(path):
    form = read(path)
    assert form["name"] and form["description"] and form["body"]
    fields = [field["id"] for field in form["body"] if field["type"] != "markdown"]
    assert len(fields) == len(set(fields))
    assert all(field["attributes"]["label"] for field in form["body"])
    assert any(field.get("validations", {}).get("required") for field in form["body"])
