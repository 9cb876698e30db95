"""Every case in a process of its own, forked from one that has imported everything and computed nothing."""

import gc
import importlib
import io
import multiprocessing
import os
import warnings
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from typing import Any

import torch

IMPORTED = [
    "torch",
    "transformers.models.auto.modeling_auto",
    "transformers.models.bert.modeling_bert",
    "captum.attr",
    "shap",
    "lime.lime_text",  # what is not installed is left out
    "sklearn.linear_model",
    "pellucid",
    "benchmarks.attribution.measuring",
]
QUIET = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    "OMP_NUM_THREADS": "1",  # cases that want more set it themselves
    "OPENBLAS_NUM_THREADS": "1",
}


def in_fresh_process(module: str, request: dict[str, Any]) -> dict[str, Any]:
    """What `answer` of a module returns for a request; {"failed": why} where it raises or dies."""
    os.environ.update(QUIET)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(IMPORTED)
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        try:
            return pool.submit(_answer, module, request).result()
        except Exception as error:
            return {"failed": f"{type(error).__name__}: {error}"}


def in_this_process(module: str, request: dict[str, Any]) -> dict[str, Any]:
    """The same without a process of its own, for a GPU, whose memory is counted by what lives in it."""
    try:
        return _answer(module, request)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    finally:
        gc.collect()
        torch.cuda.empty_cache()


def _answer(module: str, request: dict[str, Any]) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    with redirect_stderr(io.StringIO()):  # progress bars
        return importlib.import_module(module).answer(request)
