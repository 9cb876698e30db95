"""Pellucid: why a model of texts answered as it did, and whether that explanation can be believed."""

from typing import TYPE_CHECKING

from pellucid.base.lazy_attributes import lazy_names

if TYPE_CHECKING:
    from pellucid.api.analysing_errors import error_analysis
    from pellucid.api.analysing_spans import spans
    from pellucid.api.attacks.attack_folder import read_blind_sheets
    from pellucid.api.attacks.attacking import attack
    from pellucid.api.attention.analysing_attention import attention_analysis
    from pellucid.api.catalogues import attack_list, checks, formats, methods, routes
    from pellucid.api.comparing import compare, compare_cost
    from pellucid.api.comparing_versions import diff
    from pellucid.api.continuing_texts import write
    from pellucid.api.counting_words import class_words
    from pellucid.api.drawing import figure, latex
    from pellucid.api.explaining import explain_all
    from pellucid.api.extracting import extract
    from pellucid.api.inputs.loading import load
    from pellucid.api.judging import accuracy, follows_planted_reason
    from pellucid.api.layers.analysing_concepts import concepts
    from pellucid.api.layers.analysing_layers import layer_analysis
    from pellucid.api.planting import plant
    from pellucid.api.predicting import predict
    from pellucid.api.reading_results import examples, read
    from pellucid.api.reporting import report
    from pellucid.api.selecting import select
    from pellucid.api.training import train
    from pellucid.api.training_lens import lens
    from pellucid.api.translation.scoring_translations import bleu, link_scores, links
    from pellucid.api.translation.training_translator import train_translator
    from pellucid.api.translation.translating import Translation, translate
    from pellucid.api.typed_explain import explain
    from pellucid.attacks.shared.attack_plan import AttackPlan
    from pellucid.base.errors import PellucidError
    from pellucid.base.packages import __version__ as __version__
    from pellucid.base.verification import verify
    from pellucid.data.exports.blind_sheet import write_blind_sheet
    from pellucid.data.exports.eraser import write_eraser, write_eraser_examples
    from pellucid.data.exports.json_lines import to_dataset, write_json_lines
    from pellucid.data.exports.shap_explanation import to_shap
    from pellucid.data.exports.tables import to_data_frame, write_csv
    from pellucid.evaluation.protocols.eraser_scores import eraser_scores
    from pellucid.evaluation.protocols.upgrade import Upgrade
    from pellucid.models.classifiers.function import from_function, from_pipeline
    from pellucid.models.classifiers.network import from_network
    from pellucid.results.attacks.attempts import Attempts
    from pellucid.results.attention_analysis import AttentionAnalysis
    from pellucid.results.explanation import Explanation
    from pellucid.results.extraction import Extraction
    from pellucid.results.layers.layer_analysis import LayerAnalysis
    from pellucid.results.results import Results
    from pellucid.results.storage import save
    from pellucid.results.table import Table
    from pellucid.run.hidden_target import HiddenState
    from pellucid.run.word import Word
    from pellucid.text.example import Example
else:
    __getattr__, __dir__ = lazy_names(__name__)

__all__ = [
    "AttackPlan",
    "Attempts",
    "AttentionAnalysis",
    "Example",
    "Explanation",
    "Extraction",
    "HiddenState",
    "LayerAnalysis",
    "PellucidError",
    "Results",
    "Table",
    "Translation",
    "Upgrade",
    "Word",
    "accuracy",
    "attack",
    "attack_list",
    "attention_analysis",
    "bleu",
    "checks",
    "class_words",
    "compare",
    "compare_cost",
    "concepts",
    "diff",
    "eraser_scores",
    "error_analysis",
    "examples",
    "explain",
    "explain_all",
    "extract",
    "figure",
    "follows_planted_reason",
    "formats",
    "from_function",
    "from_network",
    "from_pipeline",
    "latex",
    "layer_analysis",
    "lens",
    "link_scores",
    "links",
    "load",
    "methods",
    "plant",
    "predict",
    "read",
    "read_blind_sheets",
    "report",
    "routes",
    "save",
    "select",
    "spans",
    "to_data_frame",
    "to_dataset",
    "to_shap",
    "train",
    "train_translator",
    "translate",
    "verify",
    "write",
    "write_blind_sheet",
    "write_csv",
    "write_eraser",
    "write_eraser_examples",
    "write_json_lines",
]
