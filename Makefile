# topicloom: set-up and daily commands. `make help` lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
EXTRAS := $(VENV)/.installed-extras
WARM := $(VENV)/.warm
WARM_ALL := $(VENV)/.warm-all
KERNELS := $(shell find src -path '*kernels*' -name '*.py')
# One file of tests to one worker. Files of whole products come first, then those with long tests
# (tests/conftest.py): all workers then end together.
SIDE_BY_SIDE := --dist loadfile --no-loadscope-reorder
FAST := not spark and not needs and not slow and not alone

# Some machines tell Python to keep no compiled modules: every process would compile them again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo lint docs docs-figures docs-reproduction fast check test fuzz digests bench bench-quick wheel pack clean

help: ## list these commands
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-13s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

# libp2p is compiled on the spot, so only the tests ask for it.
$(EXTRAS): $(STAMP)
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,libp2p]' \
	  && touch $(EXTRAS) || echo "libp2p needs gcc and libgmp-dev to install: tests that use it are skipped"

$(WARM): $(STAMP) $(KERNELS)
	$(BIN)/topicloom warm --quiet
	touch $(WARM)

# What other commands use is compiled on first use; several workers of pytest would compile the same.
$(WARM_ALL): $(WARM)
	$(BIN)/topicloom warm --all --quiet
	touch $(WARM_ALL)

install: $(WARM) ## create .venv with the pinned versions and compile the kernels

demo: install ## two workloads from table to proved overlay, with a comparison, a plot and a page
	$(BIN)/topicloom demo --out demo-output

# `--quiet` would hide warnings from strict mode. The variable silences an advertisement.
docs: install ## build/site: the documentation, to be read without a network; a broken link fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

docs-reproduction: install ## docs/reproduction.md and its figures: all papers at quick sizes, about 10 minutes
	$(BIN)/topicloom reproduce all --quick --out build/reproduction
	rm -rf docs/reproduction
	cp -r build/reproduction/reproduction build/reproduction/reproduction.md docs

docs-figures: install ## docs/report.png, report-dark.png and hops.svg, made by the code they show; needs chromium (apt)
	$(BIN)/python docs/docs_figures.py
	$(BIN)/python examples/builders_picture.py 300 "" docs/hops.svg

lint: install ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict
	$(BIN)/lint-imports --no-cache

fast: install
	EXAMPLES=0.15 $(BIN)/pytest -n 2 $(SIDE_BY_SIDE) -m '$(FAST)' --durations=20

check: install ## lint, types and the fast tests on few draws: no Spark, no brokers, under a minute
	$(MAKE) --no-print-directory --output-sync=target -j2 lint fast

# Four workers on two cores, because tests wait for brokers and Java.
WORKERS ?= 4
test: lint docs $(EXTRAS) $(WARM_ALL) ## lint and the documentation, then all tests; those of brokers need mosquitto and nats-server (apt)
	EXAMPLES=0.2 $(BIN)/pytest -n $(WORKERS) $(SIDE_BY_SIDE) -m 'not alone' --durations=20
	$(BIN)/pytest -m alone

fuzz: install ## property tests on new draws: BUDGET=300 seconds; SEED=N TESTS=... repeats a failure
	@BUDGET='$(BUDGET)' SEED='$(SEED)' TESTS='$(TESTS)' $(BIN)/python tests/fuzz.py

digests: install $(EXTRAS) ## compare edges, plans, simulations and exports with tests/golden/digests.json
	$(BIN)/python tests/golden/digests.py

bench: install ## measure speed and memory, write benchmarks/RESULTS.md
	$(BIN)/python -m benchmarks

bench-quick: install ## five minutes: the figures that matter, beside the last ones
	$(BIN)/python -m benchmarks --brief

wheel: install ## dist/wheel: the wheel, installed into an empty venv and tried there
	rm -rf dist/wheel
	$(BIN)/python -m build --wheel --no-isolation --outdir dist/wheel >/dev/null
	$(BIN)/python tests/wheel_smoke.py dist/wheel/*.whl

pack: install ## dist/topicloom-env.tar.gz: what Spark workers on other machines need
	$(BIN)/topicloom pack dist/topicloom-env.tar.gz

clean: ## remove everything that was made here
	rm -rf $(VENV) demo-output dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
