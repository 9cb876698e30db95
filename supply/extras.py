"""What each extra brings, tried by a small program that uses it: the work that the extra is installed for."""

from supply.lock import ROOT
from supply.wheel_trial import front_page

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

# A reader's folder: a model, and sixty labelled texts.
FOLDER = """
import csv, shlex, subprocess
network.config.id2label, network.config.label2id = {0: "negative", 1: "positive"}, {"negative": 0, "positive": 1}
network.save_pretrained("my-classifier")
tokenizer.save_pretrained("my-classifier")
with open("reviews.csv", "w", newline="") as file:
    rows = [(f"{text} {place}", label) for place in range(30) for text, label in zip(TEXTS, ("positive", "negative"))]
    csv.writer(file).writerows([("text", "label"), *rows])
def command(line):
    subprocess.run([sys.executable, "-m", *shlex.split(line)], check=True)
"""

# The studio is started, asked for its first page and ended.
STUDIO = """
import urllib.request
line = [sys.executable, "-u", "-m", "pellucid", "open", "my-classifier", "--port", "0"]
with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as studio:
    address = next(word for text in studio.stdout for word in text.split() if word.startswith("http"))
    visitor = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor())
    assert b"my-classifier" in visitor.open(address, timeout=60).read()
    studio.terminate()
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
    "studio": FOLDER + STUDIO,
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
    parts = [text for name, text in PROGRAMS.items() if name] if extra == "all" else [PROGRAMS[extra]]
    return "\n".join([BASE, *parts] if extra else [BASE, FOLDER, *front_page_lines()])


def front_page_lines() -> list[str]:
    """README.md's blocks and commands as lines of a program, and the help of every command that takes long."""
    lines = [text if kind == "python" else f"command({text!r})" for kind, text in front_page(ROOT)]
    return [*lines, "command('pellucid demo --help')", "command('pellucid open --help')"]
