"""What each extra brings, tried by a small program that uses it: the work that the extra is installed for."""

# A classifier of transformers and one that is a function, explained, saved, read and drawn: no extra is needed.
BASE = """
import json, sys
import pellucid
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

TEXTS = ["A good film, and a long one.", "Dull and far too long."]
words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({w for t in TEXTS for w in t.strip(".").split()})]
known = Tokenizer(models.WordLevel({word: place for place, word in enumerate(words)}, unk_token="[UNK]"))
known.pre_tokenizer = pre_tokenizers.Whitespace()
specials = {f"{name.strip('[]').lower()}_token": name for name in words[:5]}
tokenizer = PreTrainedTokenizerFast(tokenizer_object=known, **specials)
size = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 32}
network = BertForSequenceClassification(BertConfig(vocab_size=len(words), num_labels=2, **size)).eval()
model = pellucid.load(network, tokenizer)
for method in ("integrated_gradients", "occlusion", "attention", "kernel_shap"):
    results = pellucid.explain(model, TEXTS, method, progress=False)
answers = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
simple = pellucid.from_function(answers, ["negative", "positive"])
pellucid.explain(simple, TEXTS, "occlusion", progress=False)
pellucid.save(results, "results.parquet")
assert len(pellucid.read("results.parquet")) == 2
pellucid.report(results, path="page.html")
"""

PROGRAMS = {
    "": "",
    "fast": """
import torch
from pellucid.models.span_kernel.kernel import route_for
from pellucid.models.span_kernel.numba_route import compiled_loops
assert route_for(torch.zeros(1, 32, 16)) == "numba" and compiled_loops()
""",
    "query": """
run = pellucid.explain_corpus(simple, TEXTS, "occlusion", folder="run", progress=False)
assert run.query("select count(*) as n from texts").to_pylist() == [{"n": 2}]
""",
    "ray": "import ray; from pellucid.corpus import engines",
    "attacks": """
found = pellucid.attack(simple, ["A good film, and a long one."], "pwws", progress=False)
assert found[0].queries > 1
""",
    "translation": """
import sentencepiece
pairs = [("ein Hund lief heim", "a dog ran home"), ("die Katze saß dort", "the cat sat there")]
assert pellucid.bleu([target for _, target in pairs], pairs)
""",
    "studio": "import pellucid.studio.server, uvicorn",
    "plot": "pellucid.figure(results[0], 'figure.svg')",
    "data": """
import datasets
rows = datasets.Dataset.from_dict({"text": TEXTS, "label": ["positive", "negative"]})
assert len(pellucid.explain(simple, rows, "occlusion", progress=False)) == 2
""",
    "excel": """
import openpyxl
book = openpyxl.Workbook()
for row in (["text", "label"], [TEXTS[0], "positive"], [TEXTS[1], "negative"]):
    book.active.append(row)
book.save("rows.xlsx")
assert len(pellucid.examples("rows.xlsx", "all")) == 2
""",
    "pandas": "assert len(results.data_frame()) == 2",
    "shap": "assert len(pellucid.to_shap(results)) == 2",
    "languages": """
(thai,) = pellucid.explain(simple, ["ภาพยนตร์ที่ดีมาก"], "occlusion", progress=False)
assert len(thai) > 1
""",
    "openvino": """
(route,) = [each for each in pellucid.routes() if each["name"] == "openvino"]
assert not route["lacks"], route
""",
    "remote": """
import httpx2
service = pellucid.remote(answers, ["negative", "positive"])
pellucid.explain(service, TEXTS, "occlusion", progress=False)
""",
    "wordnet": "import wn",
    "all": "",
}


def program(extra: str) -> str:
    """The program that uses an extra; of "all", those of all extras one after the other."""
    parts = PROGRAMS.values() if extra == "all" else [PROGRAMS[extra]]
    return "\n".join([BASE, *parts])
