// Package outcome compares the answers of calls to their outcomes: the mounts, files and devices on
// the node, and the lists of the driver. It uses the rules of package contract.
package outcome

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Judge judges the calls of a run.
type Judge struct {
	// Strict turns remarks into breaches of the CSI spec.
	Strict bool
	// Rename changes a text of a verdict for the trace.
	Rename func(string) string

	trace      *trace.Recorder
	caps       map[string]*contract.Caps
	violations []verdict.Verdict
	named      map[string]*contract.Named // by driver
	creations  map[string]Creations       // by driver
	lists      map[list]*reading
	nodeIDs    map[string]map[string]string // by driver and node
	devices    map[volumeOfDriver]device
	mounts     map[mounting]bool // the calls that mount file systems
}

// New returns a judge that records verdicts in a trace.
func New(t *trace.Recorder) Judge {
	return Judge{
		trace: t, caps: map[string]*contract.Caps{}, named: map[string]*contract.Named{}, creations: map[string]Creations{},
		lists: map[list]*reading{}, nodeIDs: map[string]map[string]string{}, devices: map[volumeOfDriver]device{}, mounts: map[mounting]bool{},
	}
}

// Call is a call that is judged.
type Call interface {
	// Caller, Driver and Node are the ends of the call. Node is empty for controller plugins.
	Caller() string
	Driver() string
	Node() string
	Machine() machine.Machine
	// InProcess reports whether the driver is Go code of this process, so that its mounts and files
	// are in memory.
	InProcess() bool
	// Method returns a name such as "Node/NodeStageVolume", FullMethod the name in gRPC.
	Method() string
	FullMethod() string
	Request() proto.Message
	Answer() proto.Message
	Event() *trace.Event
	// Process returns the caller.
	Process() *kernel.Process
	// MadeByFault reports whether a fault made the answer.
	MadeByFault() bool
	// GivenUp reports whether the caller has given up.
	GivenUp() bool
	// Client returns a client for requests of csisim itself, as the caller Itself.
	Client() csi.ControllerClient
	// AwaitNodes repeats a list until the driver shows the call's volume at the right nodes, or
	// until its time limit.
	AwaitNodes(list func() error) error
}

// Itself is the caller of csisim's own requests, which belong to no component of the cluster.
const Itself = "csisim"

// Violations returns the breaches of the CSI spec seen so far.
func (j *Judge) Violations() []verdict.Verdict { return j.violations }

// Report records a breach that a call shows only in combination with others.
func (j *Judge) Report(call *trace.Event, v verdict.Verdict) {
	j.record(trace.Entry{Actor: call.Actor, Node: call.Node, Driver: call.Driver}, []verdict.Verdict{v})
}

// Note records breaches of the CSI spec.
func (j *Judge) Note(c Call, found []verdict.Verdict) {
	j.record(trace.Entry{Actor: c.Caller(), Node: c.Node(), Driver: c.Driver()}, found)
}

func (j *Judge) record(by trace.Entry, found []verdict.Verdict) {
	for _, v := range found {
		v = v.Renamed(j.Rename)
		if contract.MayRepeat(v) && slices.ContainsFunc(j.violations, func(earlier verdict.Verdict) bool { return contract.Repeats(v, earlier) }) {
			continue
		}
		kind := trace.Violation
		if v.Remark && !j.Strict {
			kind = trace.Remark
		} else {
			j.violations = append(j.violations, v)
		}
		by.Kind, by.Method, by.Message, by.Detail = kind, v.Method, v.Text, v
		j.trace.Add(by)
	}
}

// has reports whether a verdict with the same words was recorded.
func (j *Judge) has(v verdict.Verdict) bool {
	return slices.ContainsFunc(j.violations, func(other verdict.Verdict) bool { return other.Text == v.Text })
}

// CapsOf returns the capabilities of a driver that its answers have shown so far.
func (j *Judge) CapsOf(driver string) *contract.Caps {
	caps, ok := j.caps[driver]
	if !ok {
		caps = &contract.Caps{}
		j.caps[driver] = caps
	}
	return caps
}

// Attaches reports whether the driver's controller plugin declares that it attaches volumes.
func (j *Judge) Attaches(driver string) bool {
	return j.CapsOf(driver).Controller.Has("PUBLISH_UNPUBLISH_VOLUME")
}

// AttachesReadOnly reports whether the driver's controller plugin declares that it also attaches
// volumes read-only.
func (j *Judge) AttachesReadOnly(driver string) bool {
	return j.Attaches(driver) && j.CapsOf(driver).Controller.Has("PUBLISH_READONLY")
}

// StagesNot reports whether the driver's node plugins have declared their capabilities without
// staging.
func (j *Judge) StagesNot(driver string) bool {
	node := j.CapsOf(driver).Node
	return node != nil && !node.Has("STAGE_UNSTAGE_VOLUME")
}
