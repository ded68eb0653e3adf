package scenario

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// runner is one run of a scenario.
type runner struct {
	scenario  *Scenario
	sites     []site
	cluster   World // of the current step
	evidence  *expect.Evidence
	trace     *trace.Recorder // of all clusters
	options   RunOptions
	result    *Result
	began     uint64            // Seq of the last event before the first step
	stepBegan map[string]uint64 // the same for each step with a name
	output    []string          // of the current step
	// environment is the error of a cluster that could not execute a step although the scenario has
	// no mistake.
	environment error
	// interrupted returns the error that ends the run early, nil until then.
	interrupted func() error
	watch       *statementWatch // nil if there is nothing to watch
}

func newRunner(s *Scenario, recorder *trace.Recorder, o RunOptions, result *Result, clusters ...World) *runner {
	r := &runner{scenario: s, trace: recorder, options: o, result: result, stepBegan: map[string]uint64{}, interrupted: func() error { return nil }}
	for i, cluster := range clusters {
		p := site{cluster: cluster, evidence: cluster.Evidence()}
		if len(clusters) > 1 {
			p.name = s.Clusters[i]
		}
		r.sites = append(r.sites, p)
	}
	r.enter("")
	return r
}

// options returns the options of the scenario's cluster.
func (s *Scenario) options(ctx context.Context, o RunOptions, recorder *kernel.Recorder) sim.Options {
	options := sim.Options{
		Context: ctx, FeatureGates: s.Cluster.FeatureGates.gates(),
		Kubernetes: version.Version(s.Kubernetes), Migration: migration.Plugins(s.Cluster.Migration), Legacy: s.Cluster.Legacy.options(),
		Nodes: s.Cluster.Nodes.options(), Patience: o.Patience, WaitForDriver: o.WaitForDriver, Experience: o.Experience, WorkDir: o.WorkDir, Recorder: recorder, Stacks: o.Stacks, FaultSpace: o.FaultSpace,
		Sinks: o.Sinks, Isolation: o.Isolation, HostPaths: o.HostPaths, Strict: o.Strict, SystemCalls: o.SystemCalls, NoChoices: o.NoChoices, KeepStates: o.KeepStates, DriverLogs: o.DriverLogs, Guard: o.Guard, Token: o.Token, Start: o.Start, OnDisk: o.OnDisk,
		Address: o.Address, Authority: o.Authority, Network: o.Network, Kept: o.Kept,
		KubeletDir:         s.Cluster.KubeletDir.Layout(),
		Controllers:        s.Cluster.Controllers.names(),
		SnapshotController: s.Cluster.SnapshotController, AddonsManager: s.Cluster.AddonsManager,
		NoDataCheck: s.noDataCheck(), SeesLookups: s.breaksMounts(),
	}
	if o.Names != "" {
		options.Names = o.Names + " " + s.Name
	}
	options.Lives = s.Containers.lives()
	options.RootFS, options.RefuseUnmapped, options.Pull = o.RootFS, o.RefuseUnmapped, o.Pull
	for _, m := range s.MappedImages() {
		if _, is := o.RootFS[m.Image]; is {
			continue
		}
		if options.Images == nil {
			options.Images = map[string]string{}
		}
		options.Images[m.Image] = m.File
	}
	switch {
	case o.Strategy != nil:
		options.Strategy = o.Strategy()
	case o.Seed != 0:
		options.Strategy = kernel.NewRandom(o.Seed)
	}
	for _, d := range s.Drivers {
		driver := d.options(filepath.Dir(s.File))
		driver.NoCSIDriver = driver.NoCSIDriver || s.appliesCSIDriver(driver.Name)
		options.Drivers = append(options.Drivers, driver)
	}
	return options
}

// appliesCSIDriver reports whether the objects at the start contain the driver's CSIDriver.
func (s *Scenario) appliesCSIDriver(name string) bool {
	return slices.ContainsFunc(s.objects, func(o object) bool {
		return o.GetObjectKind().GroupVersionKind().Kind == "CSIDriver" && o.Meta().GetName() == name
	})
}

// run boots the clusters, runs the steps and checks the expectations.
func (r *runner) run() {
	if r.failed(r.watchStatements(), r.scenario.line("always"), 0) {
		return
	}
	defer r.blameInvariants()
	if r.options.Kept != nil && r.options.Kept.Starts > 0 {
		r.failed(r.everywhere(r.boot), r.scenario.line("objects"), 0)
		return
	}
	passed := r.prepare() && r.runSteps()
	switch {
	case r.interrupted() != nil:
		return
	case !passed:
		r.explain()
	case r.options.Until == "":
		r.expectAtEnd()
	}
}

