"""Examples and explanations as a `datasets.Dataset`, in the columns that our Parquet files have."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pellucid.core.foundation.checks import every
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.packages import optional_package
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.explanation_record import example_record, to_record
from pellucid.core.results.storage import EXAMPLE_COLUMNS, SCHEMA, arrow_table
from pellucid.core.text.example import Example

if TYPE_CHECKING:
    import datasets


def to_dataset(items: Sequence[Example] | Sequence[Explanation]) -> "datasets.Dataset":
    """Examples or explanations as a `datasets.Dataset`, one row each.

    `pellucid.examples` reads saved examples back by the format hugging_face.

    items: examples, or explanations; one or more, not both.

    Returns the data set. Raises `MissingPackage` without the package datasets, `BadInput` for a list that mixes examples and
    explanations, or that is empty: it would have no columns.

    >>> dataset = pellucid.to_dataset(pellucid.examples("pocket", split="dev"))
    >>> dataset.column_names
    ['id', 'segments', 'label', 'rationales', 'meta']
    """
    items = every("items", items, Example | Explanation, "give a list of examples or of explanations")
    package = optional_package("datasets")
    explanations = [item for item in items if isinstance(item, Explanation)]
    examples = [item for item in items if isinstance(item, Example)]
    records: Sequence[Mapping[str, object]]
    if items and len(explanations) == len(items):
        records, schema = [to_record(explanation) for explanation in explanations], SCHEMA
    elif items and len(examples) == len(items):
        records = [example_record(example) for example in examples]
        schema = pa.schema([SCHEMA.field(name) for name in EXAMPLE_COLUMNS])
    else:
        raise BadInput("Give a list of examples, or a list of explanations, with at least one.")
    table = arrow_table(records, schema.remove_metadata(), "A data set cannot hold these")
    return package.Dataset(table)
