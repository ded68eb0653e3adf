package fault

// Victim is the component that a Kill ends: one of these, or a controller, given by its name.
type Victim string

// The victims at any call.
const (
	Driver  Victim = "driver"  // the called plugin
	Caller  Victim = "caller"  // the calling kubelet, controller or sidecar
	Kubelet Victim = "kubelet" // the kubelet of the called plugin's node
	Node    Victim = "node"    // the called plugin's node loses power
)

// Victims lists all victims.
func Victims() []string {
	return []string{string(Driver), string(Caller), string(Kubelet), string(Node)}
}

// Moment is the moment of a Kill during a call.
type Moment string

// The moments, in order.
const (
	OnReceipt Moment = "receipt" // the driver has received the call and has done nothing yet
	// The driver's program has made some of its changes; a driver in this process has made all of
	// them.
	AtWork       Moment = "work"
	BeforeAnswer Moment = "answer" // the driver has acted, but its answer is not delivered
)

// KillsDriver reports whether the fault ends the driver, so that the call gets no answer.
func (f *Fault) KillsDriver() bool { return f.Victim == Driver || f.Victim == Node }
