package ledger

import (
	"slices"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workdir"
)

// Ledger holds the things for which no pod, claim, volume or attachment accounts.
type Ledger struct {
	// Leaks are things that a component failed to remove.
	Leaks []Entry
	// Litter holds things that Kubernetes itself leaves behind with any driver, and things that
	// could not be removed yet.
	Litter []Entry
	// Unseen lists the things that could not be examined, with the reasons.
	Unseen []string
}

// Cluster is the cluster to examine.
type Cluster struct {
	Store *store.Store
	// Elsewhere is the store of another cluster to which drivers replicate volumes; nil if there is
	// none.
	Elsewhere *store.Store
	Trace     *trace.Recorder
	// Watch has followed the calls of the run.
	Watch         *Watch
	Nodes         []*Node
	ControlPlanes []machine.Machine
	Backends      []*Backend
	// Loops are the run's loop devices; nil if all is in memory.
	Loops *workdir.Loops
	// Renamed is a text without the random parts of the run's paths.
	Renamed func(text string) string
	// StagesNot reports whether a driver stages no volumes.
	StagesNot func(driver string) bool
}

// Node is one node.
type Node struct {
	Name    string
	Machine machine.Machine
	Kubelet bool // a kubelet runs there
}

// Look searches, at this point, for leftovers: mounts, directories and processes on nodes, loop
// devices, VolumeAttachments, and contents of drivers' backends. It takes no virtual time and does
// not appear in the trace.
func Look(c Cluster) Ledger {
	a := &accountant{Cluster: c, history: Read(c.Trace.Events()), needs: c.needs()}
	for _, n := range c.Nodes {
		c.Watch.See(n.Machine, nil)
		a.mounts(n.Machine, n)
		a.directories(n)
		a.strays(n.Machine)
	}
	for _, m := range c.ControlPlanes {
		c.Watch.See(m, nil)
		a.mounts(m, nil)
		a.strays(m)
	}
	a.loops()
	a.attachments()
	for _, b := range c.Backends {
		a.backend(b)
	}
	for _, g := range c.Watch.growing {
		g.entry.Undone = a.history.inStep(g.call)
		a.add(g.entry)
	}
	slices.SortStableFunc(a.found.Leaks, byBlame)
	return a.found
}

// byBlame sorts the entries. Those that a call failed to remove are first, because they may be the
// reason for missing calls.
func byBlame(x, y Entry) int {
	never := func(e Entry) int {
		if e.Undone == nil {
			return 1
		}
		return 0
	}
	return never(x) - never(y)
}

// accountant makes a ledger.
type accountant struct {
	Cluster
	history *History
	needs   needs
	found   Ledger
}

// add adds an entry to the list in which it belongs.
func (a *accountant) add(e Entry) {
	e.Name, e.Detail = a.Renamed(e.Name), a.Renamed(e.Detail)
	if e.Litter != "" {
		a.found.Litter = append(a.found.Litter, e)
	} else {
		a.found.Leaks = append(a.found.Leaks, e)
	}
}

// unseen records a thing that could not be examined, once.
func (a *accountant) unseen(what string, err error) {
	if note := what + ": " + err.Error(); !slices.Contains(a.found.Unseen, note) {
		a.found.Unseen = append(a.found.Unseen, note)
	}
}
