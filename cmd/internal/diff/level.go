// Package diff lays two traces side by side and says where they part: a simulated
// run against a recorded one, or a recording against its own repeat.
//
// What cannot be equal (uids, generated names, times) is replaced by the role it
// plays; what need not be equal is allowed by one table of tolerances. Whatever a
// tolerance excuses is counted and shown.
package diff

// Level is one of the views in which two traces are compared, each reported apart.
type Level string

const (
	// Calls are the CSI calls: method, caller, node and result code, in order, per volume.
	Calls Level = "calls"
	// Requests are the fields of the requests of those calls.
	Requests Level = "requests"
	// Objects are the changes of every API object, and their order where one causes the other.
	Objects Level = "objects"
	// Gaps are the times between retries, and between a cause and the call that follows from it.
	Gaps Level = "gaps"
	// Events are the Kubernetes Events about each object.
	Events Level = "events"
	// Files are the listings of the kubelets' directories.
	Files Level = "files"
	// Runtime is what the kubelets asked of the container runtime, per pod.
	Runtime Level = "runtime"
)

// Levels are all levels, in the order in which they are printed.
var Levels = []Level{Calls, Requests, Objects, Gaps, Events, Files, Runtime}

// Title says what the level compares.
func (l Level) Title() string { return title[l] }

// title says what a level compares.
var title = map[Level]string{
	Calls:    "method, caller, node and code, in order, per volume",
	Requests: "every field of every request",
	Objects:  "every change of every object, causes before effects",
	Gaps:     "between retries, and between cause and effect",
	Events:   "reason, message, object and number",
	Files:    "paths, modes, mounts, vol_data.json",
	Runtime:  "sandboxes, containers and their mounts",
}
