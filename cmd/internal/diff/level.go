// Package diff compares two traces and finds their differences: a simulated run and a recording, or
// a recording and its repetition.
//
// Values that always differ (uids, generated names, times) are replaced by their roles. Differences
// that are acceptable are listed in one table of tolerances. Every use of a tolerance is counted
// and shown.
package diff

// Level is one of the views in which two traces are compared. Each level is reported separately.
type Level string

const (
	// Calls are the CSI calls: method, caller, node and result code, in order, per volume.
	Calls Level = "calls"
	// Requests are the fields of the requests of the drivers' calls.
	Requests Level = "requests"
	// Objects are the changes of every API object, and the order of changes in which one causes the
	// other.
	Objects Level = "objects"
	// Gaps are the times between retries, and between a call and its cause.
	Gaps Level = "gaps"
	// Events are the Kubernetes Events about each object.
	Events Level = "events"
	// Files are the listings of the kubelets' directories.
	Files Level = "files"
	// Runtime are the requests of the kubelets to the container runtime, per pod.
	Runtime Level = "runtime"
)

// Levels are all levels, in the order in which they are printed.
var Levels = []Level{Calls, Requests, Objects, Gaps, Events, Files, Runtime}

// Title describes the comparison at the level.
func (l Level) Title() string { return title[l] }

// title describes the comparison at each level.
var title = map[Level]string{
	Calls:    "method, caller, node and code, in order, per volume",
	Requests: "every field of every request",
	Objects:  "every change of every object, causes before effects",
	Gaps:     "between retries, and between cause and effect",
	Events:   "reason, message, object and number",
	Files:    "paths, modes, mounts, vol_data.json",
	Runtime:  "sandboxes, containers and their mounts",
}
