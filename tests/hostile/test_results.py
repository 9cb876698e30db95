"""Results as no method makes them: kept and read back equal, or refused; drawn without a trace of what they say as markup."""

from hypothesis import strategies as st

from pellucid.core.foundation.errors import PellucidError
from pellucid.core.results.table import Table
from pellucid.reports.markup.escape import visible
from pellucid.reports.page.page import caveats_section, facts_section
from tests.hostile.generated import generated
from tests.hostile.made import explanations, tables
from tests.hostile.promises import drawn_safely, harmless, kept, page_of, printed_safely, told_well
from tests.hostile.strategies import names, plain_values
from tests.reports.parsed import parsed


@generated(40, 1500, found=explanations(), ending=st.sampled_from([".json", ".parquet"]))
def test_any_explanation_is_kept_equal_or_refused(folder, found, ending):
    try:
        kept([found], folder, [ending])
    except PellucidError as error:
        told_well(error)


@generated(40, 1500, found=explanations())
def test_any_explanation_is_drawn_safely(folder, found):
    drawn_safely([found], folder)
    printed_safely([found])
    harmless(parsed(found._repr_html_()))


@generated(20, 400, table=tables())
def test_any_table_is_drawn_safely_and_kept_or_refused(folder, table):
    drawn_safely([], folder, table)
    printed_safely(table)
    harmless(parsed(table._repr_html_()))
    try:
        table.save(folder / "table.json")
    except PellucidError as error:
        told_well(error)
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
    harmless(root)
    assert next(root.every("h1")).text == visible(title)
