package diff

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// setUpDone is the step with which the recordings of CSI-Addons begin what they are about. Before it the programs were
// started, in an order that is a race between them. Their nodes and pods are no more than records.
const setUpDone = "-- set-up done"

// ofRecord are the resources of such records.
var ofRecord = map[string]bool{"nodes": true, "csinodes": true, "csidrivers": true, "pods": true, "storageclasses": true}

func isSetUpDone(l trace.Line) bool { return l.K == trace.Step && strings.Contains(l.Msg, setUpDone) }

// startsSidecar reports whether a step starts a sidecar of CSI-Addons: the end of the set-up where nothing else says so.
func startsSidecar(l trace.Line) bool {
	return l.K == trace.Step && (strings.HasPrefix(l.Msg, "start sidecar ") || strings.HasPrefix(l.Msg, "start-controller csi-addons-sidecar/"))
}

// setUpEnd is the line with which the set-up of a trace with sidecars of CSI-Addons ends, -1 for another trace.
func setUpEnd(lines []trace.Line) int {
	if done := slices.IndexFunc(lines, isSetUpDone); done >= 0 {
		return done
	}
	return slices.IndexFunc(lines, startsSidecar)
}

// withoutSameConditions is a patch without conditions that are as before but for their times: a patch has all of a list
// when a second has passed between two changes, and none of it when it has not.
func (s *side) withoutSameConditions(before, patch map[string]any) map[string]any {
	if !s.records || !has(patch, "status", "conditions") || canonical(field(before, "status", "conditions")) != canonical(field(patch, "status", "conditions")) {
		return patch
	}
	s.allow(TransitionTime, "")
	return without(patch, "status", "conditions")
}

// foreign reports whether an object belongs to a driver of another scenario, which the recorded cluster ran at the same
// time: a driver that serves CSI-Addons in neither trace, of an object that only one has.
func (d *comparison) foreign(o object, a, b []*change) bool {
	if !d.a.records && !d.b.records || len(a) > 0 && len(b) > 0 {
		return false
	}
	for _, s := range []*side{d.a, d.b} {
		first := s.initial[o]
		for _, c := range s.changes {
			if c.object == o && c.how == "ADDED" {
				first = c.content
				break
			}
		}
		for _, path := range [][]string{{"spec", "csi", "driver"}, {"spec", "provisioner"}, {"spec", "driver"}, {"provisioner"}} {
			if driver := text(first, path...); driver != "" && !d.a.serves(driver) && !d.b.serves(driver) {
				return true
			}
		}
	}
	return false
}

// serves reports whether a driver answers a sidecar of CSI-Addons in the trace.
func (s *side) serves(driver string) bool {
	return slices.ContainsFunc(s.lines, func(l trace.Line) bool {
		return l.M == "identity.Identity/GetIdentity" && text(l.Resp, "name") == driver
	})
}

const addonsNodes = "csiaddonsnodes"

// withoutRounds are lines without what the manager of CSI-Addons does to a CSIAddonsNode while its sidecar does not listen
// yet: it retries, deletes the object, and the sidecar makes it again, as often as the sidecar's key takes to make.
func (s *side) withoutRounds(lines []trace.Line) (rest []trace.Line) {
	if !s.records {
		return lines
	}
	for i, l := range lines {
		if l.K == trace.API && l.R == addonsNodes {
			switch {
			case inRound(lines, i):
				s.allow(RegistrationRounds, "")
				continue
			case text(l.Patch, "status", "state") == "Connected":
				l.Patch = without(l.Patch, "status", "reason")
			}
		}
		rest = append(rest, l)
	}
	return rest
}

// inRound reports whether a change of a CSIAddonsNode is one of a round: a failed try of an object that is connected in
// the end, or any change of one that was never connected and is made again.
func inRound(lines []trace.Line, i int) bool {
	first, end := i, i
	for first > 0 && !(sameObject(lines[first], lines[i]) && lines[first].Ev == "ADDED") {
		first--
	}
	tried, connected := false, false
	for end = first; end < len(lines); end++ {
		if !sameObject(lines[end], lines[i]) {
			continue
		}
		if end > i && lines[end].Ev == "ADDED" {
			break
		}
		tried = tried || refused(lines[end])
		connected = connected || text(lines[end].Patch, "status", "state") == "Connected"
	}
	switch {
	case !tried:
		return false
	case connected:
		return refused(lines[i])
	}
	return end < len(lines)
}

func sameObject(a, b trace.Line) bool { return a.K == trace.API && a.R == b.R && a.Name == b.Name }

// refused reports whether a change says that nobody listens at the sidecar's port.
func refused(l trace.Line) bool {
	return l.R == addonsNodes && strings.Contains(text(l.Patch, "status", "message"), "connection refused")
}

// volumeHealth begins an annotation that ends with the uid of a node, which recordings of CSI-Addons do not hold.
const volumeHealth = "csiaddons.openshift.io/volumehealth."

func (s *side) healthOf(key string) string {
	if s.records && strings.HasPrefix(key, volumeHealth) {
		return volumeHealth + "<uid of the node>"
	}
	return key
}

// sorted is a list of names in order: that of the claims of a group is the one in which the cache lists them.
func (s *side) sorted(value any) any {
	names := slices.Clone(list(value))
	slices.SortFunc(names, func(x, y any) int { return strings.Compare(text(x, "name"), text(y, "name")) })
	if canonical(names) == canonical(value) || len(names) == 0 {
		return value
	}
	s.allow(ClaimOrder, "")
	return names
}

// repeatedWithin is how soon a controller of CSI-Addons repeats a call whose outcome it could not write down.
const repeatedWithin = 250 // ms

// conflicting are the calls of CSI-Addons after which two controllers write the same object.
var conflicting = map[string]bool{
	"volumegroup.Controller/CreateVolumeGroup": true, "volumegroup.Controller/ModifyVolumeGroupMembership": true,
	"volumegroup.Controller/DeleteVolumeGroup": true, "replication.Controller/DisableVolumeReplication": true,
	"fence.FenceController/FenceClusterNetwork": true, "fence.FenceController/UnfenceClusterNetwork": true,
}

// isRepeated reports whether a call is the same as one shortly before it, with the same end.
func isRepeated(earlier []*call, c *call) bool {
	return conflicting[c.method] && slices.ContainsFunc(earlier, func(other *call) bool {
		return other.same(c) && c.at-other.ended <= repeatedWithin && canonical(other.request) == canonical(c.request)
	})
}

// asked are the questions that parts of a sidecar of CSI-Addons ask at once when it starts, the last of them for the
// manager as soon as that has reached it.
var asked = map[string]bool{
	"identity.Identity/GetIdentity": true, "identity.Identity/GetCapabilities": true, "Identity/GetPluginInfo": true, nodeCapabilities: true,
}

// inOneOrder puts such questions, up to the next other call, into one order.
func (s *side) inOneOrder(calls []*call) {
	for i := 0; i < len(calls); {
		end := i
		for end < len(calls) && asked[calls[end].method] {
			end++
		}
		byMethod := func(x, y *call) int { return strings.Compare(x.method, y.method) }
		if !slices.IsSortedFunc(calls[i:end], byMethod) {
			slices.SortStableFunc(calls[i:end], byMethod)
			s.allow(Together, "")
		}
		i = max(end, i+1)
	}
}
