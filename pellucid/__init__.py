"""Pellucid: why a text classifier decided as it did, and whether that explanation can be believed."""

from pellucid.api import (
    accuracy,
    class_words,
    compare,
    error_analysis,
    examples,
    explain,
    explain_all,
    extract,
    follows_planted_reason,
    formats,
    load,
    methods,
    plant,
    predict,
    read,
    report,
    spans,
    train,
)
from pellucid.core.corpus.results import Results
from pellucid.core.foundation.errors import PellucidError
from pellucid.core.passes.hidden_target import HiddenState
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.extraction import Extraction
from pellucid.core.results.storage import save
from pellucid.core.results.table import Table
from pellucid.core.text.example import Example
from pellucid.evaluation.protocols.eraser_scores import eraser_scores
from pellucid.evaluation.protocols.upgrade import Upgrade
from pellucid.exports.data_frame import to_data_frame
from pellucid.exports.eraser_examples import write_eraser_examples
from pellucid.exports.eraser_predictions import write_eraser
from pellucid.exports.hugging_face_datasets import to_dataset
from pellucid.exports.json_lines import write_json_lines
from pellucid.exports.shap_explanation import to_shap
from pellucid.models.classifiers.function import from_function, from_pipeline
from pellucid.models.classifiers.network import from_network

__all__ = [
    "Example",
    "Explanation",
    "Extraction",
    "HiddenState",
    "PellucidError",
    "Results",
    "Table",
    "Upgrade",
    "accuracy",
    "class_words",
    "compare",
    "eraser_scores",
    "error_analysis",
    "examples",
    "explain",
    "explain_all",
    "extract",
    "follows_planted_reason",
    "formats",
    "from_function",
    "from_network",
    "from_pipeline",
    "load",
    "methods",
    "plant",
    "predict",
    "read",
    "report",
    "save",
    "spans",
    "to_data_frame",
    "to_dataset",
    "to_shap",
    "train",
    "write_eraser",
    "write_eraser_examples",
    "write_json_lines",
]
