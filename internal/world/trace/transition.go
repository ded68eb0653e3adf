package trace

// Transition is the Detail of a FaultFired event at which a component starts or ends. The lines of
// a trace contain it only in words, as the event's message.
type Transition struct {
	Part Part
	// Name is the component's name in messages, such as "driver d on node-a".
	Name string
	Verb Verb
	// Driver is the driver of a plugin; empty for all other parts.
	Driver string
}

// Part is a kind of component.
type Part int

// The parts of a cluster that start and end.
const (
	Kubelet Part = iota + 1
	// Plugin is a driver's plugin.
	Plugin
	Registrar
	// Controller is a controller or a sidecar.
	Controller
	// Power is the power of a node.
	Power
)

// Verb is the change of a component.
type Verb string

// The verbs in messages.
const (
	Killed        Verb = "killed"
	Stopped       Verb = "stopped"
	Started       Verb = "started"
	Lost          Verb = "lost"
	ExitedForGood Verb = "has exited for good"
)

// Entry returns the entry of a transition on a node; the node is empty for the control plane.
func (t Transition) Entry(node string) Entry {
	return Entry{Kind: FaultFired, Node: node, Message: t.Name + " " + string(t.Verb), Detail: t}
}

// Is reports whether an event is a transition of such a part.
func (e *Event) Is(part Part, verbs ...Verb) bool {
	t, is := e.Detail.(Transition)
	if !is || t.Part != part {
		return false
	}
	for _, verb := range verbs {
		if t.Verb == verb {
			return true
		}
	}
	return len(verbs) == 0
}
