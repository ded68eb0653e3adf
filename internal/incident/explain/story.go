package explain

import (
	"time"

	"github.com/csisim/csisim/internal/incident/messages"
)

// Story is a trace as a list of operations and states.
type Story struct {
	// Began is the real time of the first event, zero in the trace of a run. Ended is the time of
	// the last event, relative to it.
	Began time.Time
	Ended time.Duration
	// Sources counts the lines of each program, and OnNode counts them for each program on each
	// node.
	Sources map[string]int
	OnNode  map[[2]string]int

	operations map[operationKey]*Operation
	order      []*Operation
	names      names
	objects    map[string]map[string]any // by resource/name
	pods       map[string]*pod
	podNames   map[string]string // by uid
	registered map[[2]string]registration
	calls      int
	// started holds the last start of each program on each node. disconnected holds the last time
	// at which a sidecar lost its driver.
	started      map[[2]string]time.Duration
	disconnected map[string]time.Duration
	// tables are the tables of the programs, by their names.
	tables map[string]*messages.Table
	// remains are the directories of deleted pods, by node and pod.
	remains map[[2]string]remain
}

// pod is a pod, as described by events and messages.
type pod struct {
	name, node string
	waits      bool // whether it waits for its volumes at the end
	since      time.Duration
	seen       Place
	reason     string
}

// registration is the last known state of a driver's registration on a node.
type registration struct {
	isRegistered, failed bool
	at                   time.Duration
	seen                 Place
	why                  string
}

// Place names an event: its number in the trace, and the lines of the logs.
type Place struct {
	Seq uint64
	Src string
}

// operationKey identifies an operation and its retries.
type operationKey struct {
	kind   string
	volume *Volume
	on     string // the node, or the pod on the node
}

// Operation is an operation on a volume with all of its attempts.
type Operation struct {
	// Kind is attach, detach, stage, publish, unpublish, unstage, provision, delete, resize,
	// snapshot or "snapshot delete".
	Kind   string
	Volume *Volume
	Node   string
	Pod    string
	// By is the component that carries the operation out.
	By string
	// Began is the start of the first attempt in the last series, and Last the end of the last
	// attempt.
	Began, Last time.Duration
	// Failures counts the failed attempts since the last success. counts has their number in the
	// reports of each program.
	Failures    int
	counts      map[string]int
	Code, Error string
	// Next is the time of the next attempt, 0 if unknown.
	Next time.Duration
	// IsRunning means that the last attempt has not ended, and IsDone that it succeeded.
	IsRunning bool
	IsDone    bool
	// Open is the first unfinished call; nil if all calls have returned.
	Open     *OpenCall
	IsForced bool
	// isOfDriver means that the driver itself reports the last failure.
	isOfDriver bool
	HeldBy     string // the node that has the volume, if an attachment is refused
	Uncertain  string
	First      Place
	Seen       Place
	// InUse counts the answers that report another operation in progress for the volume.
	InUse int
}

// OpenCall is a call without an answer.
type OpenCall struct {
	RPC   string
	Since time.Duration
	Seen  Place
}

func newStory() *Story {
	return &Story{
		Sources: map[string]int{}, OnNode: map[[2]string]int{}, operations: map[operationKey]*Operation{}, names: names{group: map[string]*Volume{}},
		objects: map[string]map[string]any{}, pods: map[string]*pod{}, podNames: map[string]string{}, registered: map[[2]string]registration{}, started: map[[2]string]time.Duration{}, disconnected: map[string]time.Duration{}, remains: map[[2]string]remain{}, tables: map[string]*messages.Table{},
	}
}

// operation returns the operation on a volume at a node or for a pod. It may be new.
func (s *Story) operation(kind string, v *Volume, on string) *Operation {
	key := operationKey{kind, v.now(), on}
	o := s.operations[key]
	if o == nil {
		o = &Operation{Kind: kind, Volume: v}
		s.operations[key] = o
		s.order = append(s.order, o)
	}
	return o
}

// isFailing reports whether the operation failed and has not succeeded since.
func (o *Operation) isFailing() bool { return o.Failures > 0 && !o.IsDone }

// find returns the operations of a kind on a volume that are not done.
func (s *Story) find(kind string, v *Volume) (found []*Operation) {
	for _, o := range s.order {
		if o.Kind == kind && o.Volume.now() == v.now() && !o.IsDone {
			found = append(found, o)
		}
	}
	return found
}
