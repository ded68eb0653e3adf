package comparison

import (
	"strings"

	"github.com/csisim/csisim/cmd/internal/diff"
)

// race is a difference that real clusters decide either way, which two runs may happen to decide alike.
type race struct {
	level diff.Level
	is    func(d Difference) bool
	// because is what races, for the reader of a report.
	because string
}

// races are those that real runs have shown to go both ways.
var races = []race{
	{diff.Objects, isUnscheduled, scheduling},
	{diff.Events, isUnscheduled, scheduling},
	{diff.Objects, isSeenLate, "what changes is seen when its watch delivers it, which can be after the call that follows from it"},
}

const scheduling = "whether the scheduler looks at a pod before its claim is bound hangs on who applies both, and on csi-provisioner"

// isUnscheduled reports whether only one run has a pod that waits for its claim. C-SCHED-1
func isUnscheduled(d Difference) bool {
	row := d.Rows[d.Index]
	return strings.Contains(d.What, "only in ") && strings.Contains(row.A.Text+row.B.Text, "pod has unbound immediate PersistentVolumeClaims")
}

// isSeenLate reports whether a real run has an effect whose cause comes after it: a cause that never came would be a
// difference of its own.
func isSeenLate(d Difference) bool {
	row := d.Rows[d.Index]
	return d.What == "order of cause and effect" && d.A == simulation && !strings.Contains(row.A.Text, " without: ") && strings.Contains(row.B.Text, " without: ")
}

// known is why a difference is a known race; empty for any other.
func known(d Difference) string {
	for _, r := range races {
		if r.level == d.Level && r.is(d) {
			return r.because
		}
	}
	return ""
}
