# Everything a person types. Each target sets up .venv by itself; once set up, nothing here needs a network.

SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
RUN := $(VENV)/.ready-to-run
MODELS := $(VENV)/.ready-to-ask
DEV := $(VENV)/.ready-to-check
# The locks are complete, so nothing is resolved; bytecode is made by the first import, for the fraction that is used.
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-input --no-deps --no-compile

# Taken as they were typed: a `$` or a quote in TEXT is part of the text.
export CHAT_TEXT := $(value TEXT)
export CHAT_APP := $(value APP)
export CHAT_MODEL := $(value MODEL)
export CHAT_THREAD := $(value THREAD)
export DEPLOY_STACK := $(or $(value STACK),torpor)
export DEPLOY_REGION := $(value REGION)
export DEPLOY_PARAMETERS := $(value PARAMETERS)

# What deploys, what is deployed to (an emulator that is not ours) and who talks to it, each in an environment of its
# own: their pins are others than ours. A stamp names what it stands for.
SAM_VENV := .venv-sam
SAM := $(SAM_VENV)/.ready-1.170.0
MINISTACK_VENV := .venv-ministack
MINISTACK := $(MINISTACK_VENV)/.ready-1.5.33
AWSCLI_VENV := .venv-awscli
AWSCLI := $(AWSCLI_VENV)/.ready-1.46.3

SEEDS ?= 100

.PHONY: help chat test slow soak check format-check lint types format bench cost build deploy sizes e2e
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -nE 's/^([a-z0-9-]+):[^#]*## (.*)/  make \1\t\2/p' Makefile | expand -t 22

chat: $(if $(filter anthropic:% openai:%,$(CHAT_MODEL)),$(MODELS),$(RUN)) ## talk to an agent on a local stack; TEXT="…" for one question, MODEL= APP= THREAD=
	@$(BIN)/torpor chat $(if $(CHAT_APP),--app "$$CHAT_APP") $(if $(CHAT_MODEL),--model "$$CHAT_MODEL") \
	  $(if $(CHAT_THREAD),--thread "$$CHAT_THREAD") $(if $(CHAT_TEXT),"$$CHAT_TEXT")

test: $(DEV) ## run the tests; ARGS="-k word" goes to pytest
	@$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS) || { echo 'make test: a test failed. Run it alone: make test ARGS="PATH::NAME -vv"'; exit 1; }

slow: $(DEV) ## run the tests that take long: killed at every step, every failed request of trees of threads
	@$(BIN)/python -m pytest -n auto --dist worksteal -m slow $(ARGS) || { echo 'make slow: a test failed. Run it alone: make slow ARGS="PATH::NAME -vv"'; exit 1; }

soak: $(DEV) ## simulate every pair of crashes, and SEEDS=n random schedules of each scenario; ONLY=random, singles or pairs
	@$(BIN)/python -m tests.properties.soak $(SEEDS) $(if $(ONLY),--only $(ONLY)) || { echo 'make soak: a rule broke. Each command above replays one run that breaks it.'; exit 1; }

check: format-check lint types test ## format, lint, types, tests: what CI runs

format-check: $(DEV)
	@$(BIN)/ruff format --check . || { echo 'make format-check: run `make format` and commit what it changes.'; exit 1; }

lint: $(DEV)
	@$(BIN)/ruff check . || { echo 'make lint: `make format` mends some; `ruff rule CODE` explains the rest.'; exit 1; }
	@$(BIN)/cfn-lint template.yaml || { echo 'make lint: mend template.yaml as printed; cfn-lint names rule and line.'; exit 1; }

types: $(DEV)
	@$(BIN)/mypy || { echo 'make types: give the named lines the types they lack; settings in pyproject.toml.'; exit 1; }

format: $(DEV) ## format the code and mend what the linter can
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

bench: $(RUN) ## measure: import time, requests and bytes per slice
	@$(BIN)/python -m bench

cost: $(DEV) ## count what turns cost and rewrite the tables of docs/cost.md; prices are in docs/prices.toml
	@$(BIN)/python -m tests.cost

e2e: $(DEV) $(SAM) $(MINISTACK) $(AWSCLI) ## end to end: deployed to an emulator that is not ours; the first time, its tools come from a network
	@$(BIN)/python -m pytest tests/e2e $(ARGS) || { echo 'make e2e: a test failed. Run it alone: make e2e ARGS="-k NAME -vv"'; exit 1; }

build: $(RUN) $(SAM) ## build what is deployed, and print its sizes; PARAMETERS="Name=value …"
	@$(BIN)/torpor deploy --parameters "$$DEPLOY_PARAMETERS"

deploy: $(RUN) $(SAM) ## build and deploy by sam; STACK=torpor REGION= PARAMETERS="ModelId=… AgentApp=…"
	@$(BIN)/torpor deploy "$$DEPLOY_STACK" $(if $(DEPLOY_REGION),--region "$$DEPLOY_REGION") \
	  --parameters "$$DEPLOY_PARAMETERS"

sizes: ## print the sizes of the last build
	@python3 -m infra.packaging.built

# `sam build --build-in-source` calls this for each function. Not in help: nobody types it.
build-%Function:
	@python3 -m infra.packaging.code "$(ARTIFACTS_DIR)" examples

# A stamp is written last, so a set-up that was broken off starts again. The first Python that is 3.11 or newer and has
# venv is taken, PYTHON= first; a .venv that works is kept.
$(RUN): requirements.lock pyproject.toml
	@echo 'Setting up $(VENV) (once; under a minute) …'
	@$(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 none; do \
	    "$$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	  done; \
	  [ "$$python" != none ] || { echo 'No Python 3.11 or newer with venv found. Install one, or: make … PYTHON=/path/to/python'; exit 1; }; \
	  "$$python" -m venv --clear $(VENV); }
	@$(PIP_INSTALL) -r requirements.lock && $(PIP_INSTALL) --no-build-isolation -e . \
	  || { echo 'Set-up failed. With a network, `rm -r $(VENV)` and the same command start it afresh.'; exit 1; }
	@touch $@

$(MODELS): $(RUN) requirements-models.lock
	@$(PIP_INSTALL) -r requirements-models.lock \
	  || { echo 'Set-up failed: models of other providers need a network the first time. The same command goes on.'; exit 1; }
	@touch $@

$(DEV): $(MODELS) requirements-dev.lock
	@$(PIP_INSTALL) -r requirements-dev.lock \
	  || { echo 'Set-up failed. With a network, `rm -r $(VENV)` and the same command start it afresh.'; exit 1; }
	@touch $@

$(SAM): REQUIREMENT = aws-sam-cli==$(subst .ready-,,$(@F))
$(MINISTACK): REQUIREMENT = ministack[full]==$(subst .ready-,,$(@F))
$(AWSCLI): REQUIREMENT = awscli==$(subst .ready-,,$(@F))
$(SAM) $(MINISTACK) $(AWSCLI): | $(RUN)
	@echo 'Setting up $(@D) (once; about a minute) …'
	@$(BIN)/python -m venv --clear $(@D)
	@$(@D)/bin/python -m pip install -qq --disable-pip-version-check --no-input '$(REQUIREMENT)' \
	  || { echo 'Set-up failed: it needs a network the first time. The same command starts it afresh.'; exit 1; }
	@touch $@
