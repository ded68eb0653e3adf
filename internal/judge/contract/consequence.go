package contract

import (
	"path"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// inert are the forms of breaches that affect no other call.
var inert = map[verdict.Form]bool{
	tooBig: true, logsSecret: true, returnsSecret: true,
	leavesOut: true, leavesOutOnPages: true, listsTwice: true, refusesPages: true, listsDeleted: true, failsForDeleted: true,
}

// HasConsequences reports whether other failures of a run can follow from a breach. A long id, a
// time, statistics, a shown secret, or a list that no caller uses has no consequences.
func HasConsequences(v verdict.Verdict) bool {
	return !inert[v.Form] && !strings.Contains(v.Field, "creation_time.") && path.Base(v.Method) != "NodeGetVolumeStats"
}
