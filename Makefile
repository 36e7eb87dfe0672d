# The two commands to begin with are "make demo" and "make test". "make help" lists all.

.DEFAULT_GOAL := help
.PHONY: help build setup demo test test-fast test-all matrix interop screenshots model mutants mutation sim faketime chaos chaos-short lint fmt bench bench-full clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' Makefile

build: ## build the program into ./postbag, stamped with its commit
	@echo "==> compiling ./postbag (the first time it downloads modules and takes some minutes) ..."
	@cd cmd/postbag && GOWORK=off go build -buildvcs=auto -trimpath -o ../../postbag .

setup: ## install what the tests need and this machine lacks (Debian packages, Go tools into .tools)
	@scripts/setup

demo: ## a small shop, a relay, a broker and a billing service, with faults (needs only Go)
	@echo "==> compiling the demo (the first time it downloads modules and takes a minute or two) ..."
	@cd cmd/postbag && GOWORK=off go build -trimpath -o ../../tmp/postbag-demo ./postbag-demo && exec ../../tmp/postbag-demo $(ARGS)

test: ## everything: set-up, build, vet, lint, format, race tests of every module, one table
	@scripts/test

test-fast: ## the inner loop: vet and short tests of the root module, under 90 s
	@scripts/test --fast

test-all: ## everything in its long form, and what make test leaves out: hours
	@scripts/test --full
	@scripts/interop

matrix: setup ## every store to every kind of destination in full size, with faults, as a table
	@cd proof && POSTBAG_FULL=1 POSTBAG_REQUIRE_SERVERS=1 GOWORK=off go test -count=1 -timeout 60m -v -run TestEveryStoreDelivers ./matrix | tail -n 60

# Variables of make chaos.
PAIR ?= postgresql-nats
FOR ?= 60s
SEED ?= 0

chaos: setup ## break real servers by a drawn schedule: PAIR=postgresql-nats FOR=60s SEED=n
	@cd proof && GOWORK=off go run -tags postbag_failpoints ./cmd/postbag-chaos -pair $(PAIR) -for $(FOR) -seed $(SEED)

chaos-short: setup ## the fault harness as continuous integration runs it, a minute
	@cd proof && POSTBAG_REQUIRE_SERVERS=1 GOWORK=off go test -count=1 -v -run 'ThroughFaults' ./chaos

mutants: setup ## each known mistake is built in, and the simulator or the tests must find it; writes its table
	@cd proof && POSTBAG_REQUIRE_SERVERS=1 GOWORK=off go run ./cmd/postbag-mutants -write

mutation: setup ## small changes all over the engine core and the code of positions: which of them does nobody notice?
	@cd proof && GOWORK=off go run ./cmd/postbag-mutation

model: setup ## the protocol as a model, and its mutants, checked by spin
	@scripts/model

interop: setup ## consumers that others wrote read every format (Python's from PyPI, and Kafka's own)
	@scripts/interop

screenshots: setup ## the pictures of the console in docs/images, taken with Chromium
	@cd proof && GOWORK=off POSTBAG_REQUIRE_SERVERS=1 go test -count=1 -run TestThePicturesOfTheGuide ./browser -pictures "$(CURDIR)/docs/images"

SEEDS ?= 20000
sim: ## the simulator: SEEDS runs from seeds, with faults, over all cores
	@cd proof && GOWORK=off go run ./cmd/postbag-sim -seeds $(SEEDS)

faketime: SEEDS = 5000
faketime: ## the real relay in fake time: SEEDS seeds of each kind of run, with faults, over all cores
	@cd proof && GOWORK=off go run ./cmd/postbag-faketime -seeds $(SEEDS)

lint: setup ## golangci-lint over every module
	@scripts/each .tools/bin/golangci-lint run ./...

fmt: setup ## format every module with gofumpt
	@.tools/bin/gofumpt -l -w .

bench: ## measure, ten minutes
	@cd bench && GOWORK=off go run .

bench-full: ## measure, with the long holds
	@cd bench && GOWORK=off go run . -full

clean: ## remove built tools and kept programs; tests and demo clean up after themselves
	rm -rf .tools tmp "$${XDG_CACHE_HOME:-$$HOME/.cache}/postbag-testserver"
