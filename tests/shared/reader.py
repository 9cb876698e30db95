"""A model made by hand that reads two words and nothing else."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.composed import as_classifier
from pellucid.models.composed.networks import Plan, composed_network

SPECIALS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]"}


def reader(no: str, yes: str) -> Classifier:
    """No layers, the mean of the embeddings, and a head that reads the one number in which the two words differ."""
    plan = Plan("by hand", "mean", {}, ("no", "yes"))
    vocabulary = {word: number for number, word in enumerate([*SPECIALS.values(), no, yes])}
    config = BertConfig(vocab_size=len(vocabulary), hidden_size=8, num_hidden_layers=0, num_attention_heads=1)
    network = composed_network(BertModel(config, add_pooling_layer=False), plan).eval()
    embeddings = network.encoder.embeddings
    with torch.no_grad():
        for parameter in (*embeddings.parameters(), *network.head.parameters()):
            parameter.zero_()
        embeddings.LayerNorm.weight.fill_(1.0)
        embeddings.word_embeddings.weight[vocabulary[no], :2] = torch.tensor([-1.0, 1.0])
        embeddings.word_embeddings.weight[vocabulary[yes], :2] = torch.tensor([1.0, -1.0])
        network.head.weight[:, 0] = torch.tensor([-1.0, 1.0])
    return as_classifier(network, _tokenizer(vocabulary), plan, f"reader of {no} and {yes}")


def _tokenizer(vocabulary: dict[str, int]) -> PreTrainedTokenizerFast:
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")],
    )
    names = {f"{name}_token": token for name, token in SPECIALS.items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=512, **names)
