package check

import (
	"slices"
	"strings"
)

// firstOfFaults is the first group on the report card that has trials with faults. Earlier groups
// have calm trials, or faults in all calls at once.
const firstOfFaults = "lost"

// order returns the indices of the trials in the order in which they begin, so that a small budget
// omits as little as possible. Calm trials begin first, since each of them uses another part of the
// driver. Then the first trial of each other group begins, then the second one, and so on. The
// trials of such a group differ in their call, and each group begins with another call. Trials that
// wait for a stopped driver are slow, and begin last.
func order(trials []*Trial) []int {
	calm := slices.IndexFunc(groups, func(g Group) bool { return g.Name == firstOfFaults })
	sizes := map[string]int{}
	for _, t := range trials {
		sizes[t.Group]++
	}
	turns, begun := make([]int, len(trials)), map[string]int{}
	shifts := map[string]int{} // the number of turns by which each group is shifted
	for i, t := range trials {
		switch at := slices.IndexFunc(groups, func(g Group) bool { return g.Name == t.Group }); {
		case at < calm:
		case isSlow(t):
			turns[i] = len(trials) + 1
		case t.Group == inline: // calm ones first
			begun[t.Group]++
			turns[i] = begun[t.Group]
		default:
			if _, known := shifts[t.Group]; !known {
				shifts[t.Group] = len(shifts)
			}
			turns[i] = 1 + (begun[t.Group]+shifts[t.Group])%sizes[t.Group]
			begun[t.Group]++
		}
	}
	queue := make([]int, len(trials))
	for i := range queue {
		queue[i] = i
	}
	slices.SortStableFunc(queue, func(a, b int) int { return turns[a] - turns[b] })
	return queue
}

// isSlow reports whether the trial stops the driver while other calls wait.
func isSlow(t *Trial) bool {
	return t.Group == stalled || t.Group == inline && strings.HasPrefix(t.Title, stalled+"-")
}
