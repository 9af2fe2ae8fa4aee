# The verbs of the inner loop. ARGS goes to what a verb runs: make test-fast ARGS=tests/tui
SHELL := /bin/bash
ARGS ?=
.PHONY: help setup run test check test-fast campaign bench screenshots docs-check release

help: ## list the verbs
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

setup: ## make .venv from the lock file, with what the tests need
	./scripts/setup

run: ## open the app
	./scripts/start $(ARGS)

test: ## everything that must hold: static checks and the fast suite
	./scripts/test $(ARGS)

check: ## static checks only
	./scripts/check

test-fast: setup ## the fast suite, or what ARGS names of it, without static checks
	PYTHONPATH=. .venv/bin/pytest --numprocesses="$${TEST_PROCESSES:-auto}" $(ARGS)

campaign: ## the long and heavy tests; ARGS=--list tells which
	./scripts/campaign $(ARGS)

bench: ## measure against the budgets; scripts/bench tells what else is measured
	./scripts/bench budgets $(ARGS)

screenshots: setup ## draw the pictures of the documentation
	.venv/bin/python scripts/screenshots.py $(ARGS)

docs-check: ## check the documents for users, and run their commands; ARGS=--write makes the reference anew
	./scripts/docs-check $(ARGS)

release: ## set VERSION, date the changelog's unreleased part, commit, run .ci/run and tag
	./scripts/release $(VERSION) $(ARGS)
