# make help lists the targets.

NODES    ?= auto
SCENARIO ?=
SCHEME   ?=
GUARD    ?=
FAULT    ?=
PLAN     ?=
OUT      ?= out
COMPOSE  := $(shell docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)

.DEFAULT_GOAL := help
.PHONY: help test race chaos search replay results bench up down

help: ## show this
	@echo 'make TARGET [NAME=value ...]'
	@echo
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  \1\t\2/' | expand -t 12
	@echo
	@echo 'chaos takes NODES=auto|process|embedded, SCENARIO=, SCHEME=, GUARD= and OUT= (the folder for results.json, stories.json, report.html);'
	@echo 'search takes SCHEME=, FAULT=, GUARD= and OUT=; replay takes PLAN=.'
	@echo 'test and up use the redis image named by REDLOCK_REDIS_IMAGE, else one made from redis-server, else redis:7.4.'

test: ## run all tests (with whatever of redis-server, a C compiler and Docker there is)
	@. .ci/have; . .ci/redis-image; go test ./...

race: ## run all tests under the race detector
	@. .ci/have; . .ci/redis-image; go test -race ./...

$(OUT)/chaos: FORCE
	@mkdir -p $(OUT) && go build -o $@ ./cmd/chaos
FORCE:

chaos: $(OUT)/chaos ## search a simulation for breaks, then play the scenarios on real servers, and draw OUT/report.html; exit status 0, 1 or 2
	@$(OUT)/chaos run --nodes '$(NODES)' --scenario '$(SCENARIO)' --scheme '$(SCHEME)' --guard '$(GUARD)' --out '$(OUT)'

search: $(OUT)/chaos ## only search the simulation
	@$(OUT)/chaos search --scheme '$(SCHEME)' --fault '$(FAULT)' --guard '$(GUARD)' --out '$(OUT)/search.json'

replay: $(OUT)/chaos ## tell the story of a simulated run: PLAN='...' as the search prints it
	@$(OUT)/chaos replay '$(PLAN)'

results: ## make RESULTS.md from the last whole run of make chaos
	@go run ./cmd/chaos report $(OUT)/results.json > RESULTS.md.new && mv RESULTS.md.new RESULTS.md

bench: ## time acquire and release on five local masters, beside the bare bound
	@go test -run '^$$' -bench Pair -benchtime 2s -benchmem ./redlock

up: ## start five masters in Docker on 127.0.0.1:7001-7005
	@. .ci/redis-image; $(COMPOSE) up -d

down: ## stop them and delete their data
	@$(COMPOSE) down -v
