package fault

import "strings"

// Deed is an action of a user, an administrator or the node during a call, which continues
// normally.
type Deed string

// The actions.
const (
	PodsAgain      Deed = "user deletes the pods and makes them again"
	PodsByForce    Deed = "user deletes the pods by force and makes them again"
	ClaimsAgain    Deed = "user deletes the claims and makes them again"
	AllAgain       Deed = "user deletes claims and pods and makes them again"
	Scales         Deed = "user scales the workloads to none and back"
	Edits          Deed = "user edits claims and volumes"
	Drains         Deed = "administrator drains the node"
	Detaches       Deed = "administrator deletes the attachments"
	DeletesNode    Deed = "administrator deletes the node"
	SocketVanishes Deed = "registration socket vanishes"
	RegistersTwice Deed = "plugin registers twice"
)

// IsUsers reports whether the fault of a name is an action of users: the driver is not responsible
// for its consequences.
func IsUsers(name string) bool {
	return strings.HasPrefix(name, "user ") || strings.HasPrefix(name, "administrator ")
}

// meanwhile returns actions as faults.
func meanwhile(deeds ...Deed) []Fault {
	var all []Fault
	for _, d := range deeds {
		all = append(all, Fault{Name: string(d), Effect: Meanwhile, Deed: d})
	}
	return all
}
