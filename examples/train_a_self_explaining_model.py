"""A classifier that explains itself: train it, ask how good it is, and read its own weights.

python examples/train_a_self_explaining_model.py --out runs/pocket --epochs 3
"""

import argparse

import pellucid

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--encoder", default="minilm", help="minilm, a folder, or a hub name")
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--out", default="runs/pocket", help="folder for the model; run again to go on")
arguments = parser.parse_args()

model = pellucid.train(
    "pocket", encoder=arguments.encoder, pooler="span", seed=0, out=arguments.out, epochs=arguments.epochs
)
test = pellucid.examples("pocket", split="test")
print("Accuracy on test:", pellucid.accuracy(model, test))

for result in pellucid.explain(model, test[:3], method="span_attention"):
    print(result)
    for span in result.spans(2):
        print(f"  {span.score:.3f}  {span.text}")
