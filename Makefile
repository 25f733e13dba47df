# topicloom: set-up and daily commands. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS := $(VENV)/.installed-extras

.DEFAULT_GOAL := help
.PHONY: help install demo test lint bench pack clean

help: ## list these commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

# libp2p is compiled on the spot, so only the tests ask for it.
$(EXTRAS): $(STAMP)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,libp2p]' \
	  && touch $(EXTRAS) || echo "libp2p needs gcc and libgmp-dev to install: tests that use it are skipped"

install: $(STAMP) ## create .venv with the pinned versions and compile the kernels
	$(BIN)/topicloom warm --quiet

demo: install ## two workloads from table to proved overlay, with a comparison and a plot
	$(BIN)/topicloom demo --out demo-output

lint: install ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-cache

test: lint $(EXTRAS) ## lint, then all tests; those of brokers need mosquitto and nats-server (apt)
	$(BIN)/pytest

bench: install ## measure speed and memory, write benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

pack: install ## dist/topicloom-env.tar.gz: what Spark workers on other machines need
	$(BIN)/topicloom pack dist/topicloom-env.tar.gz

clean: ## remove everything that was made here
	rm -rf $(VENV) demo-output dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
