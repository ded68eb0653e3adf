package realcluster

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// What kube-scheduler counts in the message of a pod that fits nowhere: all nodes, those with a taint, those that preemption does not help.
var (
	nodesInAll   = lazyregexp.New(`0/(\d+) nodes are available`)
	nodesTainted = lazyregexp.New(`(, |: )(\d+)( node\(s\) had untolerated taint\(s\))(, )?`)
	notHelped    = lazyregexp.New(`(, |: )(\d+)( Preemption is not helpful for scheduling)(, )?`)
)

// ofNodes is what the scheduler says without the nodes that the cluster has and the scenario has not, such as the one of
// the control plane, which has a taint: their number is taken off where it is counted among others.
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

// lessOf takes others off the count of a reason, and the reason with its comma where none is left.
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

// less is a count without the others; one that cannot contain them stays.
func less(count string, others int) string {
	n, err := strconv.Atoi(count)
	if err != nil || n < others {
		return count
	}
	return strconv.Itoa(n - others)
}
