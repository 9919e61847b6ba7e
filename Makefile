# Flashdrill: `make drill` and `make test` do everything on a fresh machine.
# Build output goes to $CARGO_TARGET_DIR (default: a folder in the user's cache, shared by all checkouts).

SHELL := /bin/bash
CACHE := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/flashdrill
export CARGO_TARGET_DIR ?= $(CACHE)/target
export PATH := $(PATH):$(HOME)/.cargo/bin:$(CACHE)/tools/bin
BIN := $(CARGO_TARGET_DIR)/release
FLASHDRILL := $(BIN)/flashdrill
# One profile and one feature set for builds, tests and lints: nothing is compiled twice.
CARGO := cargo --locked

.DEFAULT_GOAL := help
.PHONY: help deps images build build-mutants drill drills tests-built test prove bench fuzz nightly check deny clean

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

deps: ## install what is missing (Debian: apt and Maven; elsewhere names it)
	@compose/install.sh

images: deps ## build local images for --env container where no registry is reachable
	@compose/install-docker.sh
	@compose/images.sh

build: deps ## build flashdrill and the bundled service
	@echo "build: cargo build --release (the first one takes several minutes)"
	@$(CARGO) build --release --workspace --bins

build-mutants: build ## build the service's broken variants too
	@$(CARGO) build --release --workspace --features flashsale/mutants --bin flashsale-mutants

drill: build ## run the flagship with a primary killed at half time, at the rate that this machine holds
	@$(FLASHDRILL) drill run --fit drills/baseline/flagship-kill.toml

drills: build ## run every drill
	@$(FLASHDRILL) drill run --all

tests-built: build-mutants # compiles the tests; apart, so that CI can tell its time
	@$(CARGO) test --release --workspace --no-run

test: build-mutants ## unit tests, tests on real servers, the drills and a mutant in short form
	@compose/install-toxiproxy.sh
	@drills/targets/naive-shop/install.sh
	@$(CARGO) test --release --workspace --no-fail-fast

prove: export TMPDIR := $(shell compose/scratch.sh)
prove: build-mutants ## run every drill against its mutants: each must be caught; about two hours
	@$(FLASHDRILL) prove

bench: build ## load generator beside wrk, oha, vegeta and Goose; proxy beside Toxiproxy; a check of six million attempts; the ways to an order beside RocketMQ's Java client; about 32 minutes (BENCH=--short: seven)
	@compose/install-bench.sh
	@compose/install-toxiproxy.sh
	@$(CARGO) build --release -p flashbench --features goose --bins
	@$(BIN)/flashbench run $(BENCH)
	@$(BIN)/flashbench proxy $(BENCH)
	@$(BIN)/flashbench check $(BENCH)
	@$(BIN)/flashbench orders $(BENCH)

FUZZ_SECONDS ?= 60
fuzz: deps ## fuzz the proxy's parsers and its API, a minute each (FUZZ_SECONDS=n: that long)
	@command -v cargo-fuzz >/dev/null || { echo "fuzz: installing cargo-fuzz"; \
	  env -u CARGO_TARGET_DIR cargo install cargo-fuzz --locked --quiet --root $(CACHE)/tools; }
	@cp Cargo.lock fuzz/Cargo.lock # The same versions of everything.
	@for target in resp mysql remoting api; do \
	  RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir fuzz --sanitizer none $$target -- \
	    -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -print_final_stats=1 || exit 1; \
	done

nightly: check test drills prove ## everything, in full length

check: deps ## all gates: format, lints, documentation, licences and sources of dependencies
	@$(CARGO) fmt --all --check
	@$(CARGO) clippy --release --workspace --all-targets -- -D warnings
	@$(CARGO) clippy --release --workspace --features flashsale/mutants --all-targets -- -D warnings
	@RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --workspace --no-deps --quiet
	@$(MAKE) --no-print-directory deny

deny: ## licences, bans and sources of dependencies
	@command -v cargo-deny >/dev/null || { echo "check: installing cargo-deny"; \
	  cargo install cargo-deny --locked --debug --quiet --root $(CACHE)/tools; }
	@cargo-deny --log-level error check licenses bans sources

clean: ## remove what killed runs left, all run folders, and the build output
	@if [ -x $(FLASHDRILL) ]; then $(FLASHDRILL) clean; fi
	@find results -mindepth 1 -maxdepth 1 ! -name README.md ! -name sample -exec rm -rf {} +
	@rm -rf $(CARGO_TARGET_DIR)
