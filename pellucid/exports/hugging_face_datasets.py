"""Examples and explanations as a `datasets.Dataset`, in the columns that our Parquet files have."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from pellucid.core.foundation.checks import every
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.optional_package import optional_package
from pellucid.core.foundation.wording import reason
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.storage import EXAMPLE_COLUMNS, SCHEMA, example_record, to_record
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
    if items and all(isinstance(item, Explanation) for item in items):
        records, schema = [to_record(item) for item in items], SCHEMA  # type: ignore[arg-type]
    elif items and all(isinstance(item, Example) for item in items):
        records = [example_record(item) for item in items]  # type: ignore[arg-type]
        schema = pa.schema([SCHEMA.field(name) for name in EXAMPLE_COLUMNS])
    else:
        raise BadInput("Give a list of examples, or a list of explanations, with at least one.")
    try:
        table = pa.Table.from_pylist(records, schema=schema.remove_metadata())
    except (
        ValueError,
        OverflowError,
        pa.ArrowException,
    ) as error:  # half of a surrogate pair is a ValueError
        raise BadInput(f"A data set cannot hold these: {reason(error)}; use plain values.") from None
    return package.Dataset(table)
