# Windtunnel. `make help` lists what there is to do, and `make help-all` everything; docs/ says how it works. bin/windtunnel,
# setup/ and benchmarks/run do the work of targets. This file says which file is built from which.

SHELL := bash
# If the input is a socket, as under a program that starts make, bash reads bashrc, and -u stops it.
.SHELLFLAGS := --norc -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Every Go program is built as in a release: without C, so that all share the built standard library. Data for
# debuggers takes a tenth of the time to compile, and is left out.
export CGO_ENABLED := 0
export GOFLAGS := $(strip $(GOFLAGS) -gcflags=all=-dwarf=false)

SYSTEMS := $(notdir $(patsubst %/,%,$(wildcard scripts/*/)))
SCENARIOS := $(patsubst scripts/%.js,%,$(wildcard scripts/*/[!_]*.js))
SCENARIO_TARGETS := $(subst /,-,$(SCENARIOS))

GO_SOURCES := $(shell find k6 -name '*.go' -o -name '*.json' -o -name '*.html' -o -name '*.tmpl' -o -name '*.css' -o -name 'go.*' 2>/dev/null)
PRIMITIVES_SOURCES := $(shell find sidecar/primitives/src sidecar/primitives/Cargo.toml sidecar/primitives/Cargo.lock sidecar/primitives/build.rs -type f 2>/dev/null)
RUST_SOURCES := $(shell find sidecar/src sidecar/Cargo.toml sidecar/Cargo.lock k6/lists/exit-codes.json k6/lists/secrets.json -type f 2>/dev/null)
VENVS := $(patsubst testbeds/%/requirements.txt,.venv/%/.installed,$(wildcard testbeds/*/requirements.txt))
GO_SYSTEMS := $(patsubst testbeds/%/go.mod,bin/%,$(wildcard testbeds/*/go.mod))
TESTBED_PROGRAMS = $(VENVS) $(filter-out bin/sing-box-1.13 bin/sing-box-next bin/mihomo bin/hysteria bin/3x-ui,$(GO_SYSTEMS))

# Every run needs these. testbeds/*.toml name the programs of testbeds.
BINARIES := bin/k6 bin/sidecar
# The programs that the default environment starts, by system. `bin/k6 x needs` names them, but is not built yet. A unit test compares both.
NEEDS_pulsar := .venv/pulsar-relay/.installed
NEEDS_panel := .venv/panel/.installed bin/xray
NEEDS_dataplane := bin/sing-box bin/xray
$(foreach system,udp footprint,$(eval NEEDS_$(system) := bin/sing-box))
NEEDS_users := bin/sing-box bin/xray
NEEDS_protocols := bin/sing-box bin/xray bin/naive-client
NEEDS_link := $(NEEDS_protocols)
# $(call needs_of,SYSTEMS), for `make bench` and `make SYSTEM` alone, if a runner is missing.
needs_of = $(sort $(foreach system,$(1),$(NEEDS_$(system))))
first_needs = $(if $(and $(wildcard bin/k6),$(wildcard bin/sidecar)),,$(if $(filter local,$(or $(ENV),local)),$(if $(TESTBED),,\
  $(if $(filter bench,$(MAKECMDGOALS)),$(filter-out bin/naive-client,$(call needs_of,$(or $(firsts_of_only),$(SYSTEMS)))),$(call needs_of,$(filter $(SYSTEMS),$(MAKECMDGOALS)))))))
comma := ,
firsts_of_only = $(foreach one,$(subst $(comma), ,$(ONLY)),$(firstword $(subst /, ,$(one))))

help: ## Show this list
	@setup/help
help-all: ## Show all targets, scenarios and variables
	@setup/help all

runners: ready-for-bench
	+@READY=bench MAKE='$(MAKE)' setup/build $(BINARIES) $(first_needs)

bench: ## Build what is missing, run the scenarios, print the verdict
dataplane: ## All data-plane scenarios on sing-box-pair, xray-pair and tproxy in turn; TESTBED= picks one
compare: ## Two sides in turn, until it knows ## make compare A=sing-box-pair B=xray-pair SCENARIO=dataplane-socks-tcp[,…], or BASE=… HEAD=… to build them, with TESTBED=… or PROTOCOL=rows,… [RUNS=auto or 12] [MINUTES=10] [WORSE_BY=10] [SECONDARY=off]
panel-compare: ## Two database drivers of the panel, and users created and switched ## make panel-compare A=pymysql B=asyncmy [PROFILE=quick]
protocols-compare: ## Each protocol, a candidate against sing-box ## make protocols-compare CANDIDATE=/path/to/program, an engine such as xray, or FILE.toml [BASELINE=…] [PROTOCOL=rows,…] [MINUTES=10] [TURNS=16]
protocols-interop: #: Which programs and versions understand each other: make protocols-interop [PROGRAMS=sing-box,xray,…] [CANDIDATE=/path/to/binary] [PROTOCOL=rows,…]
# The first line builds the missing programs, also under `make -n`. Do not put both lines into a `define`: `make -n` would run both.
MEASURE := $(sort bench compare panel-compare protocols-compare $(SYSTEMS) $(SCENARIO_TARGETS) $(SCENARIOS))
$(MEASURE): runners
	+@MAKE='$(MAKE)' setup/needs bin/k6 x target --needs $@
	@bin/k6 x target $@
cluster: bin/k6 #: Run scenarios on Kubernetes by k6-operator: make cluster RUNNERS=20 IMAGE=… ENV=… [ONLY=] [NAMESPACE=] [PULL_SECRET=] [RUNNER_CPU=1] [RUNNER_MEMORY=1Gi]
	@bin/k6 x cluster
cluster-manifests: bin/k6 #: Print what make cluster would create, without the values of secrets
	@bin/k6 x cluster --print
report: bin/k6 ## Print a run's report again ## make report RUN=results/latest
	@bin/k6 x report $(or $(RUN),results/latest)
keep: bin/k6 ## Keep a run as a baseline, or add it to one ## make keep NAME=… [RUN=results/latest] [TO=folder] [RECORDS=1]
	@test -n '$(NAME)' || { echo 'make: NAME is not set: say what the baseline is to be called' >&2; exit 2; }
	@bin/k6 x keep --name '$(NAME)' $(if $(TO),--to '$(TO)') $(if $(RECORDS),--records) $(or $(RUN),results/latest)
trend: bin/k6 .venv/trend/.installed ## Add runs to the history of their machine, and show where figures changed ## make trend [RUN='results/A …'] [COMMIT=…] [STREAM=1]
	@bin/k6 x trend $(if $(COMMIT),--commit '$(COMMIT)') $(if $(STREAM),--stream) $(RUN)
validate: bin/k6 #: Check environments and testbeds against their schemas
	@bin/k6 x validate
# benchmarks/run says what each does.
benchmark-generators benchmark-meters benchmark-streaming benchmark-runners benchmark-protocols benchmark-kubernetes benchmark-gate benchmark-leak primitives: runners
benchmark-generators: .venv/benchmarks/.installed
benchmark-link benchmark-sampler benchmark-instruments: bin/sidecar
benchmark-records benchmark-instruments: bin/k6
benchmark-compare: build
primitives: bin/primitives bin/primitives-portable
BENCHMARKS := primitives $(addprefix benchmark-,generators meters link sampler instruments leak streaming runners protocols judge records kubernetes compare gate)
$(BENCHMARKS):
	+@MAKE='$(MAKE)' setup/needs benchmarks/run --needs $@
	@benchmarks/run $@
up: ## Start InfluxDB and Grafana in containers; INFLUX_PASSWORD and GRAFANA_PASSWORD choose their passwords
down: ## Stop and remove them; VOLUMES=1 removes what they have stored, too
logs: #: Follow what they log
up down logs:
	@docker/stack $@
influx: bin/sidecar ## Run Debian's InfluxDB on 127.0.0.1:8086 until Ctrl-C, for runs to stream to; INFLUX_PASSWORD is its password
	@docker/influx

setup: ## Install what is missing of what bench, test and lint need, on Debian and Ubuntu
	@setup/prerequisites install
# These report missing packages before anything is built. A built program needs no toolchain.
ready-for-bench:
	@test -x bin/k6 -a -x bin/sidecar || setup/prerequisites ready build
ready-for-test ready-for-lint: ready-for-%:
	@setup/prerequisites ready $*

build: ## Build bin/k6 and bin/sidecar, and all that testbeds start
	+@MAKE='$(MAKE)' setup/build $(BINARIES) $(TESTBED_PROGRAMS)
testbeds: #: Install the systems that the testbeds start
	+@MAKE='$(MAKE)' setup/build $(TESTBED_PROGRAMS)
prepare: build bin/actionlint bin/vale bin/fake-proxy node_modules/.installed .venv/lint/.installed .venv/trend/.installed #: Build and install all that lint and the tests need
dist: ready-for-bench ## Make the archives of a release, for users without toolchains: make dist [TO=dist]
	@setup/dist '$(or $(TO),dist)'
boards: node_modules/.installed #: Write grafana/dashboards from grafana/boards
	node grafana/generate.js
variables: bin/k6 bin/windtunnel #: Write what this list, docs/reference/variables.md and docs/reference/windtunnel.md say of variables and commands
	@bin/k6 x variables --write
	@bin/windtunnel reference
clean: ## Remove what was built and installed; keep results
	rm -rf bin .venv node_modules ci/node_modules sidecar/target sidecar/primitives/target

bin/k6: $(GO_SOURCES)
bin/windtunnel: | bin/k6
	@ln -sf k6 $@
bin/sidecar: $(RUST_SOURCES)
bin/primitives bin/primitives-portable: $(PRIMITIVES_SOURCES)
bin/fake-proxy: $(wildcard tests/fakes/proxy/*)
bin/actionlint bin/deadcode bin/govulncheck bin/gremlins bin/vale: bin/%: setup/%/go.mod setup/%/go.sum
$(GO_SYSTEMS): bin/%: testbeds/%/go.mod testbeds/%/go.sum
$(foreach one,$(GO_SYSTEMS:bin/%=%),$(eval bin/$(one): $(wildcard testbeds/$(one)/*.go testbeds/$(one)/flags)))
bin/sing-box-1.13: bin/libcronet.so
bin/libcronet.so: testbeds/sing-box-1.13/go.sum
# After bin/k6, as each takes gigabytes to link.
bin/kubernetes/kubeone: $(wildcard tests/kubernetes/kubeone/*) | bin/k6
bin/kubernetes/k6-operator: $(wildcard tests/kubernetes/operator/*)
bin/kubernetes/ready: bin/kubernetes/kubeone bin/kubernetes/k6-operator bin/kubernetes/debian/.unpacked
	@touch $@
bin/kubernetes/debian/.unpacked: tests/kubernetes/unpack
	@tests/kubernetes/unpack $(@D) busybox-static containerd containernetworking-plugins runc
.venv/benchmarks/.installed: benchmarks/generators/requirements.txt
.venv/trend/.installed: setup/trend-requirements.txt
.venv/lint/.installed: tests/lint-requirements.txt
node_modules/.installed: package.json package-lock.json ci/package.json ci/package-lock.json
$(sort $(BINARIES) $(GO_SYSTEMS) bin/primitives bin/primitives-portable bin/fake-proxy bin/actionlint bin/deadcode bin/govulncheck bin/gremlins bin/vale bin/cargo-audit bin/cargo-mutants bin/tun2proxy bin/shadowsocks-rust bin/shoes bin/libcronet.so bin/kubernetes/kubeone \
  bin/kubernetes/k6-operator .venv/benchmarks/.installed .venv/trend/.installed .venv/lint/.installed node_modules/.installed):
	@setup/program $@ $<
.venv/%/.installed: testbeds/%/requirements.txt
	@setup/program $@ $<
# Versions of one package side by side. `bin/k6 x needs` says which file FROM_wheel-DIGEST is.
.venv/pulsar-relay@%/.installed: .venv/pulsar-relay/.installed testbeds/install-version
	@setup/program $@ $< '$(FROM_$*)'
.venv/panel@%/.installed: .venv/panel/.installed testbeds/install-version
	@setup/program $@ $<

export RUST_TESTS := --quiet --locked --profile bench --no-fail-fast
export RUST_TEST_THREADS := $(or $(RUST_TEST_THREADS),$(shell echo $$((2 * $$(nproc) + 2))))
# Each goes on to its end, whatever fails in the first part. tests/tiers.js says what is in which.
test: ## Test units, known answers, and each system once: before each commit
	@failed=0; $(MAKE) test-compiled || failed=1; $(MAKE) test-scripts TIER=first || failed=1; test $$failed = 0
test-all: ready-for-test .venv/trend/.installed ## make test, and the rest that one machine can run: before a change lands
	@failed=0; export TEST_FULL=1; $(MAKE) test-compiled || failed=1; $(MAKE) test-scripts || failed=1; test $$failed = 0
test-compiled: ready-for-test build
	+@$(MAKE) --jobs=2 --keep-going --output-sync test-sidecar test-k6
# The first tier starts only what `make bench` starts.
FOR_SCRIPTS := $(if $(filter first,$(TIER)),,bin/fake-proxy .venv/trend/.installed)
test-scripts: ready-for-test build node_modules/.installed $(FOR_SCRIPTS) #: Test scripts, lib and the whole under Node.js: TIER=first, TIER=rest or both; FILES= names some, such as real/relay
	$(if $(filter rest,$(TIER)),TEST_FULL=1 )node --import ./tests/fakes/register.js tests/run.js $(or $(FILES),$(TIER:%=--tier=%))
test-mutants: ready-for-test build node_modules/.installed #: Plant faults, and tell which tier of tests finds each; apart from `test`; ONLY_FAULTS= names some
	@node tests/mutants/mutants.js $(ONLY_FAULTS)
test-mutants-engine: bin/gremlins bin/cargo-mutants #: Mutate the engines of statistics and counters, and tell what survives: MUTANTS_OF= is a pattern for Rust's; a quarter of an hour
	tests/mutants/engine internal/difference -- src/probe/udp/ledger.rs src/probe/recorder.rs
test-dist: runners #: Build a release twice, from two folders, and run it where there is nothing else; DIST= names a folder that was made before; apart from `test`, as it takes minutes
	+@MAKE='$(MAKE)' setup/needs bin/sidecar testbed needs pulsar-relay
	+@! tests/kubernetes/possible >/dev/null || $(MAKE) --silent bin/kubernetes/debian/.unpacked
	node --test tests/dist/dist.js
test-k6-next: #: Show which scenarios load under the next major version of k6, with SQL stubbed; minutes to build it, so apart from `test`
	@tests/k6-next/run
test-engines: build bin/mihomo bin/shadowsocks-rust bin/hysteria bin/shoes bin/tun2proxy bin/sing-box-1.13 bin/sing-box-next bin/3x-ui node_modules/.installed #: Test the engines and the panel that make builds only for a run that names them; minutes to build them, so apart from `test`
	node --import ./tests/fakes/register.js --test --test-concurrency=1 tests/engines/engines.js tests/engines/panel.js tests/real/protocols.test.js
# A machine that cannot run it reports that it is left out. With REQUIRED=1 it fails there.
test-kubernetes: #: Test make cluster with a Kubernetes of its own, k6-operator and the relay in it; takes root
	@if why=$$(tests/kubernetes/possible); then $(MAKE) test-kubernetes-here; \
	else echo "test-kubernetes: LEFT OUT, nothing of make cluster is tested: $$why" >&2; test -z '$(REQUIRED)'; fi
test-kubernetes-here: bin/k6 bin/sidecar bin/kubernetes/ready .venv/pulsar-relay/.installed
	node --test tests/kubernetes/kubernetes.js
test-cgroup2: bin/k6 bin/sidecar #: Test LIMITS by control groups of version 2, under user-mode Linux where this machine has version 1; takes root and Debian
	@tests/cgroup2 || { test $$? = 4 && test -z '$(REQUIRED)'; }
LINTS := lint-rust lint-go lint-scripts lint-python lint-shell lint-workflows lint-prose
lint: ready-for-lint ## Check format, types and style of everything
	@$(MAKE) --jobs=$$(nproc) --output-sync --keep-going $(LINTS)
test-sidecar: ready-for-test build #: Test the sidecar
test-k6: ready-for-test build #: Test our k6
test-primitives: bin/k6 bin/sidecar bin/primitives bin/primitives-portable #: Lint and test what measures the primitives; apart from `test`, as it builds it
audit: bin/govulncheck bin/cargo-audit #: Ask databases of known faults about the dependencies of Go, Rust and JavaScript; needs the network
dead-code: bin/deadcode #: Find Go that neither a program nor a test reaches; apart from `lint`, as it takes half a minute of CPU time
lint-go: bin/k6 bin/windtunnel
lint-scripts: bin/sidecar node_modules/.installed
lint-python: .venv/lint/.installed .venv/panel/.installed
lint-workflows: bin/actionlint .venv/lint/.installed
lint-prose: bin/vale
fmt: bin/sidecar node_modules/.installed .venv/lint/.installed ## Format everything
$(LINTS) audit dead-code fmt test-sidecar test-k6 test-primitives:
	@setup/check $@

.PHONY: help help-all runners $(MEASURE) cluster cluster-manifests report keep trend validate $(BENCHMARKS) up down logs influx setup ready-for-bench ready-for-test ready-for-lint build testbeds prepare dist boards variables clean test test-all test-compiled test-sidecar test-k6 test-scripts test-mutants test-mutants-engine test-primitives test-dist test-k6-next test-engines test-kubernetes test-kubernetes-here test-cgroup2 lint $(LINTS) audit dead-code fmt
