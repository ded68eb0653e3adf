package sim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workdir"
)

// run is the part that clusters with the same virtual time share; most runs have one cluster.
type run struct {
	kernel   *kernel.Kernel
	trace    *trace.Recorder // trace of the only cluster, or of events of no single cluster
	gate     *cluster.Gate
	clusters []*Simulation
	work     *workdir.Dir   // nil if all is in memory
	keeps    bool           // the directory outlives the run
	loops    *workdir.Loops // nil if all is in memory

	unfinished *unfinished.Work
	overdue    []string // the calls for which patience ran out
}

func newRun(o Options) *run {
	r := &run{gate: &cluster.Gate{}}
	r.unfinished = unfinished.New(o.waitForDriver(), o.Experience, func() time.Duration { return r.kernel.Elapsed() })
	options := kernel.Options{
		Strategy: o.Strategy, Start: o.Start, Pace: o.Pace, Patience: o.Patience, Recorder: o.Recorder, Stacks: o.Stacks, OnOverdue: r.recordOverdue,
		Hold: r.unfinished.Hold,
	}
	if !o.NoChoices {
		options.OnChoice = r.recordChoice
	}
	r.kernel = kernel.New(options)
	r.trace = trace.NewRecorder(r.kernel)
	r.gate.Post = r.kernel.Post
	for _, sink := range o.Sinks {
		r.trace.To(sink)
	}
	if o.KeepStates > 0 {
		r.trace.KeepStates(o.KeepStates)
	}
	if r.trace.WantsStates() && !o.NoChoices {
		r.kernel.OnWaits(r.recordWaits)
	}
	return r
}

// StartPair creates two clusters, each like Start. They have the same shape, and share one virtual
// time and one trace. Each has its own API, nodes and controllers. A Mock has a site in each
// cluster and replicates volumes between them. Programs find the name of their cluster in
// {{.Cluster}} and share {{.StateDir}}.
func StartPair(o Options, names [2]string) (pair [2]*Simulation, err error) {
	o = o.withDefaults()
	if err := cmp.Or(checkPair(o, names), o.check()); err != nil {
		return pair, err
	}
	r := newRun(o)
	for i, name := range names {
		if pair[i], err = r.add(o, name); err != nil {
			return pair, errors.Join(err, r.close())
		}
	}
	return pair, nil
}

func checkPair(o Options, names [2]string) error {
	for i, name := range names {
		subject := fmt.Sprintf("cluster %q", name)
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return &ConfigError{Subject: subject, Problem: "its name is not a DNS label: " + problems[0]}
		}
		if slices.Contains(names[:i], name) {
			return &ConfigError{Subject: subject, Problem: "two clusters have this name"}
		}
	}
	for _, d := range o.Drivers {
		if d.Socket != nil || d.Servers != nil || len(d.StandIns) > 0 || len(d.External) > 0 {
			return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: "only mocks and programs without stand-ins can be in several clusters"}
		}
	}
	return nil
}

// add starts a further cluster. If that fails, it closes the cluster again.
func (r *run) add(o Options, name string) (*Simulation, error) {
	c := r.newSimulation(o, name)
	r.clusters = append(r.clusters, c)
	if err := c.start(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// recorder returns the recorder of a cluster.
func (r *run) recorder(cluster string) *trace.Recorder {
	if cluster == "" {
		return r.trace
	}
	return r.trace.Of(cluster)
}

// Trace records the whole run: this cluster and those that share its virtual time.
func (c *Simulation) Trace() *trace.Recorder { return c.run.trace }

// FollowStates starts to keep a limited number of the run's states. The first states are the
// conditions that processes wait for.
func (c *Simulation) FollowStates(most int) {
	c.run.trace.KeepStates(most)
	c.run.kernel.OnWaits(c.run.recordWaits)
}

// Cluster returns the name of the cluster; empty if it is the only one of its run.
func (c *Simulation) Cluster() string { return c.cluster }

// end ends all processes of all clusters.
func (r *run) end() {
	for _, c := range r.clusters {
		c.Wire.Observer = nil
	}
	r.kernel.ReportWaits()
	r.kernel.Close()
	r.trace.Close()
}

// leave removes a closed cluster from the run. The last one also removes the run's directory.
func (r *run) leave(c *Simulation) error {
	r.clusters = slices.DeleteFunc(r.clusters, func(other *Simulation) bool { return other == c })
	if len(r.clusters) > 0 || r.work == nil {
		return nil
	}
	if r.keeps {
		return r.loops.Detach()
	}
	return errors.Join(r.loops.Detach(), r.work.Close())
}

// close closes all clusters.
func (r *run) close() error {
	var errs []error
	for _, c := range slices.Clone(r.clusters) {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

func (r *run) recordChoice(choice kernel.Choice, pick int) {
	r.trace.AddChoice(choiceText(choice, pick), trace.Choice{Index: choice.Index, Of: choice.N, Pick: pick})
}

func choiceText(choice kernel.Choice, pick int) string {
	if p := choice.Process(pick); p != nil {
		return choice.Kind.String() + ": " + p.Name()
	}
	return choice.Kind.String() + ": " + choice.Label
}

func (r *run) recordWaits(changed []kernel.Wait) {
	waits := trace.WaitsFor{}
	for _, w := range changed {
		waits[w.For] = append(waits[w.For], w.Process)
	}
	r.trace.AddState(trace.Entry{Kind: trace.Waits, Detail: waits})
}

// recordOverdue notes that the patience of a call ran out. If a fault has stopped the driver, this
// does not depend on the computer.
func (r *run) recordOverdue(label string, held bool) {
	if !held {
		r.overdue = append(r.overdue, label)
	}
	r.kernel.RecordOutside("patience ran out: " + label)
	r.trace.Add(trace.Entry{Kind: trace.FaultFired, Message: "patience ran out: " + label + " is treated as still running"})
}
