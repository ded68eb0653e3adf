// Package trace is the record of all that happens in a run: driver calls, API
// writes, Kubernetes events, runtime requests, changes on disk, steps, choices
// and faults. Reports, checks, goldens and replays are functions of it.
package trace

import (
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime"
)

// Kind is what an event is about; the values are those of the recorded traces.
type Kind string

const (
	// Call is a CSI call: one event per call, at the time of its start.
	Call Kind = "csi"
	// API is a change of an API object.
	API Kind = "api"
	// KubeEvent is a Kubernetes Event.
	KubeEvent Kind = "event"
	// Runtime is what a kubelet asked of the container runtime.
	Runtime Kind = "cri"
	// Files is a listing of a kubelet's root directory.
	Files Kind = "fs"
	// FileChange is a change that a kubelet made on its node's disk.
	FileChange Kind = "file"
	// SystemCall is a system call by which a driver's program changed files, or was to.
	SystemCall Kind = "sys"
	// Request is an HTTP request that a driver's program made of a stand-in for its service.
	Request Kind = "http"
	// Step is what the scenario did, waited for or observed.
	Step Kind = "step"
	// Registration is a call between a kubelet and a registrar.
	Registration Kind = "reg"
	// ChoiceMade is a decision of the strategy other than the calm one.
	ChoiceMade Kind = "choice"
	// FaultFired is an injected fault that took effect, or a crash.
	FaultFired Kind = "fault"
	// Violation is an answer or a request that breaks the CSI spec.
	Violation Kind = "violation"
	// Remark is what the CSI spec asks of a driver and nobody in Kubernetes depends on.
	Remark Kind = "remark"
	// AnswerLost is an answer of a driver that made something, and that its caller never got.
	AnswerLost Kind = "lost"
	// DataLost is a pod that does not find in its volume what was written there.
	DataLost Kind = "data"
	// Unmounted is a mount that a driver took off although it was not its own.
	Unmounted Kind = "unmount"
	// Died is a program of a driver that ended by itself.
	Died Kind = "died"
)

// Event is one entry of a trace. Objects and messages in it are shared and must
// not be changed. There are very many: what events have alike they have in common, and
// what only some have is behind pointers, of which none is nil. Who changes a copy of an
// event gives it a Site, an Exchange or a Diff of its own.
type Event struct {
	*Site
	*Exchange
	*Diff
	// Seq numbers the events of a run, from 1.
	Seq uint64
	// Cause is the Seq of the event that led to this one; 0 if none did.
	Cause uint64
	// At is the virtual time since the run began; of a call, its start.
	At time.Duration
	// Name is that of an object, "ns/name" or "name"; of a Kubernetes event "Kind/name".
	Name string
	// Message is free text: an event's or an error's message, a step.
	Message string
	// Detail is further structured content: runtime mounts, file listings, choices;
	// of a Kubernetes event its count, an int32.
	Detail any
}

// Site is what is the same of the many events of one sort at one place.
type Site struct {
	// Cluster is the cluster in which it happened, of a run that has several; empty for
	// what happened in none of them.
	Cluster string
	Kind    Kind
	// Actor is who did it, such as "attachdetach-controller" or "kubelet".
	Actor string
	// Node is the node on which it happened; empty for the control plane.
	Node string
	// Driver is the CSI driver that a call went to.
	Driver string
	// Method is the CSI method ("Node/NodeStageVolume"), the reason of a
	// Kubernetes event, the runtime request.
	Method string
	// Resource is the plural name of an object's; of a Kubernetes event its type.
	Resource string
}

// Exchange is what was asked and answered in a call, and how it went.
type Exchange struct {
	Request, Response proto.Message
	Code              string        // gRPC code name when not OK
	Took              time.Duration // virtual duration of a call
	Injected          string        // what a fault made of the call
	Effect            Effect        // the same as a name; empty if no fault befell it
}

// Effect names the effect of a fault on a call, as faults are written: "loseAnswer".
type Effect string

// Diff is how an object changed.
type Diff struct {
	Change   string // INIT, ADDED, MODIFIED, DELETED
	Old, New runtime.Object
}

// Count is how often a Kubernetes event was emitted; 0 of one that is not counted,
// and of all other events.
func (e *Event) Count() int32 {
	count, _ := e.Detail.(int32)
	return count
}

// Choice is the Detail of a choice.
type Choice struct {
	Index uint64 `json:"index"` // in the order of the run's choices, from 0
	Of    int    `json:"of"`    // alternatives
	Pick  int    `json:"pick"`  // alternative that was taken; 0 is the calm one
}

// isChange reports whether the event is one of the many that show how an object,
// a file or a container changed.
func (e *Event) isChange() bool { return e.Kind == API || e.Kind == FileChange || e.Kind == Runtime }
