package fault

import "strings"

// Action is an action of a user, an administrator or the node during a call. The call continues
// normally.
type Action string

// The actions.
const (
	PodsAgain      Action = "user deletes the pods and makes them again"
	PodsByForce    Action = "user deletes the pods by force and makes them again"
	ClaimsAgain    Action = "user deletes the claims and makes them again"
	AllAgain       Action = "user deletes claims and pods and makes them again"
	Scales         Action = "user scales the workloads to none and back"
	Edits          Action = "user edits claims and volumes"
	Drains         Action = "administrator drains the node"
	Detaches       Action = "administrator deletes the attachments"
	DeletesNode    Action = "administrator deletes the node"
	SocketVanishes Action = "registration socket vanishes"
	RegistersTwice Action = "plugin registers twice"
)

// IsUsers reports whether the fault with this name is an action of users. The driver is not
// responsible for its consequences.
func IsUsers(name string) bool {
	return strings.HasPrefix(name, "user ") || strings.HasPrefix(name, "administrator ")
}
