# Windtunnel. `make help` lists what there is to do; docs/ says how it works.

SHELL := bash
# Where its input is a socket, as of a program that starts make, bash would read bashrc, which -u stops.
.SHELLFLAGS := --norc -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Every Go program is built as in a release: without C, so that all share what is built of the standard library.
export CGO_ENABLED := 0
# No program keeps what debuggers read, which takes a tenth of the time to compile.
export GOFLAGS := $(strip $(GOFLAGS) -gcflags=all=-dwarf=false)

PROFILE ?= smoke
ENV ?= local
ONLY ?=
DASHBOARD ?=
export PROFILE ENV ONLY DASHBOARD

# What `make dataplane` runs on unless TESTBED names one; another environment has its own.
DATAPLANE_TESTBEDS := $(if $(filter local,$(ENV)),sing-box-pair xray-pair tproxy tproxy:engine=sing-box)

SYSTEMS := $(notdir $(patsubst %/,%,$(wildcard scripts/*/)))
SCENARIOS := $(patsubst scripts/%.js,%,$(wildcard scripts/*/[!_]*.js))
SCENARIO_TARGETS := $(subst /,-,$(SCENARIOS))

GO_SOURCES := $(shell find k6 -name '*.go' -o -name '*.json' -o -name '*.html' -o -name '*.tmpl' -o -name '*.css' -o -name 'go.*' 2>/dev/null)
PRIMITIVES_SOURCES := $(shell find sidecar/primitives/src sidecar/primitives/Cargo.toml sidecar/primitives/Cargo.lock sidecar/primitives/build.rs -type f 2>/dev/null)
RUST_SOURCES := $(shell find sidecar/src sidecar/Cargo.toml sidecar/Cargo.lock -type f 2>/dev/null)
VENVS := $(patsubst testbeds/%/requirements.txt,.venv/%/.installed,$(wildcard testbeds/*/requirements.txt))
GO_SYSTEMS := $(patsubst testbeds/%/go.mod,bin/%,$(wildcard testbeds/*/go.mod))
SHELL_SCRIPTS := .ci/run ci/built ci/gate ci/release ci/sides docker/stack setup/build setup/dist setup/prerequisites setup/version testbeds/panel/mariadb testbeds/protocols/make-keys testbeds/protocols/start-end testbeds/protocols/take testbeds/install-version testbeds/python-version testbeds/tproxy/divert tests/dist/container tests/kubernetes/cluster tests/kubernetes/node tests/kubernetes/possible tests/kubernetes/unpack tests/mutants/engine tests/mutants/run

# Go systems: a build's tags and linker flags beyond -s -w, by the name of its folder in testbeds/.
TAGS_sing-box := with_quic,with_utls,with_gvisor,with_wireguard,with_clash_api
LDFLAGS_sing-box = -X github.com/sagernet/sing-box/constant.Version=$$(go list -m -f '{{slice .Version 1}}' github.com/sagernet/sing-box)
# As its official builds for Linux, with bin/libcronet.so, Chromium's network library, beside it.
TAGS_sing-box-1.13 := $(TAGS_sing-box),with_naive_outbound,with_purego
LDFLAGS_sing-box-1.13 = $(LDFLAGS_sing-box)
# Without with_wireguard: the module that 1.14.1 asks for cannot be had.
TAGS_sing-box-next := with_quic,with_utls,with_gvisor,with_openvpn,with_clash_api
LDFLAGS_sing-box-next = $(LDFLAGS_sing-box)

# $(call within,SYSTEM): what of the system ONLY asks for, all of it unless given.
comma := ,
within = $(if $(filter-out $(1) $(1)/% $(1)-%,$(subst $(comma), ,$(ONLY))),$(error ONLY=$(ONLY) names what is not of $(1): leave it out, or run `make bench`),$(or $(ONLY),$(1)))

# What every run takes; what its testbeds start besides, testbeds/*.toml say.
BINARIES := bin/k6 bin/sidecar

# They are there; else what is missing to build them is told before anything is begun.
.PHONY: runners
runners: ready-for-bench
	+@MAKE='$(MAKE)' setup/build $(BINARIES) $(first_needs)

# What the default environment starts, by system (`bin/k6 x needs`, which says it exactly, is not there yet): so that it is built beside
# the runners. A unit test holds the two to each other.
NEEDS_pulsar := .venv/pulsar-relay/.installed
NEEDS_panel := .venv/panel/.installed bin/xray
NEEDS_dataplane := bin/sing-box bin/xray
NEEDS_protocols := bin/sing-box bin/xray bin/naive-client
NEEDS_link := $(NEEDS_protocols)
# Of `make bench` and of `make SYSTEM` alone, while a runner is missing. $(call needs_of,SYSTEMS)
needs_of = $(sort $(foreach system,$(1),$(NEEDS_$(system))))
first_needs = $(if $(and $(wildcard bin/k6),$(wildcard bin/sidecar)),,$(if $(filter local,$(ENV)),$(if $(TESTBED),,\
  $(if $(filter bench,$(MAKECMDGOALS)),$(call needs_of,$(or $(firsts_of_only),$(SYSTEMS))),$(call needs_of,$(filter $(SYSTEMS),$(MAKECMDGOALS)))))))
firsts_of_only = $(foreach one,$(subst $(comma), ,$(ONLY)),$(firstword $(subst /, ,$(one))))

# $(call build,COMMAND): the targets that COMMAND prints. In a recipe line that begins with +, so that `make -n` shows them
# too, as far as the runners are there to be asked. What is missing is told before any of them is built.
build = test ! -x bin/k6 -o ! -x bin/sidecar || { needs=$$($(1)); test -z "$$needs" || $(MAKE) --silent --question $$needs 2>/dev/null || \
  { $(if $(dry_run),,setup/prerequisites ready bench &&) MAKE='$(MAKE)' setup/build $$needs; }; }
# Whether make was only asked what it would do.
dry_run = $(findstring n,$(filter-out --%,$(firstword $(MAKEFLAGS))))

# $(call need,COMMAND,WHAT TO INSTALL)
need = command -v $(1) >/dev/null || { echo "make: $(1) is not installed: $(2)" >&2; exit 4; }

# $(call venv,FOLDER,REQUIREMENTS WITH HASHES). The list is whole, and pip resolves nothing: for an extra of a package it would take the newest release,
# which has no hash in the list.
pip = $(1)/bin/python -m pip --disable-pip-version-check
venv = @rm -rf $(1) && python3 -m venv $(1) && $(pip) install --quiet --require-hashes --no-deps -r $(2) && { said=$$($(pip) check) || { echo "$$said" >&2; false; }; } && touch $(1)/.installed

.PHONY: help
help: ## Show this list
	@echo 'Usage: make TARGET [PROFILE=$(PROFILE)] [ENV=$(ENV)] [ONLY=system or system/scenario,…] [DASHBOARD=1]'
	@echo '                   [TESTBED=name or name:variable=value,…] [PLACEMENT=shared, split or free]'
	@echo
	@awk -F ':.*## ' '/^[a-z0-9%-]+:.*## / { printf "  %-22s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  One system:            $(SYSTEMS)'
	@echo '  One scenario:          $(SCENARIO_TARGETS)' | fold -s -w 100 | sed '2,$$s/^/                         /'
	@echo
	@cat k6/lists/variables.txt

## Running ------------------------------------------------------------------

.PHONY: bench
bench: runners ## Build what is missing, run the scenarios, print the verdict
	+@$(call build,bin/k6 x needs)
	@bin/k6 x bench

.PHONY: $(SYSTEMS)
$(filter-out dataplane,$(SYSTEMS)): runners
	+@$(call build,ONLY='$(call within,$@)' bin/k6 x needs)
	@ONLY='$(call within,$@)' bin/k6 x bench

.PHONY: dataplane
dataplane: runners ## All data-plane scenarios on sing-box-pair, xray-pair and tproxy in turn; TESTBED= picks one
	+@$(call build,ONLY='$(call within,$@)' bin/k6 x needs $(addprefix --testbed ,$(if $(TESTBED),'$(TESTBED)',$(DATAPLANE_TESTBEDS))))
	@export MAY_LEAVE_OUT='$(if $(TESTBED),,1)'; \
	code=0; beds='$(or $(TESTBED),$(DATAPLANE_TESTBEDS))'; \
	for bed in $${beds:-''}; do \
	  RUN_ID="$${RUN_ID:+$$RUN_ID-$${bed//[^a-z0-9.-]/-}}" ONLY='$(call within,$@)' TESTBED="$$bed" bin/k6 x bench || code=$$?; \
	  test $$code != 130 || break; \
	done; exit $$code

# A scenario is SYSTEM-NAME or SYSTEM/NAME.
only = $(call within,$(if $(findstring /,$@),$@,$(patsubst $(firstword $(subst -, ,$@))-%,$(firstword $(subst -, ,$@))/%,$@)))

.PHONY: $(SCENARIO_TARGETS) $(SCENARIOS)
# protocols-interop has programs of its own to build, below.
$(filter-out protocols-interop,$(SCENARIO_TARGETS)) $(SCENARIOS): runners
	+@$(call build,ONLY='$(only)' bin/k6 x needs)
	@ONLY='$(only)' bin/k6 x bench

# RUNS and the rest are meant for the comparison, not for the scripts.
compare_length = $(if $(or $(RUNS),$(compare_what)),--runs '$(or $(RUNS),auto)') --minutes '$(MINUTES)' $(if $(WORSE_BY),--worse-by '$(WORSE_BY)') $(if $(SECONDARY),--secondary '$(SECONDARY)')
# Rows of the matrix in place of a scenario judge themselves.
compare_what = $(if $(and $(PROTOCOL),$(if $(SCENARIO),,1)),,--scenario '$(SCENARIO)')

# What make is given is in the environment too, so that the shell quotes it. $(call given,FLAG,VARIABLE)
given = $(if $(value $(2)),--$(1) "$$$(2)")
base_and_head = $(call given,base,BASE) $(call given,head,HEAD) $(call given,repository,REPOSITORY) $(call given,build,BUILD) \
  $(call given,binary,BINARY) $(call given,source,SOURCE) $(call given,wheel,WHEEL) $(call given,testbed,TESTBED)
compare_sides = $(if $(BASE)$(HEAD)$(REPOSITORY),$(base_and_head),--a "$${A:-}" --b "$${B:-}")

.PHONY: compare
compare: runners ## Two sides in turn, until it knows: make compare A=sing-box-pair B=xray-pair SCENARIO=dataplane-socks-tcp[,…], or BASE=… HEAD=… to build them, with TESTBED=… or PROTOCOL=rows,… [RUNS=auto or 12] [MINUTES=10] [WORSE_BY=10] [SECONDARY=off]
	+@$(if $(BASE)$(HEAD)$(REPOSITORY),:,$(call build,$(if $(compare_what),bin/k6 x needs --scenario '$(SCENARIO)' --testbed '$(A)' --testbed '$(B)',ONLY=protocols/matrix bin/k6 x needs)))
	@env $(foreach one,RUNS MINUTES SCENARIO WORSE_BY SECONDARY SAME A B BASE HEAD REPOSITORY BUILD BINARY SOURCE WHEEL TESTBED,-u $(one)) \
	  bin/k6 x compare $(or $(compare_what),$(call given,protocol,PROTOCOL)) $(compare_sides) $(if $(SAME),--same) $(compare_length)

# The same of database drivers, or with a colon whole testbeds. The documents' parameters are those of quick, so it is the
# default here.
panel_side = $(if $(findstring :,$(1)),$(1),$(addprefix panel:driver=,$(1)))

.PHONY: panel-compare
panel-compare: ## The same of two database drivers of the panel, and users created and switched: make panel-compare A=pymysql B=asyncmy [PROFILE=quick]
	@$(MAKE) compare A='$(call panel_side,$(A))' B='$(call panel_side,$(B))' SCENARIO=panel/users-create,panel/users-disable,panel/users-enable \
	  PROFILE='$(if $(filter file,$(origin PROFILE)),quick,$(or $(PROFILE),quick))'

# Differences need as many turns as quick has, so it is the default here.
.PHONY: protocols-compare
protocols-compare: runners ## Each protocol, a candidate against sing-box: make protocols-compare CANDIDATE=/path/to/binary or xray [CANDIDATE_FILTER=/path/to/program] [PROTOCOL=rows,…] [MINUTES=10] [TURNS=16]
	@test -n '$(CANDIDATE)$(CANDIDATE_CLIENT)$(CANDIDATE_SERVER)' || { echo 'make: CANDIDATE is not set: give the absolute path of a binary, or xray' >&2; exit 2; }
	+@$(call build,ONLY='$(call within,protocols/matrix)' bin/k6 x needs)
	@PROFILE='$(if $(filter file,$(origin PROFILE)),quick,$(or $(PROFILE),quick))' ONLY='$(call within,protocols/matrix)' bin/k6 x bench

# What no testbed starts unless it is asked to.
INTEROP_PROGRAMS := sing-box,sing-box-1.13,sing-box-next,xray

.PHONY: protocols-interop
protocols-interop: runners ## Which programs and versions understand each other: make protocols-interop [PROGRAMS=sing-box,xray,…] [CANDIDATE=/path/to/binary] [PROTOCOL=rows,…]
	+@$(call build,ONLY=protocols/interop bin/k6 x needs)
	+@$(MAKE) --silent $(addprefix bin/,$(subst $(comma), ,$(or $(PROGRAMS),$(INTEROP_PROGRAMS))))
	@PROGRAMS='$(or $(PROGRAMS),$(INTEROP_PROGRAMS))' ONLY=protocols/interop bin/k6 x bench

.PHONY: cluster cluster-manifests
cluster: bin/k6 ## Run scenarios on Kubernetes by k6-operator: make cluster RUNNERS=20 IMAGE=… ENV=… [ONLY=] [NAMESPACE=] [PULL_SECRET=] [RUNNER_CPU=1] [RUNNER_MEMORY=1Gi]
	@bin/k6 x cluster
cluster-manifests: bin/k6 ## Print what make cluster would create, without the values of secrets
	@bin/k6 x cluster --print

.PHONY: report
report: bin/k6 ## Print a run's report again: make report RUN=results/latest
	@bin/k6 x report $(or $(RUN),results/latest)

.PHONY: keep
keep: bin/k6 ## Keep a run as a baseline, or add it to one: make keep NAME=… [RUN=results/latest] [TO=folder] [RECORDS=1]
	@test -n '$(NAME)' || { echo 'make: NAME is not set: say what the baseline is to be called' >&2; exit 2; }
	@bin/k6 x keep --name '$(NAME)' $(if $(TO),--to '$(TO)') $(if $(RECORDS),--records) $(or $(RUN),results/latest)

.PHONY: trend
trend: bin/k6 .venv/trend/.installed ## Add runs to the history of their machine, and show where figures changed: make trend [RUN='results/A …'] [COMMIT=…] [STREAM=1]
	@bin/k6 x trend $(if $(COMMIT),--commit '$(COMMIT)') $(if $(STREAM),--stream) $(RUN)

.PHONY: validate
validate: bin/k6 ## Check environments and testbeds against their schemas
	@bin/k6 x validate

.PHONY: benchmark-generators
benchmark-generators: runners .venv/benchmarks/.installed ## Compare our scenarios with a Python client and a bare k6 script
	+@$(call build,bin/sidecar testbed needs pulsar-relay)
	@bin/sidecar testbed run pulsar-relay -- .venv/benchmarks/bin/python benchmarks/generators/compare.py

.PHONY: benchmark-meters
benchmark-meters: runners ## Compare our probes with sockperf, iperf3 and a plain Python script
	+@$(call build,bin/sidecar testbed needs sing-box)
	@bin/sidecar testbed run sing-box --var cpus=$$(($$(nproc) - 1)) -- python3 benchmarks/meters/compare.py

.PHONY: benchmark-link
benchmark-link: bin/sidecar ## Compare links with ping, iperf3 and sockperf through them
	@python3 benchmarks/link/compare.py

.PHONY: benchmark-link-repeat
benchmark-link-repeat: ## How far runs over a link with one seed agree: make benchmark-link-repeat [LINK=far] [PROTOCOL=trojan,hysteria2] [RUNS=6]
	@$(call need,node,install Node.js 20.19 or newer)
	+@$(call build,bin/sidecar testbed needs protocols --var protocol=trojan)
	@node --import ./tests/fakes/register.js benchmarks/link/repeat.js

.PHONY: benchmark-neighbours
benchmark-neighbours: runners ## What somebody else on the CPU does to a measurement, and when it is seen: make benchmark-neighbours [ROUNDS=40]
	@$(call need,node,install Node.js 20.19 or newer)
	+@$(call build,bin/sidecar testbed needs sing-box)
	@node --import ./tests/fakes/register.js benchmarks/neighbours/run.js

.PHONY: benchmark-streaming
benchmark-streaming: runners ## What streaming to InfluxDB costs a run, beside none and k6's own output
	@$(call need,influxd,apt-get install influxdb)
	+@$(call build,ONLY=pulsar/ingest bin/k6 x needs)
	@taskset --cpu-list $$(($$(nproc) - 1)) bin/sidecar testbed run influxdb -- env PYTHONPATH=benchmarks python3 benchmarks/streaming/compare.py

.PHONY: benchmark-runners
benchmark-runners: runners ## What 1, 2 and 4 runners measure of the relay, and what a coordinator costs: make benchmark-runners [PROFILES=quick,full] [ROUNDS=3] [TIMES=4] [PAIRS=16]
	+@$(call build,bin/sidecar testbed needs pulsar-relay)
	@env -u PROFILE -u ONLY -u ENV PYTHONPATH=benchmarks python3 benchmarks/runners/compare.py

# Differences need as many turns as quick has, so it is the default here.
.PHONY: benchmark-protocols
benchmark-protocols: runners ## Compare sing-box with itself, and count the targets missed: make benchmark-protocols [RUNS=5] [MINUTES=60] [PROTOCOL=rows,…]
	@$(call need,node,install Node.js 20.19 or newer)
	+@$(call build,ONLY=protocols/matrix bin/k6 x needs)
	@PROFILE='$(if $(filter file,$(origin PROFILE)),quick,$(or $(PROFILE),quick))' node benchmarks/protocols-a-a/run.js

.PHONY: benchmark-judge
benchmark-judge: ## How often the engine of comparisons errs, and how soon it knows: simulated, about ten minutes
	@$(call need,go,install Go 1.26 or newer)
	@cd k6 && go run ./benchmarks/judge $(if $(COMPARISONS),--comparisons '$(COMPARISONS)')

.PHONY: benchmark-records
benchmark-records: bin/k6 ## What it takes to record ten million samples, and to judge a billion of 200 runners; a quarter of an hour
	@$(call need,go,install Go 1.26 or newer)
	@cd k6 && go run ./benchmarks/records --k6 ../bin/k6 --graph ../docs/images/judging-records.svg

.PHONY: benchmark-kubernetes
benchmark-kubernetes: ## Runners in a cluster beside runners on this machine, the same relay: make benchmark-kubernetes [ROUNDS=3] [PROFILES=quick,full]; takes root
	@why=$$(tests/kubernetes/possible) || { echo "make: no Kubernetes can be brought up here: $$why" >&2; exit 4; }
	+@$(MAKE) bin/k6 bin/sidecar bin/kubernetes/ready .venv/pulsar-relay/.installed
	@node benchmarks/kubernetes/compare.js

# quick is what one would compare with, so it is the default here.
.PHONY: benchmark-variance
benchmark-variance: build ## Where the noise of runs comes from: make benchmark-variance [SCENARIO=dataplane/socks-tcp] [PAIRS=6] [RUNS=5] [TIMES=1,4]
	@$(call need,node,install Node.js 20.19 or newer)
	@PROFILE='$(if $(filter file,$(origin PROFILE)),quick,$(or $(PROFILE),quick))' node --import ./tests/fakes/register.js benchmarks/variance/run.js

.PHONY: benchmark-compare
benchmark-compare: build ## Compare sing-box with itself and with a slowed one, and count the verdicts: make benchmark-compare [RUNS=20] [SLOWER=15] [SCENARIO=dataplane/socks-tcp] [MINUTES=10]
	@$(call need,node,install Node.js 20.19 or newer)
	@PROFILE='$(if $(filter file,$(origin PROFILE)),quick,$(or $(PROFILE),quick))' node benchmarks/compare-a-a/run.js

# quick is what the gate runs unless it is told, so it is the default here.
.PHONY: benchmark-gate
benchmark-gate: runners ## Gates of a proxy with itself and with a dearer one, and count the verdicts: make benchmark-gate [RUNS=20] [SLOWER=15] [MINUTES=10]
	@$(call need,node,install Node.js 20.19 or newer)
	@PROFILE='$(if $(filter file,$(origin PROFILE)),quick,$(or $(PROFILE),quick))' node benchmarks/gate/run.js

.PHONY: primitives
primitives: runners bin/primitives bin/primitives-portable ## What encryption, hashes, rule sets, buffers and memory cost here; MODE (or PROFILE)=smoke, quick or full
	@out=results/primitives-$$(date -u +%Y%m%dT%H%M%SZ); \
	bin/sidecar bench primitives --mode '$(or $(MODE),$(if $(filter file,$(origin PROFILE)),quick,$(PROFILE)))' --out "$$out/evidence" && \
	bin/k6 x primitives "$$out"

## Live ---------------------------------------------------------------------

.PHONY: up
up: ## Start InfluxDB and Grafana in containers; INFLUX_PASSWORD and GRAFANA_PASSWORD choose their passwords
	@docker/stack up

.PHONY: down
down: ## Stop and remove them; VOLUMES=1 removes what they have stored, too
	@docker/stack down

.PHONY: logs
logs: ## Follow what they log
	@docker/stack logs

.PHONY: influx
influx: bin/sidecar ## Run Debian's InfluxDB on 127.0.0.1:8086 until Ctrl-C, for runs to stream to; INFLUX_PASSWORD is its password
	@$(call need,influxd,apt-get install influxdb)
	@test -n "$${INFLUX_PASSWORD:-}" || { echo 'make: INFLUX_PASSWORD is not set: choose one, such as export INFLUX_PASSWORD="$$(openssl rand -hex 16)"' >&2; exit 2; }
	@bin/sidecar testbed up influxdb --var http_port=8086 --var data="$$PWD/results/.influxdb"

## Building -----------------------------------------------------------------

.PHONY: setup
setup: ## Install what is missing of what bench, test and lint need, on Debian and Ubuntu
	@setup/prerequisites install

# Before anything is built, so that nothing stops half-way. What is built needs no toolchain to run.
.PHONY: ready-for-bench ready-for-test ready-for-lint
ready-for-bench:
	@test -x bin/k6 -a -x bin/sidecar || setup/prerequisites ready bench
ready-for-test ready-for-lint: ready-for-%:
	@setup/prerequisites ready $*

.PHONY: dist
dist: ready-for-bench ## Make the archives of a release, for users without toolchains: make dist [TO=dist]
	@setup/dist '$(or $(TO),dist)'

.PHONY: test-dist
test-dist: runners ## Build a release twice, from two folders, and run it where there is nothing else; DIST= names a folder that was made before; apart from `test`, as it takes minutes
	+@$(call build,bin/sidecar testbed needs pulsar-relay)
	+@! tests/kubernetes/possible >/dev/null || $(MAKE) --silent bin/kubernetes/debian/.unpacked
	node --test tests/dist/dist.js

TESTBED_PROGRAMS = $(VENVS) $(filter-out bin/sing-box-1.13 bin/sing-box-next,$(GO_SYSTEMS))

.PHONY: build
build: ## Build bin/k6 and bin/sidecar, and all that testbeds start
	+@MAKE='$(MAKE)' setup/build $(BINARIES) $(TESTBED_PROGRAMS)

.PHONY: prepare
prepare: build bin/actionlint bin/vale bin/fake-proxy bin/sing-box-1.13 bin/sing-box-next node_modules/.installed .venv/lint/.installed .venv/trend/.installed ## Build and install all that lint and the tests need

bin/k6: $(GO_SOURCES)
	@$(call need,go,install Go 1.26 or newer)
	@echo 'building bin/k6'
	@mkdir -p bin
	cd k6 && go build -trimpath -buildvcs=false -ldflags '-s -w' -o ../bin/k6 .

bin/sidecar: $(RUST_SOURCES)
	@$(call need,cargo,install Rust 1.88 or newer)
	@echo 'building bin/sidecar'
	@mkdir -p bin
	cargo build --quiet --release --locked --manifest-path sidecar/Cargo.toml
	@install -m 755 sidecar/target/release/sidecar $@

# Not part of `build`: only `sidecar bench primitives` needs them.
bin/primitives: $(PRIMITIVES_SOURCES)
	@$(call need,cargo,install Rust 1.88 or newer)
	@$(call need,cc,apt-get install gcc)
	@echo 'building $@ (about a minute the first time)'
	@mkdir -p bin
	cargo build --quiet --release --locked --manifest-path sidecar/primitives/Cargo.toml
	@install -m 755 sidecar/primitives/target/release/primitives $@

# The same without any CPU extension in its cryptography. With a target of its own it shares what only builds it, such as macros, with the other.
rust_host = $$(rustc -vV | sed -n 's/^host: //p')
bin/primitives-portable: $(PRIMITIVES_SOURCES)
	@$(call need,cargo,install Rust 1.88 or newer)
	@$(call need,cc,apt-get install gcc)
	@echo 'building $@ (about a minute the first time)'
	@mkdir -p bin
	RUSTFLAGS='$(foreach crate,aes chacha20 poly1305 polyval sha2,--cfg $(crate)_backend="soft")' cargo build --quiet --release --locked \
	  --manifest-path sidecar/primitives/Cargo.toml --features portable --target "$(rust_host)"
	@install -m 755 "sidecar/primitives/target/$(rust_host)/release/primitives" $@

.PHONY: testbeds
testbeds: ## Install the systems that the testbeds start
	+@MAKE='$(MAKE)' setup/build $(TESTBED_PROGRAMS)

bin/naive-client: $(wildcard testbeds/naive-client/*.go)

# A proxy with known faults, which tests/real/evidence.test.js and tests/alone/evidence.test.js measure.
bin/fake-proxy: $(wildcard tests/fakes/proxy/*)
	@$(call need,go,install Go 1.26 or newer)
	@mkdir -p bin
	@cd tests/fakes/proxy && go build -trimpath -buildvcs=false -ldflags '-s -w' -o ../../../$@ .

# Vale parses code with tree-sitter, which is C.
bin/vale: export CGO_ENABLED := 1
bin/actionlint bin/gremlins bin/vale: bin/%: setup/%/go.mod setup/%/go.sum
	@$(call need,go,install Go 1.26 or newer)
	@mkdir -p bin
	@cd setup/$* && go build -trimpath -ldflags '-s -w' -o ../../$@ tool

# The one tool that the folder's go.mod names.
$(GO_SYSTEMS): bin/%: testbeds/%/go.mod testbeds/%/go.sum
	@$(call need,go,install Go 1.26 or newer)
	@echo 'building $@'
	@mkdir -p bin
	@cd testbeds/$* && go build -trimpath -tags '$(TAGS_$*)' -ldflags "-s -w $(LDFLAGS_$*)" -o ../../$@ tool

bin/sing-box-1.13: bin/libcronet.so

CRONET = github.com/sagernet/cronet-go/lib/linux_$$(go env GOARCH)
bin/libcronet.so: testbeds/sing-box-1.13/go.sum
	@$(call need,go,install Go 1.26 or newer)
	@mkdir -p bin
	@cd testbeds/sing-box-1.13 && go mod download $(CRONET) && install -m 644 "$$(go list -m -f '{{.Dir}}' $(CRONET))/libcronet.so" ../../$@

# What `make test-kubernetes` brings up: a Kubernetes in one program, k6-operator, what Debian has of a node.
KUBERNETES_VERSION = $$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
KUBERNETES_LDFLAGS = $(foreach package,k8s.io/component-base/version k8s.io/client-go/pkg/version,-X $(package).gitVersion=$(KUBERNETES_VERSION) -X $(package).gitTreeState=clean)
# After bin/k6: each takes gigabytes to link, this one 2.4.
bin/kubernetes/kubeone: $(wildcard tests/kubernetes/kubeone/*) | bin/k6
	@$(call need,go,install Go 1.26 or newer)
	@echo 'building $@ (about six minutes the first time)'
	@mkdir -p $(@D)
	@cd tests/kubernetes/kubeone && go build -trimpath -ldflags "-s -w $(KUBERNETES_LDFLAGS)" -o ../../../$@ .
	@for program in etcd kube-apiserver kube-controller-manager kube-scheduler kube-proxy kubelet kubectl; do ln -sf kubeone $(@D)/$$program; done

bin/kubernetes/k6-operator: $(wildcard tests/kubernetes/operator/*)
	@$(call need,go,install Go 1.26 or newer)
	@echo 'building $@ (about a minute and a half the first time)'
	@mkdir -p $(@D)/operator
	@cd tests/kubernetes/operator && go build -trimpath -ldflags '-s -w' -o ../../../$@ tool
	@install -m 644 "$$(go -C tests/kubernetes/operator list -m -f '{{.Dir}}' github.com/grafana/k6-operator)/bundle.yaml" tests/kubernetes/operator/kustomization.yaml $(@D)/operator

bin/kubernetes/debian/.unpacked: tests/kubernetes/unpack
	@tests/kubernetes/unpack $(@D)

bin/kubernetes/ready: bin/kubernetes/kubeone bin/kubernetes/k6-operator bin/kubernetes/debian/.unpacked
	@touch $@

.venv/%/.installed: testbeds/%/requirements.txt
	@$(call need,python3,install Python 3.11 or newer with its venv module)
	@echo 'installing $* into .venv/$*'
	$(call venv,.venv/$*,$<)

# Versions of one package side by side, each in an environment of its own: $(call version,TESTBED,WHAT IT IS CALLED,PACKAGE==VERSION
# or a wheel and its digest)
define version
	@$(call need,python3,install Python 3.11 or newer with its venv module)
	@echo 'installing $(2) into $(@D)'
	@set -- $(3); testbeds/install-version $(1) "$$1" $(@D) $${2:-}
endef

.venv/pulsar-relay@%/.installed: .venv/pulsar-relay/.installed testbeds/install-version
	$(call version,pulsar-relay,pulsar-relay $*,'pulsar-relay==$*')

# `needs` says which file FROM_wheel-DIGEST is.
.venv/pulsar-relay@wheel-%/.installed: .venv/pulsar-relay/.installed testbeds/install-version
	$(call version,pulsar-relay,pulsar-relay wheel-$*,'$(FROM_wheel-$*)' $*)

.venv/panel@pymysql-%/.installed: .venv/panel/.installed testbeds/install-version
	$(call version,panel,panel pymysql-$*,'pymysql==$*')

.venv/panel@asyncmy-%/.installed: .venv/panel/.installed testbeds/install-version
	$(call version,panel,panel asyncmy-$*,'asyncmy==$*')

.venv/benchmarks/.installed: benchmarks/generators/requirements.txt
	@$(call need,python3,install Python 3.11 or newer with its venv module)
	$(call venv,.venv/benchmarks,$<)

.venv/trend/.installed: setup/trend-requirements.txt
	@$(call need,python3,install Python 3.11 or newer with its venv module)
	@echo 'installing Apache Otava into .venv/trend'
	$(call venv,.venv/trend,$<)

node_modules/.installed: package.json package-lock.json ci/package.json ci/package-lock.json
	@$(call need,npm,install Node.js 20.19 or newer)
	npm ci --silent
	npm ci --silent --prefix ci --ignore-scripts
	@touch $@

.venv/lint/.installed: tests/lint-requirements.txt
	@$(call need,python3,install Python 3.11 or newer with its venv module)
	$(call venv,.venv/lint,$<)

.PHONY: boards
boards: node_modules/.installed ## Write grafana/dashboards from grafana/boards
	node grafana/generate.js

# What `make help` shows of them, it shows before anything is built.
.PHONY: variables
variables: bin/k6 ## Write what this list and docs/reference/variables.md say of variables from k6/lists/variables.json
	@bin/k6 x variables --write

## Checking -----------------------------------------------------------------

# Libraries are those of bin/sidecar and bin/primitives: the profile says so in sidecar/Cargo.toml.
RUST_LINTS := --quiet --locked --profile bench --all-targets
RUST_TESTS := --quiet --locked --profile bench --no-fail-fast
# Rust's tests mostly wait.
export RUST_TEST_THREADS := $(or $(RUST_TEST_THREADS),$(shell echo $$((2 * $$(nproc) + 2))))

# Tiers: `test` is for each commit, `test-all` has the rest that one machine can run without special powers (tests/tiers.js); the others
# below have parts of other machines and releases.
.PHONY: test
test: ## Test units, known answers, and each system once: before each commit
	@failed=0; $(MAKE) test-compiled || failed=1; $(MAKE) test-scripts TIER=first || failed=1; test $$failed = 0

# All of it, whatever fails in the first part; its closing line comes last.
.PHONY: test-all
test-all: ## make test, and the rest that one machine can run: before a change lands
	@failed=0; $(MAKE) test || failed=1; $(MAKE) test-rest || failed=1; test $$failed = 0

.PHONY: test-rest
test-rest: ready-for-test build .venv/trend/.installed
	@failed=0; (cd k6 && TEST_FULL=1 go test -trimpath $(FULL_SIZE)) || failed=1; $(MAKE) test-scripts TIER=rest || failed=1; test $$failed = 0

# Packages of Go that TEST_FULL=1 tests at the size that they are about.
FULL_SIZE := ./internal/trend/...

# Side by side: Rust's mostly wait, and Go's are mostly built. What either has to say comes when it has ended.
.PHONY: test-compiled
test-compiled: ready-for-test build
	+@$(MAKE) --jobs=2 --keep-going --output-sync test-sidecar test-k6

.PHONY: test-sidecar
test-sidecar: ready-for-test build ## Test the sidecar
	cargo test $(RUST_TESTS) --manifest-path sidecar/Cargo.toml

.PHONY: test-k6
test-k6: ready-for-test build ## Test our k6
	cd k6 && go test -trimpath ./...
	cd setup/sbom && go test -trimpath ./...
	cd setup/image && go test -trimpath ./...

# The first tier starts only what `make bench` starts.
ifneq ($(TIER),first)
FOR_SCRIPTS := bin/fake-proxy bin/sing-box-1.13 bin/sing-box-next .venv/trend/.installed
endif

.PHONY: test-scripts
test-scripts: ready-for-test build node_modules/.installed $(FOR_SCRIPTS) ## Test scripts, lib and the whole under Node.js: TIER=first, TIER=rest or both; FILES= names some, such as real/relay
	$(if $(filter rest,$(TIER)),TEST_FULL=1 )node --import ./tests/fakes/register.js tests/run.js $(if $(FILES),$(FILES),$(TIER:%=--tier=%))

# Faults are planted in a copy. The tests run as those of `test` do.
.PHONY: test-mutants
test-mutants: ready-for-test build node_modules/.installed ## Plant faults, and tell which tier of tests finds each; apart from `test`; ONLY_FAULTS= names some
	@RUST_TESTS='$(RUST_TESTS)' node tests/mutants/mutants.js $(ONLY_FAULTS)

CARGO_MUTANTS := 27.1.0
.PHONY: test-mutants-engine
test-mutants-engine: bin/gremlins bin/cargo-mutants ## Mutate the engines of statistics and counters, and tell what survives: MUTANTS_OF= is a pattern for Rust's; a quarter of an hour
	tests/mutants/engine internal/difference -- src/probe/udp/ledger.rs src/probe/recorder.rs

bin/cargo-mutants:
	@$(call need,cargo,install Rust 1.88 or newer)
	@cargo install --quiet --locked --root . --target-dir sidecar/target/cargo-mutants --no-track cargo-mutants --version $(CARGO_MUTANTS)

.PHONY: test-primitives
test-primitives: bin/k6 bin/sidecar bin/primitives bin/primitives-portable ## Lint and test what measures the primitives; apart from `test`, as it builds it
	cargo clippy $(RUST_LINTS) --manifest-path sidecar/primitives/Cargo.toml -- -D warnings
	cargo test $(RUST_TESTS) --manifest-path sidecar/primitives/Cargo.toml
	node --test tests/primitives/primitives.js

# Where it is not possible it is left out, and says so; with REQUIRED=1 it fails there.
.PHONY: test-kubernetes
test-kubernetes: ## Test make cluster with a Kubernetes of its own, k6-operator and the relay in it; takes root
	@if why=$$(tests/kubernetes/possible); then $(MAKE) test-kubernetes-here; \
	else echo "test-kubernetes: LEFT OUT, nothing of make cluster is tested: $$why" >&2; test -z '$(REQUIRED)'; fi

.PHONY: test-kubernetes-here
test-kubernetes-here: bin/k6 bin/sidecar bin/kubernetes/ready .venv/pulsar-relay/.installed
	node --test tests/kubernetes/kubernetes.js

# Side by side, as most of it takes one CPU.
LINTS := lint-rust lint-go lint-scripts lint-python lint-shell lint-workflows lint-prose

.PHONY: lint $(LINTS)
lint: ready-for-lint ## Check format, types and style of everything
	@$(MAKE) --jobs=$$(nproc) --output-sync --keep-going $(LINTS)

lint-rust:
	cargo fmt --manifest-path sidecar/Cargo.toml --check
	cargo fmt --manifest-path sidecar/primitives/Cargo.toml --check
	cargo clippy $(RUST_LINTS) --manifest-path sidecar/Cargo.toml -- -D warnings

lint-go: bin/k6
	@test -z "$$(gofmt -l k6 testbeds setup tests/fakes tests/kubernetes)" || { gofmt -l k6 testbeds setup tests/fakes tests/kubernetes; echo 'make: the Go files above need `make fmt`' >&2; exit 1; }
	cd k6 && go vet -trimpath ./...
	cd testbeds/naive-client && go vet -trimpath ./...
	cd tests/fakes/proxy && go vet -trimpath ./...
	cd setup/sbom && go vet -trimpath ./...
	cd setup/image && go vet -trimpath ./...
	@setup/version >/dev/null
	bin/k6 x validate
	bin/k6 x variables --check

lint-scripts: node_modules/.installed
	npx eslint .
	npx prettier --log-level warn --check .
	npx tsc -p tsconfig.json
	npx tsc -p grafana
	node grafana/generate.js --check
	node grafana/lint.js
	node tests/links.js

lint-python: .venv/lint/.installed .venv/panel/.installed
	.venv/lint/bin/ruff check --quiet .
	.venv/lint/bin/ruff format --quiet --check .
	.venv/lint/bin/mypy --no-error-summary

lint-shell:
	@$(call need,shellcheck,apt-get install shellcheck)
	shellcheck $(SHELL_SCRIPTS)

lint-workflows: bin/actionlint .venv/lint/.installed
	bin/actionlint
	.venv/lint/bin/zizmor --offline --quiet --persona=auditor .github action.yml

# Pages, and folders whose comments follow docs/style.md: a further one is one line here.
PROSE := \
	CHANGELOG.md \
	CONTRIBUTING.md \
	README.md \
	docs \
	sidecar/primitives/build.rs \
	sidecar/primitives/src \
	$(filter-out sidecar/src/net sidecar/src/probe,$(wildcard sidecar/src/*))

lint-prose: bin/vale
	node --test --test-reporter=dot tests/lint/prose.js
	bin/vale --config=setup/vale/.vale.ini --output=line $(PROSE)

.PHONY: fmt
fmt: node_modules/.installed .venv/lint/.installed ## Format everything
	cargo fmt --manifest-path sidecar/Cargo.toml
	cargo fmt --manifest-path sidecar/primitives/Cargo.toml
	gofmt -w k6 testbeds setup tests/fakes tests/kubernetes
	npx prettier --log-level warn --write .
	.venv/lint/bin/ruff format --quiet .

.PHONY: clean
clean: ## Remove what was built and installed; keep results
	rm -rf bin .venv node_modules ci/node_modules sidecar/target sidecar/primitives/target
