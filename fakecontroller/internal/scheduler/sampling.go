package scheduler

import "slices"

// In a large cluster the scheduler does not examine all nodes. It starts after the last examined
// node and stops when enough nodes are feasible (percentageOfNodesToScore). The default is half of
// 100 nodes, and a smaller share of more nodes. [numFeasibleNodesToFind, v1.36]
const (
	minFeasibleNodes           = 100
	minFeasibleNodesPercentage = 5
	feasibleNodesPercentage    = 50
	nodesPerPercent            = 125
)

// enoughNodes returns the number of feasible nodes that ends the search among a number of nodes.
func enoughNodes(nodes int) int {
	if nodes < minFeasibleNodes {
		return nodes
	}
	percentage := max(feasibleNodesPercentage-nodes/nodesPerPercent, minFeasibleNodesPercentage)
	return max(nodes*percentage/100, minFeasibleNodes)
}

// sample returns the feasible nodes that the real scheduler would find, sorted by their number of
// pods.
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
