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

func hasSetUp(lines []trace.Line) bool { return slices.ContainsFunc(lines, isSetUpDone) }

// withoutSameConditions is a patch without conditions that are as before but for their times: a patch has all of a list
// when a second has passed between two changes, and none of it when it has not.
func (s *side) withoutSameConditions(before, patch map[string]any) map[string]any {
	if !s.records || !has(patch, "status", "conditions") || canonical(field(before, "status", "conditions")) != canonical(field(patch, "status", "conditions")) {
		return patch
	}
	s.allow(TransitionTime, "")
	return without(patch, "status", "conditions")
}
