# csisim: build, test, benchmark. `make help` lists the targets.

GO ?= go
BIN := bin

FUZZTIME ?= 10m

# The modules of their own, the longest first.
NESTED := test/clients test/sidecars test/sanity examples/program examples/inprocess examples/sanity

# Those that compile Kubernetes' own code: make nested tests them after changes of the code that they compare.
COMPARED := test/oracle test/e2emock

# One set of flags for all that is compiled here: the binaries, the tests and the
# nested modules then share what the compiler keeps.
export GOFLAGS += -trimpath

# The files whose sentences vale reads, by the style in .vale.
PROSE := README.md CHANGELOG.md CONTRIBUTING.md docs cmd drivers examples fakecontroller fakekubelet internal sim

# The seeds under which make nightly runs the scenario library, 1 to SEEDS.
SEEDS ?= 200

# The first seed of make oracle, and for how long it goes on with further ones.
SEED ?= 1
FOR ?= 5m

# How many processes compute beside the tests of make loaded.
LOAD ?= 10

# The tests of make race-up: clients, pods, streams and the end of a cluster. Images of programs are not among
# them, as a program with the race detector needs the libraries of the machine.
RACE_UP := TestUp|Kubectl|APodRuns|Restarted|AProgramIs|Tokens|InContainers|Attach|Forwarded|PassedOn|Registrars|Frames|ManyWatches|Bodies|BootsAgain|Operator|Upgrade

.PHONY: loaded race-up release-check nightly-live check commits docs site site-pictures kind-test invariants-bench real-addons default-roles pictures viewer-bench explore explore-bench explore-orders viewer interrupts oracle nightly race-sim help tidy build test test-fast race lint darwin fuzz bench nested clean golden conformance schema determinism

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

build: ## build bin/csisim and the reference driver bin/hostdir
	$(GO) build -ldflags "-s -w" -o $(BIN)/csisim ./cmd/csisim
	$(GO) build -ldflags "-s -w" -o $(BIN)/hostdir ./drivers/hostdir

# Without symbols each test program is linked faster. make lint vets the packages of this module.
STRIPPED := -ldflags='-s -w'
VETTED := -vet=off $(STRIPPED)

test: lint test-fast race nested ## everything that CI runs

# The commit since which make check and make commits look.
BASE ?= main

check: build ## before a commit, within a minute: lint and test the packages that changed since BASE=main, and some scenarios
	@tools/check.sh $(BASE)

commits: ## check the messages of the commits since BASE=main
	@tools/commits.sh $(BASE)

# Three packages at once, also on two processors: some of them, such as cmd/internal/live, wait most of their time.
test-fast: build ## all tests of the main module, and how many were skipped for lack of what
	$(GO) run ./cmd/internal/testsummary $(VETTED) -timeout 40m -p 3 ./...

# Packages with goroutines or locks, where a driver, a machine or the kernel runs.
RACE = $(shell grep -lrE --include='*.go' '^[[:space:]]*go |sync\.|\bchan\b|atomic\.' \
	internal/world/kernel internal/world/machine internal/world/workdir internal/world/component internal/world/workqueue \
	internal/world/operation drivers internal/driver | xargs -n 1 dirname | sort -u | sed 's|^|./|')

race: ## the tests of the concurrent parts under the race detector
	$(GO) test -race $(VETTED) $(RACE)

race-sim: ## the tests of sim under the race detector, for which everything is compiled a second time
	$(GO) test -race ./sim

race-up: ## tests of live clusters, with csisim under the race detector
	GOFLAGS="$(GOFLAGS) -race" $(GO) test -p 1 ./cmd/internal/live -count 1 -timeout 30m -run '$(RACE_UP)'

lint: ## gofmt, go vet, staticcheck, vale; go vet for macOS of what knows the system
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo "run gofmt -w on these files"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	GO=$(GO) tools/vale.sh $(PROSE)
	GOOS=darwin GOARCH=arm64 $(GO) vet ./internal/world/machine ./internal/world/namespaces ./internal/world/workdir

