# bridgetap: see CONTRIBUTING.md. Every target can be run on a clean clone.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build

SOURCES := Package.swift Sources Tests $(wildcard Benchmarks FuzzTesting)
VENV := .venv

.PHONY: setup build demo test lint format release bench fuzz-score sanitize fuzz-decoders autobahn spark clean

# Debian packages and a Python environment with the peers that tests talk to.
setup:
	@scripts/setup

build: setup
	swift build

# Records example sessions between the reference peers, in virtual time, and shows one.
demo: build
	.build/debug/bridgetap demo

# What CI runs. Warnings are errors by Package.swift. The optimised program is for the tests that
# pass a gibibyte through it, and for the replays of captures/ against the reference peers.
test: setup lint
	swift build -c release --product bridgetap
	swift build --build-tests
	scripts/replay-captures
	swift test --skip-build

lint:
	swift format lint --strict --recursive --parallel $(SOURCES)

format:
	swift format --in-place --recursive --parallel $(SOURCES)

# One file that needs no Swift on the machine where it runs.
release: setup
	swift build -c release --static-swift-stdlib --product bridgetap --scratch-path .build/static
	mkdir -p dist
	strip -o dist/bridgetap "$$(swift build -c release --static-swift-stdlib \
	    --scratch-path .build/static --show-bin-path)/bridgetap"
	@ls -l dist/bridgetap

# Relay, files and decoders beside haproxy, nginx, mitmproxy and jq, and the memory of jobs on 2 GB;
# the aims stand in the scripts. Results go to Benchmarks/results. `make bench BENCH=--quick` has
# fewer rounds, and 200 MB instead of 2 GB.
bench: release
	@scripts/setup haproxy nginx-light
	swift build -c release --static-swift-stdlib --product bridgetap-bench --scratch-path .build/static
	Benchmarks/files --bench "$$(swift build -c release --static-swift-stdlib \
	    --scratch-path .build/static --show-bin-path)/bridgetap-bench"
	Benchmarks/memory $(BENCH) --bench "$$(swift build -c release --static-swift-stdlib \
	    --scratch-path .build/static --show-bin-path)/bridgetap-bench"
	Benchmarks/relay $(BENCH)
	Benchmarks/redaction
	$(VENV)/bin/python Benchmarks/replay --bench "$$(swift build -c release --static-swift-stdlib \
	    --scratch-path .build/static --show-bin-path)/bridgetap-bench"

# Which planted defects the fuzzer finds and how short it makes their scripts, and what it finds in
# the peers without any: some minutes for each defect. `make fuzz-score SCORE='--seeds 1 B1 A2'`.
fuzz-score: setup
	swift build -c release --product bridgetap-bench
	Benchmarks/fuzz-score --bench "$$(swift build -c release --show-bin-path)/bridgetap-bench" $(SCORE)

# The whole test suite under the address and under the thread sanitizer. Each has its own build
# folder. The replays of all planted defects, and those again and again, are left out: simulations
# are what a sanitizer slows most, and each of their parts is in another test. Leaks are left out
# because the test runner's own would fail it; the backtracer is off because it may hang in a
# process that a sanitizer ends.
sanitize: setup
	ASAN_OPTIONS=detect_leaks=0:suppressions=$(CURDIR)/Tests/Sanitizers/address.supp \
	    BRIDGETAP_SANITIZED=address SWIFT_BACKTRACE=enable=no \
	    swift test --sanitize=address --scratch-path .build/address \
	        --skip 'PlantedDefectReplayTests|RepeatedReplayTests'
	BRIDGETAP_SANITIZED=thread SWIFT_BACKTRACE=enable=no \
	    swift test --sanitize=thread --scratch-path .build/thread \
	        --skip 'PlantedDefectReplayTests|RepeatedReplayTests'

# libFuzzer on each decoder, for FUZZ_SECONDS (60) each. Fails if anything is found.
fuzz-decoders: setup
	scripts/fuzz-decoders

# The WebSocket conformance suite against the endpoints, and through the proxy.
autobahn: setup
	scripts/autobahn

# The Spark queries of docs/analysis.md too; the others are run by every `make test`.
spark: setup
	@scripts/setup default-jre-headless
	$(VENV)/bin/pip install --quiet --disable-pip-version-check pyspark==3.5.9
	BRIDGETAP_SPARK=1 swift test --filter AnalysisTests

clean:
	rm -rf .build dist $(VENV)
