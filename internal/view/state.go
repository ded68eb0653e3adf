package view

import (
	"encoding/json"
	"strings"
)

// tone is the emphasis of a text.
type tone int

const (
	plain tone = iota
	quiet
	strong
	waiting
	bad
	good
)

// state describes an object in a word, and in a few.
type state struct {
	word, info string
	tone       tone
}

// stateOf describes an object, in the form of traces.
func stateOf(resource string, o object) state {
	phase := o.text("status.phase")
	deleted := o.text("metadata.deletionTimestamp") != ""
	switch resource {
	case "pods":
		s := state{word: phase, tone: toneOf(phase)}
		container := o.text("status.container")
		reason, waits := strings.CutPrefix(container, "waiting ")
		switch isReady := o.text(ready[1:]) == "True"; {
		case waits && (phase == "Pending" || phase == "Running"):
			s.info, s.tone = reason, waiting
		case phase == "Running" && !isReady:
			s.info, s.tone = "not ready", waiting
		case phase == "Running":
			s.info = "ready"
		}
		s.info = joined(s.info, restarted(o.text("status.restarts")), o.text("status.reason"), o.text("spec.nodeName"))
		return s.leaving(deleted)
	case "persistentvolumeclaims":
		size := o.text("status.capacity.storage")
		return state{phase, joined(size, o.text("spec.storageClassName")), toneOf(phase)}.leaving(deleted)
	case "persistentvolumes":
		claim := o.text("spec.claimRef.name")
		return state{phase, joined(claim, o.text("spec.capacity.storage")), toneOf(phase)}.leaving(deleted)
	case "volumeattachments":
		return attachment(o, deleted)
	case "nodes":
		ready := o.text("status.Ready")
		if strings.HasPrefix(ready, "True") {
			return state{"Ready", "", good}
		}
		return state{"NotReady", strings.TrimSpace(strings.TrimPrefix(ready, "False")), bad}
	case "csinodes":
		return state{info: registered(o)}
	case "csidrivers":
		return state{info: map[bool]string{true: "without attach", false: ""}[o.text("spec.attachRequired") == "false"]}
	case "volumesnapshots", "volumesnapshotcontents":
		switch {
		case o.text("status.error.message") != "":
			return state{"failed", o.text("status.error.message"), bad}
		case o.text("status.readyToUse") == "true":
			return state{"ready", "", good}
		}
		return state{"taking", "", waiting}.leaving(deleted)
	}
	return state{word: phase, tone: plain}.leaving(deleted)
}

// registration is a driver of a CSINode.
type registration struct {
	Name   string `json:"name"`
	NodeID string `json:"nodeID"`
}

func registrations(csiNode object) []registration {
	var all []registration
	if json.Unmarshal([]byte(csiNode.text("spec.drivers")), &all) != nil {
		return nil // there are none
	}
	return all
}

// registered returns the names of the drivers of a CSINode.
func registered(csiNode object) string {
	var names []string
	for _, r := range registrations(csiNode) {
		names = append(names, r.Name)
	}
	return joined(names...)
}

func attachment(o object, deleted bool) state {
	where := joined(o.text("spec.nodeName"), o.text("spec.source.persistentVolumeName"))
	switch {
	case o.text("status.detachError.message") != "":
		return state{"detach failed", joined(where, o.text("status.detachError.message")), bad}
	case o.text("status.attachError.message") != "":
		return state{"attach failed", joined(where, o.text("status.attachError.message")), bad}
	case deleted:
		return state{"detaching", where, waiting}
	case o.text("status.attached") == "true":
		return state{"attached", where, good}
	}
	return state{"attaching", where, waiting}
}

// leaving returns the deletion state of an object; empty if it is not being deleted.
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

// restarted describes the number of restarts of a pod's containers.
func restarted(n string) string {
	switch n {
	case "", "0":
		return ""
	case "1":
		return "1 restart"
	}
	return n + " restarts"
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
