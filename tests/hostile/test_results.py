"""Results as no method makes them: kept and read back equal, or refused; drawn without a trace of what they say as
markup.
"""

from hypothesis import strategies as st

from pellucid.base.errors import PellucidError
from pellucid.drawing.html import visible
from pellucid.drawing.page import caveats_section, facts_section
from pellucid.results.table import Table
from tests.hostile.assertions import (
    assert_drawn_safely,
    assert_good_message,
    assert_harmless,
    assert_printed_safely,
    assert_round_trip,
    page_of,
)
from tests.hostile.generated_cases import generated
from tests.hostile.input_strategies import names, plain_values
from tests.hostile.result_strategies import explanations, tables
from tests.shared.parsed import parsed


@generated(40, 1500, explanation=explanations(), ending=st.sampled_from([".json", ".parquet"]))
def test_any_explanation_is_saved_unchanged_or_refused(folder, explanation, ending):
    try:
        assert_round_trip([explanation], folder, [ending])
    except PellucidError as error:
        assert_good_message(error)


@generated(40, 1500, explanation=explanations())
def test_any_explanation_is_drawn_safely(folder, explanation):
    assert_drawn_safely([explanation], folder)
    assert_printed_safely([explanation])
    assert_harmless(parsed(explanation._repr_html_()))


@generated(20, 400, table=tables())
def test_any_table_is_drawn_safely_and_saved_or_refused(folder, table):
    assert_drawn_safely([], folder, table)
    assert_printed_safely(table)
    assert_harmless(parsed(table._repr_html_()))
    try:
        table.save(folder / "table.json")
    except PellucidError as error:
        assert_good_message(error)
        return
    assert str(Table.read(folder / "table.json")) == str(table)


@generated(
    20,
    300,
    title=names(surrogates=True),
    facts=st.dictionaries(names(), plain_values(), min_size=1, max_size=3),
    caveats=st.lists(names(surrogates=True), max_size=3),
)
def test_titles_facts_and_caveats_are_text(title, facts, caveats):
    root = page_of(title, [facts_section("<h1>", title, facts), caveats_section(caveats)])
    assert_harmless(root)
    assert next(root.every("h1")).text == visible(title)
