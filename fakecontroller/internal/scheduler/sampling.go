package scheduler

import "slices"

// In a large cluster the scheduler does not examine all nodes. It continues after the node at which
// it stopped the last time until enough nodes fit (percentageOfNodesToScore: by default half of 100
// nodes, and a smaller part of more nodes). [numFeasibleNodesToFind, v1.36]
const (
	minFeasibleNodes           = 100
	minFeasibleNodesPercentage = 5
	feasibleNodesPercentage    = 50
	nodesPerPercent            = 125
)

// enoughNodes is the number of feasible nodes after which the search among so many ends.
func enoughNodes(nodes int) int {
	if nodes < minFeasibleNodes {
		return nodes
	}
	percentage := max(feasibleNodesPercentage-nodes/nodesPerPercent, minFeasibleNodesPercentage)
	return max(nodes*percentage/100, minFeasibleNodes)
}

// sample returns the fitting nodes that the real scheduler would have found, the ones with the
// fewest pods first.
func (s *Scheduler) sample(a *attempt, nodes []*node) []choice {
	enough := enoughNodes(len(nodes))
	var found []choice
	looked := 0
	for ; looked < len(nodes) && len(found) < enough; looked++ {
		n := nodes[(s.nextStart+looked)%len(nodes)]
		if plan, no := s.filter(a, n); no.reason == "" {
			found = append(found, choice{n, plan})
		}
	}
	if all := len(s.cluster.order); all > 0 {
		s.nextStart = (s.nextStart + looked) % all
	}
	slices.SortFunc(found, func(a, b choice) int { return compareNodes(a.node, b.node) })
	return found
}
