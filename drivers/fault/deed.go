package fault

import "strings"

// Deed is what a user, an administrator or the node does in the middle of a call, which takes its course.
type Deed string

// The deeds.
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

// IsUsers reports whether the fault of a name is something that users ask for: what follows from it is no driver's fault.
func IsUsers(name string) bool {
	return strings.HasPrefix(name, "user ") || strings.HasPrefix(name, "administrator ")
}

// meanwhile are deeds as faults.
func meanwhile(deeds ...Deed) []Fault {
	var all []Fault
	for _, d := range deeds {
		all = append(all, Fault{Name: string(d), Effect: Meanwhile, Deed: d})
	}
	return all
}
