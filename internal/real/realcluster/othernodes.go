package realcluster

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// The counts in kube-scheduler's message for an unschedulable pod: all nodes, nodes with a taint,
// nodes that preemption does not help.
var (
	nodesInAll   = lazyregexp.New(`0/(\d+) nodes are available`)
	nodesTainted = lazyregexp.New(`(, |: )(\d+)( node\(s\) had untolerated taint\(s\))(, )?`)
	notHelped    = lazyregexp.New(`(, |: )(\d+)( Preemption is not helpful for scheduling)(, )?`)
)

// ofNodes returns the scheduler's message without the nodes outside the scenario, such as the
// control plane's node, which has a taint. It subtracts their number from the counts.
func ofNodes(message string, all, own int) string {
	others := all - own
	message = nodesInAll().ReplaceAllStringFunc(message, func(found string) string {
		if found != fmt.Sprintf("0/%d nodes are available", all) {
			return found
		}
		return fmt.Sprintf("0/%d nodes are available", own)
	})
	for _, reason := range []*regexp.Regexp{nodesTainted(), notHelped()} {
		message = reason.ReplaceAllStringFunc(message, func(found string) string { return lessOf(reason.FindStringSubmatch(found), others) })
	}
	return message
}

// lessOf subtracts others from the count of a reason, and removes the reason with its comma if none
// is left.
func lessOf(parts []string, others int) string {
	before, count, reason, after := parts[1], parts[2], parts[3], parts[4]
	switch left := less(count, others); {
	case left != "0":
		return before + left + reason + after
	case after == "" && before == ", ":
		return ""
	default:
		return before
	}
}

// less subtracts others from a count. A count that cannot contain them stays.
func less(count string, others int) string {
	n, err := strconv.Atoi(count)
	if err != nil || n < others {
		return count
	}
	return strconv.Itoa(n - others)
}