darwin: ## build all for macOS, which has no namespaces; without a cache it takes minutes
	GOOS=darwin GOARCH=arm64 $(GO) vet ./...

nightly: race-sim explore $(COMPARED) ## sim under the race detector, a search, the comparisons with Kubernetes' own code, the library under SEEDS=200 seeds each, all of check with slow drivers, upgrades and defects: an hour
	$(GO) test ./cmd/internal/library -run TestEveryScenarioPassesUnderEverySeed -timeout 2h -seeds $(SEEDS)
	$(GO) test ./cmd/internal/check -run 'TestASoundDriverMayWorkOutsideTheCalls|TestASoundDriverPassesInAnyOrderOfEvents|TestASoundProgramWithInlineVolumesPasses|TestASoundReleaseTakesOverEverything|TestDefectsOfAProgramAreFound' -timeout 2h -all-trials

loaded: build ## all tests of the main module beside LOAD=10 busy processes: an hour
	tools/loaded.sh $(LOAD) $(GO) run ./cmd/internal/testsummary -count 1 -timeout 2h -p 3 ./...

nightly-live: ## 300 clusters up and down, 50 drivers, 10,000 watches, large bodies, odd sockets, registrars that lie, rubbish frames, hostile archives, a fork bomb, 4,000 pods one after the other, a load by both clocks, interrupts: two hours
	CSISIM_NIGHTLY=1 CSISIM_CHURN=4000 $(GO) test -p 1 ./cmd/csisim ./cmd/internal/live -run 'UpAndDownAgain|ManyDrivers|ManyWatches|BodiesThat|SocketsOfOdd|RegistrarsWithWrongData|RubbishFrames|HostileArchives|HostileContainer|ForkBomb|StaysTheSameSize|AgreesWithTheRealOne|EachCostOfALoad|Interrupt|ASignalEnds|RepeatedChecks' -v -count 1 -timeout 4h

explore: build ## 30 s of search over scenarios/explore, from seed 1
	@out=$$(mktemp -d) && $(BIN)/csisim explore scenarios/explore --seed 1 --time 30s --out $$out && rm -r $$out

explore-orders: ## searches of every order, reduced and not, come to the same ends: ten minutes
	$(GO) test ./cmd/internal/explore -run AReducedSearch -all-orders -v -count 1 -timeout 1h

explore-bench: ## how many runs each strategy takes to find each seeded mistake, over several seeds: an hour
	$(GO) test ./cmd/internal/explore -run '^$$' -bench SeededMistakes -benchtime 1x -timeout 2h

nested: build ## the nested modules, two at a time: sidecars, csi-sanity, clients of tests, the examples; also the oracle and Kubernetes' e2e mock driver, unless no change since BASE=main concerns them
	@$(MAKE) --no-print-directory --keep-going --jobs 2 --output-sync=target $(NESTED) $$(tools/compared.sh $(BASE))

.PHONY: $(NESTED) $(COMPARED)
$(NESTED) $(COMPARED):
	cd $@ && $(GO) test $(STRIPPED) ./...

real-addons: ## the controller manager and the sidecar of CSI-Addons, built from a checkout of github.com/csi-addons/kubernetes-csi-addons, against live clusters: CSI_ADDONS=DIR
	test -d "$(CSI_ADDONS)/cmd/manager" || { echo "CSI_ADDONS=$(CSI_ADDONS): no checkout of github.com/csi-addons/kubernetes-csi-addons"; exit 2; }
	programs=$$(mktemp -d) && cd "$(CSI_ADDONS)" && $(GO) build -o $$programs/manager ./cmd/manager && $(GO) build -o $$programs/sidecar ./sidecar && \
	cd "$(CURDIR)/test/sidecars" && CSI_ADDONS_MANAGER=$$programs/manager CSI_ADDONS_SIDECAR=$$programs/sidecar $(GO) test . -count 1 -v -run OfCSIAddons; \
	status=$$?; rm -rf "$$programs"; exit $$status

oracle: ## compare csisim's checks, defaults, warnings, columns and field selectors with those of Kubernetes' own code, for objects changed at random: SEED=1 FOR=5m
	cd test/oracle && $(GO) test . -count 1 -timeout 0 -v -args -seed $(SEED) -for $(FOR)

