# Everything a contributor runs. Each target makes the environment it needs.
PYTHON ?= $(shell for p in python3 python3.11 python3.12 python3.13; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Tests compile thousands of tiny programs: optimising them costs more than it saves.
FLAGS := --xla_backend_optimization_level=0
TEST_ENV := XLA_FLAGS="$(FLAGS) $(XLA_FLAGS)" OMP_NUM_THREADS=1
# XLA's older emitters compile in half the time, and their last digits are not the ones that users get: what measures
# digits runs with the default emitters.
FAST := --xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1
FAST_ENV := XLA_FLAGS="$(FLAGS) $(FAST) $(XLA_FLAGS)" OMP_NUM_THREADS=1
DIGITS := tests/test_numerics.py
WORKERS ?= 2

.PHONY: run test generate check coverage bench lint clean

run: $(STAMP)
	$(BIN)/python examples/digits.py

test: check lint
	$(FAST_ENV) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --ignore $(DIGITS)
	$(TEST_ENV) $(BIN)/python -m pytest -n $(WORKERS) $(DIGITS)

generate: $(STAMP)
	$(BIN)/python -m tenax.codegen

check: $(STAMP)
	$(BIN)/python -m tenax.codegen --check

coverage: $(STAMP)
	$(FAST_ENV) $(BIN)/tenax coverage run

bench: $(STAMP)
	$(BIN)/python benchmarks/run.py

lint: $(STAMP) build/links
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache

# mypy needs the package as one folder; links show it the working tree.
build/links: pyproject.toml $(wildcard runtime/*)
	rm -rf $@ && mkdir -p $@/tenax
	ln -s $(CURDIR)/runtime/* $(CURDIR)/codegen $(CURDIR)/generated $(CURDIR)/ops_spec $(CURDIR)/tests/coverage $@/tenax/

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[test]'
	touch $@
