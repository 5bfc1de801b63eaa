# Everything runs in a virtual environment of its own, made on first use from the locked requirements.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: demo test test-full bench lint lock browser clean

demo: $(VENV)/run.stamp
	$(BIN)/python examples/demo.py

test: $(VENV)/dev.stamp browser lint
	$(BIN)/python -m pytest -m "not full"

test-full: $(VENV)/dev.stamp browser lint
	$(BIN)/python -m pytest

bench: $(VENV)/dev.stamp
	for each in benchmarks/*.py; do OPENBLAS_NUM_THREADS=1 $(BIN)/python $$each || exit 1; done

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# The page is tested in a real browser; on Debian this fetches it where it is missing.
browser:
	@command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq chromium >/dev/null; }

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Pantile needs Python 3.11 or newer")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/run.stamp: requirements/run.txt pyproject.toml | $(BIN)/python
	@started=$$(date +%s) && \
	$(PIP) install --require-hashes -r requirements/run.txt && \
	$(PIP) install --no-deps --no-build-isolation -e . && \
	echo "set-up: $$(( $$(date +%s) - started )) s" && touch $@

$(VENV)/dev.stamp: requirements/dev.txt pyproject.toml | $(BIN)/python
	$(PIP) install --require-hashes -r requirements/dev.txt
	$(PIP) install --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/run.stamp

# Lock the newest versions that pyproject.toml allows, for every supported Python (needs uv).
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q pyproject.toml requirements/build.in -o requirements/run.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate -q --group dev pyproject.toml -o requirements/dev.txt

clean:
	rm -rf $(VENV) out dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
