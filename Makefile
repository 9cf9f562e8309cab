# The two commands for a fresh machine are `make demo` and `make test`; `make help` lists the rest.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: setup-tests demo test test-dev test-tsan test-fuzz bench format clean help setup release dev

JOBS ?= $(shell nproc)
# Seconds for all fuzz targets together.
FUZZ_SECONDS ?= 20

help:  ## Show this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

setup:  ## Install what is missing (Debian packages, ONNX Runtime)
	@tools/setup.sh

setup-tests: setup
	@tools/setup.sh --tests

build/%/build.ninja: | setup
	cmake --preset $*

release: setup build/release/build.ninja  ## Build the program: build/release/sampan
	@cmake --build --preset release -j $(JOBS)

dev: setup build/dev/build.ninja  ## Build everything with ASan, UBSan and -Werror, in build/dev
	@cmake --build --preset dev -j $(JOBS)

demo: release  ## Export the bundled checkpoint and translate examples/sentences.en
	@tools/demo.sh

test: test-tsan test-fuzz test-dev  ## Run every test (the tests' closing lines come last)

test-dev: setup-tests dev  ## Run the tests with ASan and UBSan
	@ctest --preset dev -j $(JOBS)

test-tsan: setup build/tsan/build.ninja  ## Run the tests of threads with TSan
	@cmake --build --preset tsan -j $(JOBS) --target sampan_tsan_tests
	@ctest --preset tsan -j $(JOBS)

test-fuzz: setup build/fuzz/build.ninja  ## Run every fuzz target for a moment (FUZZ_SECONDS in all)
	@cmake --build --preset fuzz -j $(JOBS) --target sampan_fuzzers
	@tools/run_fuzzers.sh $(FUZZ_SECONDS)

bench: release  ## Build the benchmarks, build/release/bench, and run bench/run.sh
	@cmake --build --preset release -j $(JOBS) --target sampan_benchmarks
	@bench/run.sh

format:  ## Format every C++ file
	@git ls-files '*.cc' '*.h' ':!tests/rules/violations' | xargs clang-format -i

clean:  ## Remove what was built; what setup installed stays
	rm -rf build
