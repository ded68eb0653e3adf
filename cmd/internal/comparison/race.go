package comparison

import (
	"fmt"
	"strings"
	"time"

	"github.com/csisim/csisim/cmd/internal/diff"
	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// race describes a difference for which both outcomes occur on real clusters, although two runs may
// show the same outcome by chance.
type race struct {
	level diff.Level
	is    func(d Difference) bool
	// because describes the race for the reader of a report.
	because string
}

// races are races with both outcomes in real runs.
var races = []race{
	{diff.Objects, isUnscheduled, scheduling},
	{diff.Events, isUnscheduled, scheduling},
	{diff.Objects, isSeenLate, "a change is seen when its watch delivers it, which can be after the call that it causes"},
	{diff.Calls, isStatsLook, "a kubelet looks for volumes with statistics every minute since its own start, which a pod may run through or not"},
	{diff.Calls, repeated("DeleteVolume", 3), "csi-provisioner deletes each of up to three versions of a released volume that it sees"},
	{diff.Calls, repeated("ControllerPublishVolume", 2), "csi-attacher attaches again if its cache lags behind its own write"},
	{diff.Gaps, isSlowEnd, "the time to end a container depends on the load of the node"},
	{diff.Gaps, isSlowStart, "a sidecar that was killed is back when its container has started, before which the kubelet of its node starts"},
}

const scheduling = "whether the scheduler processes a pod before its claim is bound depends on the client that applies both, and on csi-provisioner"

// isUnscheduled reports whether only one run has a pod that waits for its claim. C-SCHED-1
func isUnscheduled(d Difference) bool {
	row := d.Rows[d.Index]
	return strings.Contains(d.What, "only in ") && strings.Contains(row.A.Text+row.B.Text, "pod has unbound immediate PersistentVolumeClaims")
}

// isSeenLate reports whether an effect in a real run precedes its cause. A missing cause would be a
// separate difference.
func isSeenLate(d Difference) bool {
	row := d.Rows[d.Index]
	return d.What == "order of cause and effect" && d.A == simulation && !strings.Contains(row.A.Text, " without: ") && strings.Contains(row.B.Text, " without: ")
}

// isStatsLook reports whether the kubelet of a real run makes one additional query for capabilities
// while a pod runs. K-STAT-1
func isStatsLook(d Difference) bool {
	row := d.Rows[d.Index]
	var simulated, real int
	_, badly := fmt.Sscanf(row.A.Text, "%d×", &simulated)
	_, worse := fmt.Sscanf(row.B.Text, "%d×", &real)
	return d.A == simulation && d.What == "NodeGetCapabilities before NodeUnpublishVolume" && badly == nil && worse == nil && real == simulated+1
}

// repeated returns a function that recognizes repetitions of a successful call. A sidecar makes
// such a call up to most times, because its cache lags behind its own writes. A real run then has
// one call more than the simulation.
func repeated(method string, most int) func(Difference) bool {
	return func(d Difference) bool {
		call := d.Rows[d.Index].B.Text
		if d.A != simulation || d.Rows[d.Index].A.Text != "" || !strings.HasPrefix(call, method+" ") || !strings.HasSuffix(call, " OK") {
			return false
		}
		first, last := d.Index, d.Index
		for first > 0 && d.Rows[first-1].B.Text == call {
			first--
		}
		for last+1 < len(d.Rows) && d.Rows[last+1].B.Text == call {
			last++
		}
		times := last - first + 1
		return times > 1 && times <= most
	}
}

// slowestEnd bounds the additional time for a container to end, and for the parts of its pod that
// the kubelet ends before it unmounts.
const slowestEnd = 5 * time.Second

// afterPod matches the gap between a pod, with its name in lower case, and the unmounting of its
// volume. If a pod is deleted as soon as it runs, its volume is unmounted after the call that
// published it.
var afterPod = lazyregexp.New(`^from ([a-z0-9.-]+|NodePublishVolume) to NodeUn(publish|stage)Volume$`)

// isSlowEnd reports whether the kubelet of a real run unmounts a deleted pod's volume later.
func isSlowEnd(d Difference) bool {
	return afterPod().MatchString(d.What) && later(d, slowestEnd)
}

// slowestStart bounds the additional time until a killed sidecar runs again.
const slowestStart = 5 * time.Second

// again matches the gap between an unanswered call of a sidecar and the same call of the restarted
// sidecar. Timers determine other repetitions.
var again = lazyregexp.New(`^from ((?:Create|Delete|Controller)\w+) to (\w+)$`)

// isSlowStart reports whether a sidecar of a real run that was killed in a call repeats it later.
func isSlowStart(d Difference) bool {
	calls := again().FindStringSubmatch(d.What)
	return calls != nil && calls[1] == calls[2] && later(d, slowestStart)
}

// later reports whether a gap of a real run exceeds the simulated gap, by no more than the bound
// most.
func later(d Difference, most time.Duration) bool {
	simulated, badly := time.ParseDuration(d.Rows[d.Index].A.Text)
	real, worse := time.ParseDuration(d.Rows[d.Index].B.Text)
	return d.A == simulation && badly == nil && worse == nil && simulated < real && real-simulated <= most
}

// known returns the race that explains a difference; "" if no known race does.
func known(d Difference) string {
	for _, r := range races {
		if r.level == d.Level && r.is(d) {
			return r.because
		}
	}
	return ""
}
