# Everything here needs Python 3.11 or newer, and nothing else of ours: what is missing is installed
# into .venv. Another interpreter: make PYTHON=/path/to/python test

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
SOURCES := pyproject.toml README.md $(shell find src scripts -type f -not -name '*.pyc' 2>/dev/null)

# A worker for each processor; one that has nothing left takes tests from another.  The tests of many
# processes at one ledger have the machine for themselves.
define every_test
	$(BIN)/python -m pytest tests --ignore=tests/live --ignore=tests/concurrency \
		--numprocesses auto --maxprocesses 8 --dist worksteal
	$(BIN)/python -m pytest tests/concurrency
endef

# What could tell Pythons apart: files, SQLite, text, the loop of the server, the wheel that is installed.
SAMPLE := tests/unit/core tests/unit/store tests/migration tests/stateful tests/contract/store/test_memory.py \
	tests/contract/store/test_search.py tests/contract/mcp/test_stdio.py tests/contract/surface/test_install.py \
	tests/contract/surface/test_arguments.py tests/reliability/test_memory_damage.py

.PHONY: demo test test-long test-pythons test-python test-live test-live-newest check format bench docs clean

demo: $(VENV)/.installed  ## a task, a recorded session, and the handoff after its compaction
	@sh examples/demo.sh $(BIN)/contextspindle

test: check  ## the checks, then every test in its sampled form
	$(every_test)

test-long: export CONTEXTSPINDLE_LONG := 1
test-long: check  ## the same with full counts
	$(every_test)

test-pythons: $(VENV)/bin/python  ## a sample on every other Python of this machine, from 3.11 on
	@$(BIN)/python tests/pythons.py | while read -r version path; do \
		echo "Python $$version: $$path"; \
		$(MAKE) --no-print-directory VENV=$(VENV)-$$version PYTHON=$$path test-python </dev/null || exit 1; \
	done

test-python: $(VENV)/.tests $(VENV)/.installed
	$(BIN)/python -m pytest $(SAMPLE) --numprocesses auto --maxprocesses 8 --dist worksteal

test-live: $(VENV)/.tools $(VENV)/.installed  ## the real programs against a stand-in for a model
	$(BIN)/python -m pytest tests/live -rs

test-live-newest: $(VENV)/.tools $(VENV)/.installed  ## the same with their newest versions, and what changed
	$(BIN)/python -m pytest tests/live -rs --newest

check: $(VENV)/.tools $(VENV)/.installed  ## format, lint, types, import contracts, generated docs, links
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python docs/generate.py --check
	$(BIN)/python docs/links.py

format: $(VENV)/.tools  ## put every file into its one form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed  ## what a command costs, against the bare interpreter
	$(BIN)/python benchmarks/ledger.py

docs: $(VENV)/.installed $(VENV)/.site  ## write the generated pages, then the site: build/site
	$(BIN)/python docs/generate.py
	$(BIN)/python docs/links.py
	rm -rf build/site build/doctrees
	$(BIN)/sphinx-build -q -W --keep-going -c docs/site -d build/doctrees -b html . build/site
	@echo "build/site/index.html"

clean:
	rm -rf $(VENV) $(VENV)-3.* .live build dist .coverage .hypothesis .mypy_cache .ruff_cache .import_linter_cache

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11 or newer is needed; none is on the PATH." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"

# The package itself, as a user installs it: what is tested is what is installed.
$(VENV)/.installed: $(VENV)/.needed $(SOURCES)
	$(BIN)/python -m pip install --quiet --force-reinstall --no-deps .
	@touch $@

# What the package needs besides: a forced installation of it alone would leave that out.
$(VENV)/.needed: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet .
	@touch $@

# The generator of the site, for `make docs` alone.
$(VENV)/.site: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group docs
	@touch $@

# The tests alone, for another Python.
$(VENV)/.tests: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/.tools: $(VENV)/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group dev
	@touch $@