kind-test: build ## the lifecycle, ten scenarios at once and interrupted runs on a kind cluster of their own, where an engine answers: RUNS=50 ENDED=10 NODE_IMAGE=IMAGE
	@test/kind/kind-test.sh $(CURDIR)/$(BIN)/csisim

tidy: ## go mod tidy in this module and in all that are nested in it, after a change of dependencies
	for module in . test/* examples/*; do (cd $$module && $(GO) mod tidy) || exit 1; done

default-roles: ## the roles with which a cluster begins, from Kubernetes' own lists
	cd test/oracle && $(GO) test . -run TheDefaultRoles -count 1 -args -update-roles

proto: ## the Go code of the .proto files of CSI-Addons
	cd test/protobuf && $(GO) run .

golden: ## rewrite the golden files after a change that is meant, and compare with the recorded traces
	@mkdir -p $(BIN)
	$(GO) test ./cmd/internal/library ./cmd/internal/scenario ./internal/input/manifest ./internal/input/strict ./internal/world/trace/... ./cmd/internal/diff ./internal/world/version ./cmd/internal/report ./cmd/internal/check -update
	$(GO) test ./cmd/internal/golden -v -update > $(BIN)/golden.txt || { grep -B 20 -e '--- FAIL' $(BIN)/golden.txt; exit 1; }
	@grep '^|\|^- \|equal on all' $(BIN)/golden.txt

conformance: ## run the tests that pin cases of Kubernetes' own suites, and rewrite docs/spec/conformance.md and docs/spec/rules.md
	@mkdir -p $(BIN)
	$(GO) test -json ./fakekubelet/... ./fakecontroller/... ./sim/... ./internal/... ./cmd/internal/... > $(BIN)/conformance.json || { grep '"Action":"fail"' $(BIN)/conformance.json; exit 1; }
	cd test/sanity && $(GO) test -json ./... >> $(CURDIR)/$(BIN)/conformance.json || { grep '"Action":"fail"' $(CURDIR)/$(BIN)/conformance.json; exit 1; }
	$(GO) test ./internal/conformance -count 1 -update -results $(CURDIR)/$(BIN)/conformance.json

determinism: build ## make 500 runs with driver programs twice each, idle and loaded, on one core and on all, and those of csisim check: DETERMINISM=-for=3m for less
	@rm -rf $(BIN)/trials
	@$(BIN)/csisim check --profile hostdir --binary $(CURDIR)/$(BIN)/hostdir --out $(BIN)/trials --names again --budget 1ms --allow-untried > /dev/null
	@code=0; \
	one() { GOMAXPROCS=1 taskset -c 0 "$$@" || code=1; }; all() { "$$@" || code=1; }; \
	test="$(GO) test ./cmd/internal/library -count 1 -v -timeout 1h -run RunsWithProgramsAreRepeatable -pairs 125 $(DETERMINISM)"; \
	for load in "" -loaded; do \
		echo "one core $$load"; one $$test $$load; \
		echo "all cores $$load"; all $$test $$load; \
	done; \
	echo "the scenarios of csisim check"; all $$test -scenarios '$(CURDIR)/$(BIN)/trials/*.yaml'; \
	exit $$code

fuzz: ## search for input that the API layer, the reader of scenarios and the import of logs cannot stand, FUZZTIME=10m for each fuzzer
	@for name in Decode Patch Selectors Definition Path; do \
		$(GO) test -run '^$$' -fuzz "^Fuzz$$name$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x ./internal/api/apiserver || exit 1; done
	$(GO) test -run '^$$' -fuzz '^FuzzDecode$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 20x ./internal/input/strict
	$(GO) test -run '^$$' -fuzz '^FuzzImport$$' -fuzztime $(FUZZTIME) -fuzzminimizetime 20x ./internal/incident

interrupts: ## interrupt runs of 1,000 and of 10,000 nodes at several moments: minutes, and 8 GiB
	$(GO) test ./cmd/csisim -count 1 -v -run TestAnInterruptEndsALargeRun -nodes 1000 -pods 10000
	$(GO) test ./cmd/csisim -count 1 -v -timeout 1h -run TestAnInterruptEndsALargeRun -nodes 10000 -pods 100000

bench: ## the benchmarks behind the figures in docs/reference/figures.md; those of clusters collect garbage as seldom as the command
	GOGC=400 $(GO) test -run '^$$' -bench . -benchtime 3x ./sim
	$(GO) test -run '^$$' -bench . -benchtime 1x ./cmd/csisim ./cmd/internal/live
	$(GO) test -run '^$$' -bench . -benchtime 3x ./cmd/internal/check
	GOGC=800 $(GO) test -run '^$$' -bench 'Explore$$' -benchtime 400x -benchmem ./cmd/internal/explore
	GOGC=800 $(GO) test -run '^$$' -bench 'ExploreProgram$$' -benchtime 100x ./cmd/internal/explore
	$(GO) test -run '^$$' -bench . ./internal/world/kernel ./internal/world/store ./internal/api/apiserver ./internal/world/machine ./internal/driver/wire ./drivers/mock

# What looks at invariants, in names of functions: the order of calls, the CSI spec, the ledger, lost data, what a scenario expects.
INVARIANTS := internal/(invariant|judge)|wire\.\(\*(Wire|call)\)\.(check|seen|kept|contradict)|sim\.lookout|expectAtEnd

invariants-bench: ## which share of a search's processor time goes into invariants
	@dir=$$(mktemp -d) && GOGC=800 $(GO) test -run '^$$' -bench 'Explore$$/move' -benchtime 2000x -cpuprofile $$dir/cpu -o $$dir/test ./cmd/internal/explore && \
	$(GO) tool pprof -top -nodecount 100000 -nodefraction 0 -edgefraction 0 -focus '$(INVARIANTS)' $$dir/test $$dir/cpu 2> /dev/null | grep 'Showing nodes'; rm -r $$dir

pictures: build ## the pictures of docs/how-to/read-a-trace.md and README.md, from real runs in chromium
	cd internal/view/web && npm ci --no-audit --no-fund --silent && node test/screenshots.mjs "$$(command -v chromium)" ../../../$(BIN)/csisim ../../../docs/pictures

viewer-bench: build ## how long a trace of a million events takes to open in chromium, and how smoothly it pans: minutes
	cd internal/view/web && npm ci --no-audit --no-fund --silent && node test/large.mjs "$$(command -v chromium)" ../../../$(BIN)/csisim

viewer: ## bundle what the viewer runs in the browser, internal/view/web/dist, with the tools of its package-lock.json
	cd internal/view/web && npm ci --no-audit --no-fund --silent && npx tsc --noEmit && node build.mjs

docs: ## write the pages of docs that are made from the code
	$(GO) test ./cmd/csisim -run 'PageIsCurrent$$' -update-reference
	$(GO) test ./cmd/internal/diff -run TestThePageShowsEveryTolerance -update
	$(GO) test ./cmd/internal/library -run TestTheDocumentListsEachInvariant -update
	$(GO) test ./internal/world/version ./internal/api/unsimulated ./internal/conformance -update

site: ## build the documentation as a site in bin/site, and check its links
	$(GO) tool -modfile=tools/go.mod hugo --source site --destination ../$(BIN)/site --cleanDestinationDir --panicOnWarning --quiet
	$(GO) run ./tools/links/main.go $(BIN)/site

site-pictures: site ## pictures of each page at two widths, light and dark, in bin/site-pictures, for a reader to look at
	@tools/site-pictures.sh $(BIN)/site $(BIN)/site-pictures

release-check: ## make a release of this commit in bin/dist, without signatures and uploads, and look into each archive, package and image
	@tools/release/check.sh

schema: build ## write the JSON Schema of scenarios for editors
	$(BIN)/csisim schema > schema/scenario.json

clean: ## remove what was built, and what killed runs left behind
	-$(BIN)/csisim clean
	rm -rf $(BIN)
