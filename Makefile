# Everything a user needs: `make demo` and `make test` set up their own .venv and run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-all lint bench clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## /  \1\t/' | expand -t 12

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	touch $(STAMP)

setup: $(STAMP)  ## Create .venv with the pinned versions (does nothing when it is fresh)

demo: setup  ## The main job: an ablation on LoCoMo, or on a generated stream where LoCoMo is not to be had
	@if $(BIN)/python -m experiments.download locomo; then job=task=locomo; else job=experiment=world; \
		echo "demo: the ablation runs on the generated stream 'world' instead"; fi; \
	$(BIN)/python -m experiments.ablate $$job

test: setup  ## Run the test suite without the slow tests
	$(BIN)/python -m pytest -m "not slow and not llm and not gpu"

test-all: setup  ## Run every test that this machine can run
	$(BIN)/python -m pytest

lint: setup  ## Check format, style and types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: setup  ## Measure speed against named baselines; writes bench.json
	$(BIN)/python -m experiments.bench

clean:  ## Remove what runs and tools left (keeps .venv and data)
	rm -rf outputs multirun build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis bench.json
	find . -name __pycache__ -not -path './$(VENV)/*' -type d -prune -exec rm -rf {} +
