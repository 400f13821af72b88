# The verbs of the project. `make demo` needs nothing but Go; `make test` installs what the tests need.
.PHONY: demo build setup test e2e shipped release probe-table soak bench docs fuzz lint

demo: ## embedded fleet, berth in front of it, and what a round robin loses; a plain tool as a task; a legacy server by stdio
	go run . demo

build: ## bin/berth
	go build -trimpath -o bin/berth .

setup: ## the real parts that the tests run against; says what it may not install
	integration/setup/setup.sh

# Many packages wait for real servers: one more at a time than there are processors keeps these busy.
PACKAGES := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1)

test: setup ## unit tests, the stores on real Redis, the conformance suite with and without berth; at most 10 minutes (make lint vets)
	go test -race -vet=off -shuffle=on -timeout=10m -p $(PACKAGES) ./...

e2e: setup ## what `make test` leaves out, with the program as it is shipped (races are looked for by test and soak): real clients and servers, and what may fail in between; at most 40 minutes
	@status=0; \
	integration/setup/e2e.sh -shuffle=on -timeout=50m || status=1; \
	$(MAKE) --no-print-directory shipped || status=1; \
	exit $$status

shipped: ## deploy/ held to the tools it is for: Helm, BuildKit, Compose, a release; about two minutes where nothing is compiled yet, else 15 s
	cd integration/deploy && go test -timeout=10m ./...

release: ## dist/: programs for four platforms, their bills of materials, SHA256SUMS
	deploy/release.sh

probe-table: ## what berth probe finds lost behind a round robin, nginx and berth; needs nginx
	go test -count=1 -tags=e2e -run='^TestProbeTable$$' -v ./integration

SOAK ?= 30m
soak: setup ## every real client through two berths on one Redis that fails at random, for SOAK=30m, and tasks through berths that die; by hand
	go test -race -timeout=0 -tags=e2e,soak -run='^TestSoak' -v ./integration -soak=$(SOAK)

BENCH ?=
bench: ## what berth costs beside nginx, HAProxy and plain Go, in BENCH=--quick about a minute; docs/dev/performance.md
	integration/setup/bench.sh
	go run ./integration/bench $(BENCH)

docs: ## what of docs/ the code writes: docs/metrics.md, docs/metrics-reference.md
	go test ./internal/command -run TestMetricsPages -update-metrics

FUZZ ?= 60s
fuzz: ## every fuzz target for FUZZ=60s, one after another; stops at the first that fails
	integration/setup/fuzz.sh $(FUZZ)

lint: ## what must be clean before a change is handed in
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet -tags=e2e,soak ./...
	@test -z "$$(go fix -diff ./... 2>&1)" || { go fix -diff ./...; exit 1; }
	go tool staticcheck -checks all -tags e2e,soak ./...
	go mod tidy -diff
	cd integration/godriver && go vet ./... && go mod tidy -diff
	cd integration/deploy && go vet ./... && go mod tidy -diff
