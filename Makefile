# Everything works from a bare clone with Python 3.11 or later, make and git.
# `make` alone lists the targets.

BIN := .venv/bin
PYTEST := $(BIN)/pytest -n 2
COVERAGE := --cov --cov-report=term --cov-fail-under=95
# Without bytecode each run would compile all of Judge, its libraries and its tests again.
unexport PYTHONDONTWRITEBYTECODE
# Evaluated on use: scripts/setup.sh may install uv.
UV = $(shell uv --version >/dev/null 2>&1 && echo uv || echo .tools/uv/bin/uv)
COMPILE = $(UV) pip compile pyproject.toml --quiet --universal --generate-hashes --no-emit-index-url --no-emit-package judge-codegraph

.DEFAULT_GOAL := help
.PHONY: help setup demo serve test test-all lint types style check golden bench torture live mutate image quality docs lock

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 12

setup: ## create .venv from the lock file
	@sh scripts/setup.sh

demo: setup ## serve Judge with example pages; needs no key and no network
	@exec $(BIN)/judge demo

serve: setup ## serve the HTTP API; needs GEMINI_API_KEY
	@exec $(BIN)/judge serve

test: setup ## run the tests, but for what CI runs too: slow ones, browsers and processes
	$(PYTEST) -q -m "not (slow or browser or process)" $(TEST_FLAGS)

lint: setup ## check format, lint, imports, types, spelling and lock files
	@$(MAKE) --no-print-directory --jobs 2 --keep-going types style

types:
	$(BIN)/mypy

style:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/codespell
	$(BIN)/python scripts/check_locks.py

check: lint test-all ## all that CI checks: lint, every test and the coverage floor

test-all: setup ## run every test, and check the coverage floor
	$(PYTEST) -q $(COVERAGE)

golden: setup ## replay the golden cases
	$(BIN)/pytest tests/golden -q

bench: setup ## run the benchmarks, one after another
	@status=0; for name in detection extraction codegraph search search_quality vectors overhead; do \
	  echo "== $$name"; $(BIN)/python -m "benchmarks.$$name" || status=1; \
	done; exit $$status

torture: setup ## load a server with silent connections and cold domains (3 minutes)
	@$(BIN)/python scripts/torture.py

live: setup ## judge with a real small model, or the one at JUDGE_TEST_OPENAI_BASE_URL
	@if [ -n "$$JUDGE_TEST_OPENAI_BASE_URL" ]; then \
	  $(BIN)/pytest -q -s tests/entrypoints/test_any_model.py -k real; \
	else $(BIN)/python scripts/live_model.py; fi

mutate: setup ## mutation tests: break the core and list what no test notices (20 minutes)
	@$(BIN)/python scripts/mutate.py

image: setup ## build the container image; without Docker, run its steps in a folder
	@if docker info >/dev/null 2>&1; then docker build -t judge . && docker run --rm judge --version; \
	else JUDGE_TEST_IMAGE=1 $(BIN)/pytest -q tests/entrypoints/test_image.py; fi

quality: setup ## measure detection, extraction, page choice and support for docs/quality.md
	@$(BIN)/python -m benchmarks.quality --write

docs: setup ## generate docs/help.md, docs/api.md, the rooms in docs/architecture.md and the client
	$(BIN)/python scripts/generate_help.py
	$(BIN)/python scripts/generate_api_docs.py
	$(BIN)/python scripts/generate_client.py
	$(BIN)/python scripts/generate_architecture.py

lock: setup ## resolve the dependencies again and write the lock files
	$(COMPILE) -o requirements.lock
	$(COMPILE) --all-extras -c requirements.lock -o requirements-extras.lock
	$(COMPILE) --all-extras --group dev -c requirements-extras.lock -o requirements-dev.lock