// explain adds the causes of a step's failure, and all other failures.
func (r *runner) explain() {
	for _, p := range r.sites {
		r.enter(p.name)
		r.causes()
		r.fail(expect.Mounts{}.Failure(r.evidence), r.scenario.line("expect"), 0)
		r.fail(expect.Data{}.Failure(r.evidence), r.scenario.line("expect"), 0)
	}
}

// prepare boots the clusters and applies the objects of the scenario. It applies CSIDriver objects
// first, because the kubelet and the attach/detach controller read them from the start.
func (r *runner) prepare() bool {
	isDriver := func(o object) bool { return o.GetObjectKind().GroupVersionKind().Kind == "CSIDriver" }
	var before, after []object
	for _, o := range r.scenario.objects {
		if isDriver(o) {
			before = append(before, o)
		} else {
			after = append(after, o)
		}
	}
	err := r.everywhere(func() error {
		if r.scenario.csiAddons {
			if err := r.cluster.DefineCSIAddons(); err != nil {
				return err
			}
		}
		return r.apply(before)
	})
	if err == nil {
		err = r.everywhere(r.boot)
	}
	r.began = r.trace.Last() // a real cluster provisions the claims at once
	if err == nil {
		err = r.everywhere(func() error { return r.apply(after) })
	}
	return !r.failed(err, r.scenario.line("objects"), 0)
}

func (r *runner) runSteps() bool {
	last, _ := r.scenario.last(r.options.Until) // checked by Run
	passed := true
	for i, step := range r.scenario.Steps {
		report := StepResult{
			Number: i + 1, Name: step.Name, Kind: step.Kind, Title: step.Title(), Line: step.Line, State: Skipped,
			Began: r.elapsed(),
		}
		if passed && i <= last {
			passed = r.runStep(step, &report)
		}
		r.result.Steps = append(r.result.Steps, report)
	}
	return passed
}

func (r *runner) runStep(step Step, report *StepResult) bool {
	watch := startStopwatch()
	report.State = Running
	r.report(*report)
	r.output = nil
	if step.Name != "" {
		r.stepBegan[step.Name] = r.trace.Last()
	}
	r.enter(step.In)
	recorder := r.trace
	if step.In != "" {
		recorder = r.cluster.Trace()
	}
	recorder.Add(trace.Entry{Kind: trace.Step, Message: step.title})
	err := step.action.do(r)
	report.State = StepPassed
	if r.failed(err, step.Line, report.Number) {
		report.State = StepFailed
	}
	report.Took, report.Wall, report.Output = r.elapsed()-report.Began, watch.elapsed(), r.output
	r.report(*report)
	return report.State == StepPassed
}

func (r *runner) report(report StepResult) {
	if r.options.Progress != nil {
		r.options.Progress(report)
	}
}

// settleLimit is the virtual time for activities that are still running at the end of a scenario.
const settleLimit = 10 * time.Minute

// expectAtEnd waits until all activities have ended and checks the scenario's expectations.
func (r *runner) expectAtEnd() {
	err := r.cluster.Settle(settleLimit)
	if stuck := (*sim.StuckError)(nil); err != nil && !errors.As(err, &stuck) && r.failed(err, r.scenario.line("expect"), 0) {
		return
	}
	for _, p := range r.sites {
		r.enter(p.name)
		r.cluster.ReadData()
	}
	for _, p := range r.sites {
		if r.interrupted() != nil {
			return
		}
		r.enter(p.name)
		r.expectOf(p.name)
	}
}

// expectOf checks the expectations of one cluster.
func (r *runner) expectOf(cluster string) {
	line := r.scenario.line("expect")
	wanted := r.scenario.Expect.of(cluster)
	if wanted.Leftovers == nil {
		wanted.Leftovers = &expect.Allowed{}
	}
	wanted.Violations = r.allowedViolations()
	// The cluster no longer changes, and a large cluster takes long to check.
	look := sync.OnceValue(r.cluster.Ledger)
	r.evidence.Leftovers = func() []ledger.Entry { return slices.Clone(look().Leaks) }
	found := append(wanted.failures(r), expect.Alive(*r.allowedViolations()).Failure(r.evidence),
		expect.Mounts{}.Failure(r.evidence), expect.Data{}.Failure(r.evidence))
	found = slices.DeleteFunc(found, func(f *Failure) bool { return f == nil })
	slices.SortStableFunc(found, causesFirst)
	for _, f := range found {
		r.fail(f, line, 0)
	}
	r.result.Litter = append(r.result.Litter, lines("left behind: ", wanted.Leftovers.Without(look().Litter))...)
	r.result.Notes = append(r.result.Notes, unseen(look())...)
}

