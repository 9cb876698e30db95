# Two commands matter: `make demo` and `make test`. Each sets everything up by itself, in .venv.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# Tests write and remove many thousand small files: in main memory where it has room, since a disk takes minutes for them.
ROOM := $(shell df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 && $$4 > 8000000 {print "TMPDIR=/dev/shm"}')
# What Python compiles is kept, whatever the shell says: many processes, and both workers, read the same files.
PYTEST := PYTHONDONTWRITEBYTECODE= $(ROOM) $(BIN)/python -m pytest -o tmp_path_retention_count=1 -o tmp_path_retention_policy=failed

.PHONY: setup lock sbom release matrix fix check test test-unit test-long bench demo site capabilities browser dictionaries clean

setup: $(READY)

$(READY): pyproject.toml studies/pyproject.toml constraints.txt requirements.lock supply/install.py supply/lock.py
	$(PYTHON) -m venv .venv
	@echo "Installing torch and the rest (a few minutes on the first run) ..."
	$(BIN)/python supply/install.py
	touch $(READY)

# The hashes of the files that pip chooses here; after a change of constraints.txt.
lock:
	$(BIN)/python supply/lock.py

# What is installed, as a list in CycloneDX's form: sbom.json.
sbom: setup
	$(BIN)/python supply/sbom.py sbom.json

# All pages as a site in build/site, with what it needs in an environment of its own: PyTorch is not among it.
SITE := build/site-tools
site: $(SITE)/ready
	$(SITE)/bin/python -m docs.site

$(SITE)/ready: docs/site/requirements.txt docs/site/requirements.lock supply/install.py supply/lock.py
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python supply/install.py docs/site/requirements.lock
	touch $@

# twine in an environment of its own: what it needs is no business of ours.
TOOLS := build/release-tools
$(TOOLS)/ready: supply/requirements.txt supply/requirements.lock supply/install.py supply/lock.py
	$(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python supply/install.py supply/requirements.lock
	touch $@

# Builds and tries the version in pyproject.toml, and says how to tag it; publishes nothing. QUICK=1: without the empty environment.
release: setup $(TOOLS)/ready
	$(BIN)/python -m supply.release $(if $(QUICK),--quick)

# Every extra by itself, in environments of PYTHONS="python3.11 python3.13": gigabytes and an hour. Goes on where it was.
matrix: setup
	$(BIN)/python -m supply.matrix --wheel dist/pellucid-*.whl --work build/matrix $(if $(PYTHONS),--python $(PYTHONS))

demo: setup
	$(BIN)/pellucid demo --out demo

test: setup browser dictionaries
	$(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder tests

test-unit: setup
	$(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder -m 'not whole and not long' tests

test-long: setup browser dictionaries
	$(PYTEST) -m long tests

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Also writes the types of `pellucid.explain` again, which name every method's settings.
fix: setup
	$(BIN)/python -m tests.typed_explain
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: setup
	$(BIN)/python -m benchmarks.span_layer
	$(BIN)/python -m benchmarks.span_training
	$(BIN)/python -m benchmarks.guard
	$(BIN)/python -m benchmarks.workers
	$(BIN)/python -m benchmarks.corpus_jobs
	$(BIN)/python -m benchmarks.routes
	$(BIN)/python -m benchmarks.path_rules
	$(BIN)/python -m benchmarks.translation
	$(BIN)/python -m benchmarks.decoded_saliency
	$(BIN)/python -m benchmarks.long_prompts
	$(BIN)/python -m benchmarks.retained_information --out benchmarks/results/retained_information.json
	@if [ -n "$(TEXTATTACK)" ]; then $(BIN)/python -m benchmarks.attacks --textattack "$(TEXTATTACK)"; \
	  else echo "Attacks are not measured: give TEXTATTACK=PYTHON, a Python with benchmarks/attack/requirements.txt."; fi
	$(BIN)/python -m benchmarks.writing $(if $(INSEQ),--inseq "$(INSEQ)")
	@if [ -n "$(SST2)" ]; then $(BIN)/python -m benchmarks.attention --data "$(SST2)"; \
	  $(BIN)/python -m benchmarks.judge --data "$(SST2)"; \
	  $(BIN)/python -m benchmarks.retained_corpus --data "$(SST2)" --out benchmarks/results/retained_corpus.json; \
	  else echo "Attention, comparisons and a corpus of layers are not measured: give SST2=FOLDER, a folder with SST-2's train.jsonl.gz, dev.jsonl and test.jsonl."; fi
	$(BIN)/python -m benchmarks.attributions

capabilities: setup
	$(BIN)/python -m tests.capabilities --out docs/capabilities.md

# The browser that tests open reports in: Debian's, where we may install it; elsewhere those tests are skipped.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } \
	  || echo "No chromium here: the tests that open a report in a browser will be skipped."

# The translators that attacks edit texts with: Debian's, where we may install them. WordNet comes with `make setup`.
DICTIONARIES := apertium-eng-spa apertium-eng-cat apertium-en-gl
dictionaries:
	@dpkg -s $(DICTIONARIES) >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	  && apt-get update -qq && apt-get install -y -qq --no-install-recommends $(DICTIONARIES) >/dev/null; } \
	  || echo "No $(DICTIONARIES) here: tests of translations will be skipped."

clean:
	rm -rf .venv demo runs build dist *.egg-info
