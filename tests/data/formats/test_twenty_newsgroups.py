"""20 Newsgroups: some groups, without headers, without what is quoted from others."""

import pytest

from pellucid.base.errors import UnknownName
from pellucid.data.load import load_examples
from tests.data.formats.originals import write

MESSAGE = (
    "From: a@b\nSubject: Re: Kites\n\nIn article <1@x> someone writes:\n> Thread breaks.\n| It does.\nUse "
    "silk.\n\n:-)\n"
)


@pytest.fixture
def source(tmp_path):
    write(tmp_path / "test" / "rec.kites" / "1", MESSAGE)
    write(tmp_path / "test" / "rec.kites" / "2", "From: c@d\n\n> Nothing of mine.\n")
    write(tmp_path / "test" / "sci.mud" / "3", "From: e@f\n\nDeep.\n")
    return tmp_path


def read(source, **settings):
    examples = load_examples(source, "test", "twenty_newsgroups", **settings)
    return {one.id: one.text for one in examples}


def test_groups_are_named_by_a_setting(source):
    assert set(read(source, groups="sci.mud")) == {"sci.mud-3"}
    assert set(read(source, groups="sci.mud, rec.kites")) == {"sci.mud-3", "rec.kites-1", "rec.kites-2"}
    with pytest.raises(UnknownName, match=r"Did you mean 'rec.kites'"):
        read(source, groups="rec.kite")


def test_headers_and_quotes_are_left_out(source):
    assert read(source)["rec.kites-1"] == MESSAGE
    assert read(source, headers=False)["rec.kites-1"].startswith("In article")
    assert read(source, headers=False, quotes=False)["rec.kites-1"] == "Use silk.\n\n:-)"


def test_a_message_of_which_nothing_is_left_is_left_out(source):
    assert "rec.kites-2" in read(source, headers=False)
    assert set(read(source, headers=False, quotes=False)) == {"rec.kites-1", "sci.mud-3"}
