package fault

import "fmt"

// Victim is who dies by a Kill: one of these, or a controller by its name.
type Victim string

// Who can die at any call.
const (
	Driver  Victim = "driver"  // the plugin that is called
	Caller  Victim = "caller"  // the kubelet, controller or sidecar that calls
	Kubelet Victim = "kubelet" // that of the called plugin's node
	Node    Victim = "node"    // the called plugin's node loses power
)

// Victims lists them.
func Victims() []string {
	return []string{string(Driver), string(Caller), string(Kubelet), string(Node)}
}

// Moment is when, in the life of a call, a Kill strikes.
type Moment string

// The moments, in their order.
const (
	OnReceipt    Moment = "receipt" // the driver has the call and has not acted
	AtWork       Moment = "work"    // the driver's program has made some of its changes; in this process, all
	BeforeAnswer Moment = "answer"  // the driver has acted, its answer is not delivered
)

// KillsDriver reports whether the fault leaves nobody to work on the call.
func (f *Fault) KillsDriver() bool { return f.Victim == Driver || f.Victim == Node }

func (f *Fault) toldOfKill() string {
	switch {
	case f.System.Name != "":
		return fmt.Sprintf("%s killed while the driver did it, before %s", f.Victim, f.System)
	case f.At == OnReceipt && f.KillsDriver():
		return fmt.Sprintf("%s killed before the driver did it", f.Victim)
	case f.At == OnReceipt:
		return fmt.Sprintf("%s killed, then the driver did it", f.Victim)
	case f.At == AtWork && f.Changes > 1:
		return fmt.Sprintf("%s killed while the driver did it, after %d changes", f.Victim, f.Changes)
	case f.At == AtWork:
		return fmt.Sprintf("%s killed while the driver did it", f.Victim)
	default:
		return fmt.Sprintf("driver did it, %s killed before the answer", f.Victim)
	}
}
