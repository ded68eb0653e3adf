package view

import (
	"strings"
)

// tone is how something should strike the reader.
type tone int

const (
	plain tone = iota
	quiet
	strong
	waiting
	bad
	good
)

// state is an object in a word, and in a few.
type state struct {
	word, info string
	tone       tone
}

// stateOf puts an object, in the form of traces, into words.
func stateOf(resource string, object map[string]any) state {
	phase := textAt(object, "status", "phase")
	deleted := textAt(object, "metadata", "deletionTimestamp") != ""
	switch resource {
	case "pods":
		s := state{word: phase, tone: toneOf(phase), info: textAt(object, "spec", "nodeName")}
		container := textAt(object, "status", "container")
		if reason, ok := strings.CutPrefix(container, "waiting "); ok && phase == "Pending" {
			s.info = joined(s.info, reason)
		}
		return s.leaving(deleted)
	case "persistentvolumeclaims":
		size := textAt(object, "status", "capacity", "storage")
		return state{phase, joined(size, textAt(object, "spec", "storageClassName")), toneOf(phase)}.leaving(deleted)
	case "persistentvolumes":
		claim := textAt(object, "spec", "claimRef", "name")
		return state{phase, joined(claim, textAt(object, "spec", "capacity", "storage")), toneOf(phase)}.leaving(deleted)
	case "volumeattachments":
		return attachment(object, deleted)
	case "nodes":
		ready := textAt(object, "status", "Ready")
		if strings.HasPrefix(ready, "True") {
			return state{"Ready", "", good}
		}
		return state{"NotReady", strings.TrimSpace(strings.TrimPrefix(ready, "False")), bad}
	case "csinodes":
		return state{info: registered(object)}
	case "csidrivers":
		spec, _ := object["spec"].(map[string]any)
		return state{info: map[bool]string{true: "without attach", false: ""}[spec["attachRequired"] == false]}
	case "volumesnapshots", "volumesnapshotcontents":
		status, _ := object["status"].(map[string]any)
		switch {
		case textAt(status, "error", "message") != "":
			return state{"failed", textAt(status, "error", "message"), bad}
		case status["readyToUse"] == true:
			return state{"ready", "", good}
		}
		return state{"taking", "", waiting}.leaving(deleted)
	}
	return state{word: phase, tone: plain}.leaving(deleted)
}

// registered are the drivers of a CSINode.
func registered(object map[string]any) string {
	spec, _ := object["spec"].(map[string]any)
	drivers, _ := spec["drivers"].([]any)
	var names []string
	for _, d := range drivers {
		driver, _ := d.(map[string]any)
		names = append(names, textAt(driver, "name"))
	}
	return joined(names...)
}

func attachment(object map[string]any, deleted bool) state {
	where := joined(textAt(object, "spec", "nodeName"), textAt(object, "spec", "source", "persistentVolumeName"))
	status, _ := object["status"].(map[string]any)
	switch {
	case textAt(status, "detachError", "message") != "":
		return state{"detach failed", joined(where, textAt(status, "detachError", "message")), bad}
	case textAt(status, "attachError", "message") != "":
		return state{"attach failed", joined(where, textAt(status, "attachError", "message")), bad}
	case deleted:
		return state{"detaching", where, waiting}
	case status["attached"] == true:
		return state{"attached", where, good}
	}
	return state{"attaching", where, waiting}
}

// leaving is the state of an object whose deletion has begun.
func (s state) leaving(deleted bool) state {
	if deleted {
		s.word, s.tone = "Terminating", waiting
	}
	return s
}

func toneOf(phase string) tone {
	switch phase {
	case "Running", "Succeeded", "Bound", "Available":
		return good
	case "Failed", "Lost":
		return bad
	case "Pending", "Released":
		return waiting
	}
	return plain
}

func joined(words ...string) string {
	var kept []string
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " · ")
}
