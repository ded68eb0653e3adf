// Package trace records everything that happens in a run: driver calls, API writes, Kubernetes
// events, runtime requests, changes on disk, steps, choices and faults. Reports, checks, goldens
// and replays are functions of the trace.
package trace

import (
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime"
)

// Kind is the kind of an event; its values are the ones in recorded traces.
type Kind string

const (
	// Call is a CSI call. Each call has one event, at the time of its start.
	Call Kind = "csi"
	// API is a change of an API object.
	API Kind = "api"
	// KubeEvent is a Kubernetes Event.
	KubeEvent Kind = "event"
	// Runtime is a kubelet's request to the container runtime.
	Runtime Kind = "cri"
	// Files is a listing of a kubelet's root directory.
	Files Kind = "fs"
	// FileChange is a change by a kubelet on its node's disk.
	FileChange Kind = "file"
	// SystemCall is a system call by which a driver's program changed files or was about to.
	SystemCall Kind = "sys"
	// Request is an HTTP request of a driver's program to a stand-in for its service.
	Request Kind = "http"
	// Step is a step of the scenario: an action, a wait or an observation.
	Step Kind = "step"
	// Registration is a call between a kubelet and a registrar.
	Registration Kind = "reg"
	// ChoiceMade is a decision of the strategy that differs from the calm one.
	ChoiceMade Kind = "choice"
	// FaultFired is an injected fault that took effect, or a crash.
	FaultFired Kind = "fault"
	// Violation is an answer or a request that breaks the CSI spec.
	Violation Kind = "violation"
	// Remark is a deviation from a rule of the CSI spec that does not affect Kubernetes.
	Remark Kind = "remark"
	// AnswerLost is an answer of a driver that has created a resource. The caller never received
	// the answer.
	AnswerLost Kind = "lost"
	// DataLost is a pod that does not find the data written to its volume.
	DataLost Kind = "data"
	// Unmounted is a foreign mount that a driver unmounted.
	Unmounted Kind = "unmount"
	// Died is a program of a driver that exited unexpectedly.
	Died Kind = "died"
	// Log is a line of an imported log: a message, and the fact that it states.
	Log Kind = "log"
)

// Event is one entry of a trace. Its objects and messages are shared and must not be modified.
// There are very many events. Therefore equal parts are shared, and rare parts are behind pointers,
// which are never nil. To change a copy of an event, give it its own Site, Exchange or Diff.
type Event struct {
	*Site
	*Exchange
	*Diff
	// Seq numbers the events of a run, from 1.
	Seq uint64
	// Cause is the Seq of the event that caused this one; 0 if there is none.
	Cause uint64
	// At is the virtual time since the start of the run; for a call, its start.
	At time.Duration
	// Name is the name of an object, "ns/name" or "name"; for a Kubernetes event "Kind/name".
	Name string
	// Message is free text: an event's or an error's message, a step.
	Message string
	// Detail is additional structured content: runtime mounts, file listings, choices. For a
	// Kubernetes event it is its count, an int32.
	Detail any
}

// Site is the common part of many events of one sort at one place.
type Site struct {
	// Cluster is the cluster of the event, in a run with several; empty for an event outside the
	// clusters.
	Cluster string
	Kind    Kind
	// Actor is the component that acted, such as "attachdetach-controller" or "kubelet".
	Actor string
	// Node is the node of the event; empty for the control plane.
	Node string
	// Driver is the CSI driver of a call.
	Driver string
	// Method is the CSI method ("Node/NodeStageVolume"), the reason of a
	// Kubernetes event, the runtime request.
	Method string
	// Resource is the plural name of an object's resource; for a Kubernetes event, it is the
	// event's type.
	Resource string
}

// Exchange is the request, the answer and the outcome of a call.
type Exchange struct {
	Request, Response proto.Message
	Code              string        // gRPC code name when not OK
	Took              time.Duration // virtual duration of a call
	Injected          string        // the effect of a fault on the call, in words
	Effect            Effect        // the effect as a name; empty if no fault applied
	Release           string        // of the driver that received a call; empty if it has only one
}

// Effect names the effect of a fault on a call in the words of scenarios: "loseAnswer".
type Effect string

// Diff is the change of an object.
type Diff struct {
	Change   string // INIT, ADDED, MODIFIED, DELETED
	Old, New runtime.Object
}

// Count returns the number of emissions of a Kubernetes event; 0 for an event without a count, and
// for all other events.
func (e *Event) Count() int32 {
	count, _ := e.Detail.(int32)
	return count
}

// Choice is the Detail of a choice.
type Choice struct {
	Index uint64 `json:"index"` // in the order of the run's choices, from 0
	Of    int    `json:"of"`    // alternatives
	Pick  int    `json:"pick"`  // the chosen alternative; 0 is calm
}

// isCall reports whether the event is a call, a request or a Kubernetes event. A long-lived cluster
// has an unlimited number of such events.
func (e *Event) isCall() bool {
	switch e.Kind {
	case Call, Request, SystemCall, Registration, KubeEvent:
		return true
	}
	return false
}

// isChange reports whether the event is one of the many changes of an object, a file or a
// container.
func (e *Event) isChange() bool { return e.Kind == API || e.Kind == FileChange || e.Kind == Runtime }
