"""`pellucid open MODEL… RUN…`: models, runs and comparisons as pages to click through."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.base.files import is_address
from pellucid.explaining.commands.data_options import Part, Reading
from pellucid.explaining.commands.model_options import LanguageOptions, ModelOptions, with_option_records

RUN, COMPARISON = "job.json", "table.json"  # a folder with such a file is one


@with_option_records
def open(
    names: Annotated[
        list[str],
        typer.Argument(
            help="Folders of models, or their names on the Hugging Face Hub; folders or addresses of runs (of "
            "explain --out) and folders of comparisons (of compare --out)."
        ),
    ],
    *,
    runs: Annotated[
        Path | None, typer.Option(help="A folder of runs, of which those of these models are opened.")
    ] = None,
    comparison: Annotated[
        list[Path] | None,
        typer.Option(help="What pellucid compare saved of a model, its folder or table. May be repeated."),
    ] = None,
    learnt: Annotated[
        list[Path] | None,
        typer.Option(help="The folder that `concepts find --out` wrote, of the concepts of a model. May be repeated."),
    ] = None,
    data: Annotated[
        str | None, typer.Option(help="Labelled texts to measure methods with: a file, a folder or a data set's name.")
    ] = None,
    part: Part,
    reading: Reading,
    loading: ModelOptions,
    languages: LanguageOptions,
    host: Annotated[
        str,
        typer.Option(help="The address to serve at. Another one than 127.0.0.1 needs --certificate or --behind-proxy."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None, typer.Option(help="The port; 0: a free one. Default: 8117, or a free one where that is in use.")
    ] = None,
    certificate: Annotated[Path | None, typer.Option(help="A certificate in PEM, for https.")] = None,
    key: Annotated[
        Path | None, typer.Option(help="Its key in PEM, where the certificate's file does not hold it.")
    ] = None,
    behind_proxy: Annotated[
        str | None,
        typer.Option(help="Where a proxy lets readers reach it, such as https://example.org/studio."),
    ] = None,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
    dtype: Annotated[
        str, typer.Option(help="The number type: float32, mixed_bfloat16, bfloat16, float16, float64 or auto.")
    ] = "float32",
) -> None:
    """Open models in a browser: type a text, change or hide a word, and see the answer and what each method says."""
    settings = {"device": device, "dtype": dtype, **asdict(loading), **asdict(languages)}
    of_runs = [name for name in names if is_address(name) or (Path(name) / RUN).is_file()]
    of_comparisons = [name for name in names if name not in of_runs and (Path(name) / COMPARISON).is_file()]
    of_models = [name for name in names if name not in of_runs and name not in of_comparisons]
    examples = None if data is None else reading.source(data, part.split).examples()
    pellucid.open_studio(
        [_loader(name, settings) for name in of_models],
        runs=[*of_runs, *([] if runs is None else [runs])],
        comparisons=[*of_comparisons, *(comparison or [])],
        learnt=learnt or [],
        data=examples,
        data_name=data,
        label_map=reading.meanings(),
        host=host,
        port=port,
        certificate=certificate,
        key=key,
        behind_proxy=behind_proxy,
    )
    _end_beside_computing()


def _end_beside_computing() -> None:
    """End at once where a model still computes: an ordinary end would wait for it, or be aborted in its code."""
    from pellucid.studio.work import ended

    if not ended(1):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _loader(name: str, settings: dict[str, Any]) -> Callable[[], Any]:
    """What loads a model once all else is known to be possible."""

    def load() -> Any:
        return pellucid.load(name, **settings)

    return load
