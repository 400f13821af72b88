# The verbs of the project. `make demo` needs nothing but Go; `make test` installs what the tests need.
.PHONY: demo build test e2e soak lint

demo: ## embedded fleet, berth in front of it, and what a round robin loses
	go run . demo

build: ## bin/berth
	go build -trimpath -o bin/berth .

lint: ## what must be clean before a change is handed in
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	@test -z "$$(go fix -diff ./... 2>&1)" || { go fix -diff ./...; exit 1; }
	go tool staticcheck -checks all ./...
	go mod tidy -diff
