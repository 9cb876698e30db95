"""`pellucid lens MODEL --texts FILE`: a language head for a model that has none."""

from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options.data_options import TextFiles
from pellucid.cli.options.option_records import settings_from, with_option_records
from pellucid.cli.options.safe_text import say
from pellucid.models.language_heads.lens_folder import RECORD
from pellucid.training.lens.lens_stage import LensRecipe

DEFAULT = LensRecipe()


@with_option_records
def lens(
    model: Annotated[
        str,
        typer.Argument(
            help="A folder with a classifier, a name on the Hugging Face Hub, or an encoder such as minilm."
        ),
    ],
    *,
    texts: Annotated[
        str,
        typer.Option(
            help="Plain texts: a file with one text a line, a data file, a folder, a data set's name."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="The folder for the lens. After an interruption, run the same command again to go on."
        ),
    ],
    on: Annotated[
        str | None,
        typer.Option(
            help="encoder: as it was before fine-tuning; classifier: as it is. Default: what MODEL plainly is."
        ),
    ] = None,
    files: TextFiles,
    head_steps: Annotated[int, typer.Option(min=1, help="Steps that train the head.")] = DEFAULT.head_steps,
    translator_steps: Annotated[
        int, typer.Option(min=1, help="Steps that train the translators of the layers.")
    ] = DEFAULT.translator_steps,
    batch_size: Annotated[
        int, typer.Option(min=1, help="How many texts, or parts of long ones, a step uses.")
    ] = DEFAULT.batch_size,
    sequence_length: Annotated[
        int, typer.Option(min=8, help="The most pieces of a part; longer texts are cut between words.")
    ] = DEFAULT.sequence_length,
    learning_rate: Annotated[float, typer.Option(help="The highest learning rate.")] = DEFAULT.learning_rate,
    dev_rows: Annotated[
        int, typer.Option(min=1, help="How many dev texts, or parts of long ones, the table is made of.")
    ] = DEFAULT.dev_rows,
    seed: Annotated[
        int, typer.Option(help="The seed of the head's first weights, of masks and of the order of texts.")
    ] = DEFAULT.seed,
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Train a lens, which reads hidden states as words, for a model without a language head."""
    trained = pellucid.lens(
        model,
        texts,
        out=out,
        on=on,
        format=files.format_,
        read=settings_from(files.read or [], "--read"),
        skip_bad_rows=files.skip_bad_rows,
        text=files.text_column,
        device=device,
        head_steps=head_steps,
        translator_steps=translator_steps,
        batch_size=batch_size,
        sequence_length=sequence_length,
        learning_rate=learning_rate,
        dev_rows=dev_rows,
        seed=seed,
    )
    print(trained.record.table.to_json() if as_json else trained.record.table)
    say(f"Trained on {trained.trained_on} {trained.record.model}. Written: {out / RECORD}", aside=True)
