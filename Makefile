# SPDX-License-Identifier: Apache-2.0
# `make demo` and `make test` need nothing but Python 3.11 or newer, make and access to packages.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
PYTEST_WORKERS ?= 2
UV := $(BIN)/python -m uv
QUICK := $(addprefix tests/,system core declare promise ask contract)
# What `make demo` installs: not Spark and lakes, which are half a gigabyte and no part of it.
LIGHT := audit broker client estimators postgres report server stream
CHECKED := src studies tests benchmarks examples docs

.PHONY: demo serve quick test test-plain test-spark test-browser lint types imports check docs tables notebooks pictures snapshots lock bench reproduce clean

demo: .venv/.run
	$(BIN)/anonymaly demo

# The console in a browser, on the built-in tables; PORT=9000 if another listens at its usual port.
serve: .venv/.run
	$(BIN)/anonymaly demo --serve $(addprefix --port ,$(PORT))

# The core in about a minute: what every change meets first.
quick: .venv/.dev
	$(BIN)/pytest -n $(PYTEST_WORKERS) --dist worksteal -m "not slow and not spark and not chromium" $(QUICK)

# Tests of Spark and of pages in runs of their own: each worker would start a JVM, and a browser.
# All runs go to their end, whatever the first one finds.
test: .venv/.dev
	$(MAKE) --keep-going test-plain test-spark test-browser

test-plain: .venv/.dev
	$(BIN)/pytest -n $(PYTEST_WORKERS) --dist worksteal -m "not spark and not chromium"

test-browser: .venv/.dev
	$(BIN)/pytest -m chromium tests/audit tests/docs tests/inspect tests/server

test-spark: .venv/.dev
	$(BIN)/pytest -m spark

check: test lint types imports

lint: .venv/.dev
	$(BIN)/ruff check $(CHECKED)
	$(BIN)/ruff format --check $(CHECKED)

types: .venv/.dev
	$(BIN)/mypy

imports: .venv/.dev
	$(BIN)/lint-imports

docs: .venv/.dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# What is written from the source: the page of the command line, the tables of fields and of question folders,
# the document of the HTTP interface, JSON schemas, drawings, the results of the studies, the README's picture.
tables: .venv/.dev
	$(BIN)/python docs/command_line.py
	$(BIN)/python docs/question_fields.py
	$(BIN)/python docs/choosing.py
	$(BIN)/python docs/openapi.py
	PYTHONPATH=. $(BIN)/python docs/results.py
	$(BIN)/python docs/readme_picture.py
	$(BIN)/python docs/schemas.py
	$(BIN)/python docs/drawings.py
	RENEW_TABLES=1 $(BIN)/pytest -q tests/system/test_question_folders.py

# The tutorials, run anew; and what the gallery shows.
notebooks: .venv/.dev
	$(BIN)/python docs/notebooks.py

pictures: .venv/.dev
	$(BIN)/python docs/gallery.py

snapshots: .venv/.dev
	RENEW_SNAPSHOTS=1 $(BIN)/pytest -q tests/engine -k snapshots

bench: .venv/.dev
	mkdir -p benchmarks/results
	for name in benchmarks/*.py; do \
	  echo "$$name"; $(BIN)/python -W ignore $$name --json > benchmarks/results/$$(basename $$name .py).json || exit 1; \
	done

# make reproduce DATA=DIR: all papers, and one report. PAPER=pcor: one of them, with its own settings as OPTIONS.
# OPTIONS=--quick repeats things less often; OPTIONS=--list names the papers, their files and times.
reproduce: .venv/.dev
	$(BIN)/python -m studies $(PAPER) $(if $(DATA),--data $(DATA)) $(OPTIONS)

lock: .venv/.uv
	$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  $(addprefix --extra ,$(LIGHT)) --group build -o requirements/run.txt pyproject.toml
	$(UV) pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header \
	  --extra all --group dev -c requirements/run.txt -o requirements/dev.txt pyproject.toml

.venv/.uv:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "anonymaly needs Python 3.11 or newer; set PYTHON=")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m uv --version >/dev/null 2>&1 || $(BIN)/python -m pip install --quiet "uv>=0.5"
	touch $@

.venv/.run: .venv/.uv requirements/run.txt pyproject.toml
	test -f .venv/.dev || $(UV) pip install --quiet --require-hashes -r requirements/run.txt
	test -f .venv/.dev || $(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@

.venv/.dev: .venv/.uv requirements/dev.txt pyproject.toml
	$(UV) pip install --quiet --require-hashes -r requirements/dev.txt
	$(UV) pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@ .venv/.run

# A provider of OpenID Connect that tests log in at; without it they are skipped.
.venv/.provider: .venv/.uv tests/provider/package.json
	npm install --silent --no-audit --no-fund --no-package-lock --prefix tests/provider
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis site tests/provider/node_modules
