package trace

import (
	"path"
	"slices"
)

// weight is the emphasis of an event, independent of its words.
type weight struct {
	tone  tone // of the whole line
	ended tone // of the outcome, if the outcome is more important
	folds bool // the event shares one line with others
}

// weigh returns the weight of a line. It reads a request only to find a registrar's error.
func weigh(l *Line) weight {
	w := weight{tone: tonesOf[l.K]}
	if isFailed(l) {
		w.ended = failure
	}
	switch l.K {
	case Call:
		if l.Inj != "" {
			w.ended = max(w.ended, warning)
		}
		if w.folds = probes[path.Base(l.M)] && w.ended < warning; w.folds {
			w.tone = quiet
		}
	case API:
		if reportsError(l) {
			w.tone = failure
		}
	case KubeEvent:
		if l.R == "Warning" {
			w.tone = warning
		}
	case FileChange, Runtime:
		w.folds = w.ended < warning
	case Log:
		if l.M == "" { // no pattern recognizes it
			w.tone = quiet
		}
	}
	return w
}

// tonesOf are the tones of kinds of events; all others are plain.
var tonesOf = map[Kind]tone{
	KubeEvent: quiet, Step: strong, FileChange: quiet, SystemCall: quiet, Request: quiet, FaultFired: warning, Violation: failure, Remark: warning,
	AnswerLost: warning, DataLost: failure, Unmounted: failure, Died: failure, ChoiceMade: quiet, Files: quiet, Runtime: quiet,
}

func isFailed(l *Line) bool {
	switch l.K {
	case Call, Runtime:
		return l.Code != ""
	case FileChange:
		return l.Code != "" || l.Msg != ""
	case SystemCall, Request:
		return l.Inj != ""
	case Registration:
		return l.Code != "" || l.Msg != "" || fields(l.Req).text("error") != ""
	case API, KubeEvent, Step, FaultFired, Violation, Remark, AnswerLost, DataLost, Unmounted, Died, ChoiceMade, Files:
		return false
	}
	return l.Code != ""
}

// Weighs reports whether the tone of a change depends on its patch, because such resources can
// report an error.
func Weighs(resource string) bool { return errorsIn[resource] != nil }

// errorsIn are the fields of a status that report an error.
var errorsIn = map[string][]string{
	"volumeattachments": {"attachError", "detachError"}, "volumesnapshots": {"error"}, "volumesnapshotcontents": {"error"},
}

func reportsError(l *Line) bool {
	return l.Ev == "MODIFIED" && slices.ContainsFunc(errorsIn[l.R], func(field string) bool { return at(l.Patch, "status", field, "message") != nil })
}

// probes are calls that are repeated with the same answer. They are folded while they succeed.
var probes = map[string]bool{
	"NodeGetCapabilities": true, "ControllerGetCapabilities": true, "GetPluginCapabilities": true,
	"GetPluginInfo": true, "Probe": true, "NodeGetVolumeStats": true,
}