// causesFirst compares failures by the ranks of their invariants. An expectation of a scenario has
// the same rank as lost data.
func causesFirst(a, b *Failure) int {
	return cmp.Compare(a.Verdict.Rank(verdict.Spoils), b.Verdict.Rank(verdict.Spoils))
}

func (r *runner) allowedViolations() *expect.Allowed {
	if allowed := r.scenario.Expect.Violations; allowed != nil {
		return allowed
	}
	return &expect.Allowed{}
}

// failures are several failures that a step has found.
type failures []*Failure

func (fs failures) Error() string { return plural.Of(len(fs), "failed expectation") }

// failed adds an error to the failures of the run. It reports whether there was an error.
func (r *runner) failed(err error, line, step int) bool {
	var several failures
	var one *Failure
	var environment *sim.EnvironmentError
	switch {
	case err == nil:
		return false
	case r.options.World != nil && errors.As(err, &environment):
		r.environment = err
	case errors.As(err, &several):
		for _, f := range several {
			r.fail(f, line, step)
		}
	case errors.As(err, &one):
		r.fail(one, line, step)
	default:
		_, rest, _ := strings.Cut(err.Error(), "\n")
		r.fail(&Failure{Verdict: verdict.Of(err), Got: strings.TrimSpace(rest)}, line, step)
	}
	return true
}

// fail adds a failure with its place and its trail.
func (r *runner) fail(f *Failure, line, step int) {
	if f == nil {
		return
	}
	f.Step, f.File = step, r.scenario.File
	if f.Line == 0 {
		f.Line = line
	}
	if r.interrupted() == nil { // an interrupt needs no explanation, which could take long
		r.evidence.Explain(f)
	}
	r.result.Failures = append(r.result.Failures, *f)
	r.result.Exit = Failed
}

// blame puts a failure before its consequences, at the step that failed.
func (r *runner) blame(cause *Failure) {
	symptoms := r.result.Failures
	if cause == nil {
		return
	}
	r.result.Failures = nil
	r.fail(cause, symptoms[0].Line, symptoms[0].Step)
	r.result.Failures = append(r.result.Failures, symptoms...)
}

// causes puts the cause of a step's failure before it: the driver's crash or, if there is none, the
// driver's breach of the CSI spec.
func (r *runner) causes() {
	allowed, line := *r.allowedViolations(), r.scenario.line("expect")
	died, breach := expect.Alive(allowed).Failure(r.evidence), expect.Violations(allowed).Failure(r.evidence)
	if died != nil {
		r.blame(died)
		r.fail(breach, line, 0)
		return
	}
	later := r.result.Failures
	r.result.Failures = nil
	r.fail(breach, line, 0)
	r.result.Failures = append(r.result.Failures, later...)
}

// finish completes the result when the clusters are closed.
func (r *runner) finish() {
	whole := r.evidence.Journal
	if len(r.sites) > 1 {
		whole = expect.NewJournal(r.trace)
	}
	r.result.Names = whole.Names
	if r.interrupted() != nil { // the result is not reported, and might be very large
		return
	}
	whole.Update()
	r.result.Trace, r.result.Apart = r.trace.Events(), r.cluster.Apart()
	r.result.States, _ = r.trace.TakeStates()
	r.result.Notes = append(r.result.Notes, r.remarks()...)
	r.result.VirtualTime = r.elapsed()
	for _, p := range r.sites {
		r.result.Listed = append(r.result.Listed, p.cluster.Listed()...)
		r.result.Written = append(r.result.Written, p.cluster.Written()...)
		r.result.Usage = append(r.result.Usage, p.cluster.Usage()...)
	}
	if len(r.result.Written) > 0 {
		r.result.Notes = append(r.result.Notes, discardedWrites(r.result.Written))
	}
	r.result.Notes = append(append(r.result.Notes, leftRunning(r.result.Usage)...), Lost(r.result.Usage)...)
	r.result.Calls = len(whole.Calls)
	if pattern := r.scenario.Expect.Fails; pattern != "" && r.options.Until == "" {
		r.result.expectFailure(pattern, r.scenario)
	}
}

func (r *runner) elapsed() time.Duration { return r.cluster.Elapsed() }

func (r *runner) store() *store.Store { return r.evidence.Store }

// say records output of a step.
func (r *runner) say(text string) { r.output = append(r.output, text) }

// driver returns the driver with the name, or the only driver if name is empty.
func (r *runner) driver(name string) string {
	if all := r.cluster.Drivers(); name == "" && len(all) == 1 {
		return all[0]
	}
	return name
}
