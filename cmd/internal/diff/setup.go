package diff

import (
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// setUpDone is the step after the set-up in the recordings of CSI-Addons. During the set-up,
// programs race to start. The nodes and pods of these recordings exist only as API objects.
const setUpDone = "-- set-up done"

// ofRecord lists the resources that such recordings contain only as API objects.
var ofRecord = map[string]bool{"nodes": true, "csinodes": true, "csidrivers": true, "pods": true, "storageclasses": true}

func isSetUpDone(l trace.Line) bool { return l.K == trace.Step && strings.Contains(l.Msg, setUpDone) }

// startsSidecar reports whether a step starts a sidecar of CSI-Addons. Without a step setUpDone,
// this step ends the set-up.
func startsSidecar(l trace.Line) bool {
	return l.K == trace.Step && (strings.HasPrefix(l.Msg, "start sidecar ") || strings.HasPrefix(l.Msg, "start-controller csi-addons-sidecar/"))
}

// setUpEnd returns the line that ends the set-up of a trace with sidecars of CSI-Addons. It returns
// -1 for any other trace.
func setUpEnd(lines []trace.Line) int {
	if done := slices.IndexFunc(lines, isSetUpDone); done >= 0 {
		return done
	}
	return slices.IndexFunc(lines, startsSidecar)
}

// withoutSameConditions returns a patch without conditions that differ only in their times. A patch
// contains the whole list of conditions if a second has passed between two changes. Otherwise it
// contains no part of the list.
func (s *side) withoutSameConditions(before, patch map[string]any) map[string]any {
	if !s.records || !has(patch, "status", "conditions") || canonical(field(before, "status", "conditions")) != canonical(field(patch, "status", "conditions")) {
		return patch
	}
	s.allow(TransitionTime, "")
	return without(patch, "status", "conditions")
}

// foreign reports whether an object in only one trace belongs to another scenario that ran on the
// recorded cluster at the same time. Its driver serves CSI-Addons in neither trace.
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

// withoutRounds returns the lines without the manager's work on a CSIAddonsNode before its sidecar
// listens. Until the sidecar has generated its key, the manager retries and deletes the object, and
// the sidecar recreates it.
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

// inRound reports whether a change of a CSIAddonsNode belongs to such a round. Such a change is a
// failed attempt to connect an object, if it is connected later. If an object is recreated before
// it was ever connected, all of its changes belong to such a round.
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

// refused reports whether a change reports that the sidecar's port refuses connections.
func refused(l trace.Line) bool {
	return l.R == addonsNodes && strings.Contains(text(l.Patch, "status", "message"), "connection refused")
}

// volumeHealth is the prefix of an annotation that ends with the uid of a node. Recordings of
// CSI-Addons do not contain such uids.
const volumeHealth = "csiaddons.openshift.io/volumehealth."

func (s *side) healthOf(key string) string {
	if s.records && strings.HasPrefix(key, volumeHealth) {
		return volumeHealth + "<uid of the node>"
	}
	return key
}

// sorted sorts a list of names, because the claims of a group are listed in the order of the cache.
func (s *side) sorted(value any) any {
	names := slices.Clone(list(value))
	slices.SortFunc(names, func(x, y any) int { return strings.Compare(text(x, "name"), text(y, "name")) })
	if canonical(names) == canonical(value) || len(names) == 0 {
		return value
	}
	s.allow(ClaimOrder, "")
	return names
}

// repeatedWithin is the time after which a controller of CSI-Addons repeats a call because it could
// not write the outcome.
const repeatedWithin = 250 // ms

// conflicting are the calls of CSI-Addons after which two controllers write the same object.
var conflicting = map[string]bool{
	"volumegroup.Controller/CreateVolumeGroup": true, "volumegroup.Controller/ModifyVolumeGroupMembership": true,
	"volumegroup.Controller/DeleteVolumeGroup": true, "replication.Controller/DisableVolumeReplication": true,
	"fence.FenceController/FenceClusterNetwork": true, "fence.FenceController/UnfenceClusterNetwork": true,
}

// isRepeated reports whether a call repeats an equal call shortly before it, with the same outcome.
func isRepeated(earlier []*call, c *call) bool {
	return conflicting[c.method] && slices.ContainsFunc(earlier, func(other *call) bool {
		return other.same(c) && c.at-other.ended <= repeatedWithin && canonical(other.request) == canonical(c.request)
	})
}

// startupQueries are the concurrent queries at the start of a CSI-Addons sidecar. The last one is
// for the manager, after it has connected.
var startupQueries = map[string]bool{
	"identity.Identity/GetIdentity": true, "identity.Identity/GetCapabilities": true, "Identity/GetPluginInfo": true, nodeCapabilities: true,
}

// inOneOrder sorts such queries up to the next call of another kind.
func (s *side) inOneOrder(calls []*call) {
	for i := 0; i < len(calls); {
		end := i
		for end < len(calls) && startupQueries[calls[end].method] {
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
