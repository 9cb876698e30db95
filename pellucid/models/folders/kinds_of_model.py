"""Models that are no text classifiers, by what their folders and classes say: what each is, and what to do instead."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pellucid.base.errors import BadFile, ModelCannot
from pellucid.base.wording import quoted
from pellucid.models.folders.configuration import CONFIG, read_object

CLASSIFIER = "ForSequenceClassification"
# How the names of classes end -> what such a model does; the longest ending that fits counts.
KINDS = {
    "ForTokenClassification": "labels single words (token classification)",
    "ForQuestionAnswering": "finds answers to questions in a text (question answering)",
    "ForMaskedLM": "guesses masked words (masked language model)",
    "ForPreTraining": "guesses masked words (a model before it is fine-tuned)",
    "ForCausalLM": "continues texts (text generation)",
    "LMHeadModel": "continues texts (text generation)",
    "ForConditionalGeneration": "writes one text for another (translation, summaries and the like)",
    "ForSeq2SeqLM": "writes one text for another (translation, summaries and the like)",
    "ForMultipleChoice": "chooses among answers (multiple choice)",
    "ForNextSentencePrediction": "says whether one sentence follows another",
    "ForImageClassification": "classifies pictures",
    "ForAudioClassification": "classifies sounds",
    "ForCTC": "writes down speech",
    "ForSpeechSeq2Seq": "writes down speech",
    "ForZeroShotImageClassification": "compares pictures with texts",
}
ENCODERS = ("ForMaskedLM", "ForPreTraining")  # of which a classifier can be trained
EMBEDDINGS = "turns texts into vectors (sentence embeddings)"
# A file that tells what made a folder -> what the model does.
SIGNS = {
    "config_setfit.json": "is a SetFit model",
    "modules.json": EMBEDDINGS,
    "config_sentence_transformers.json": EMBEDDINGS,
}
TASKS = {  # what a pipeline is for -> what its model does
    "token-classification": KINDS["ForTokenClassification"],
    "ner": KINDS["ForTokenClassification"],
    "question-answering": KINDS["ForQuestionAnswering"],
    "fill-mask": KINDS["ForMaskedLM"],
    "text-generation": KINDS["ForCausalLM"],
    "summarization": KINDS["ForConditionalGeneration"],
    "translation": KINDS["ForConditionalGeneration"],
    "feature-extraction": EMBEDDINGS,
}
WHAT_TO_DO = "Pellucid explains text classifiers: give one that was fine-tuned to classify whole texts (…ForSequenceClassification)"
TRAIN = (
    "or train one from it: pellucid.train(data, encoder=..., out=...), pellucid train DATA --encoder FOLDER"
)
WRAP = "or wrap it as a function from texts to probabilities: pellucid.from_function(predict, labels)"


def check_folder_kind(folder: Path, name: object) -> None:
    """Raise `ModelCannot` for the folder of a model that is no text classifier; name: what messages call it."""
    if not (folder / CONFIG).exists() and not any((folder / sign).is_file() for sign in SIGNS):
        raise BadFile(
            f"The folder {quoted(str(name))} holds no {CONFIG}, so it is no model's; give the one that `save_pretrained` wrote."
        )
    classes = class_names(folder)
    if any(kind.endswith(CLASSIFIER) for kind in classes):
        return
    does = next((does for sign, does in SIGNS.items() if (folder / sign).is_file()), None)
    if does is not None:
        raise ModelCannot(wrong_kind(name, does, WRAP if does != EMBEDDINGS else TRAIN))
    for kind in classes:
        refuse_class(kind, name)


def class_names(folder: Path) -> list[str]:
    """The classes that a folder's config.json names; empty where there is none."""
    if not (folder / CONFIG).is_file():
        return []
    values: Mapping[str, Any] = read_object(folder / CONFIG)
    names = values.get("architectures")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def refuse_class(kind: str, name: object) -> None:
    """Raise `ModelCannot` where a class's name says that its models do something else than classify texts."""
    ending = max((ending for ending in KINDS if kind.endswith(ending)), key=len, default=None)
    if ending is not None:
        raise ModelCannot(wrong_kind(name, KINDS[ending], TRAIN if ending in ENCODERS else WRAP))


def wrong_kind(name: object, does: str, way: str = WRAP) -> str:
    """One sentence: what the model does, what Pellucid explains, and what to do."""
    return f"{name} is no text classifier: it {does}. {WHAT_TO_DO}, {way}."
