package scheduler

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheSufficientNumberOfFeasibleNodes(t *testing.T) {
	for nodes, want := range map[int]int{
		1: 1, 99: 99, 100: 100, 150: 100, 250: 120, 1000: 420, 4000: 720, 5000: 500, 10000: 500,
	} {
		assert.Equal(t, want, enoughNodes(nodes), "of %d nodes", nodes)
	}
}

func TestTheSearchForNodesContinuesAtItsLastPosition(t *testing.T) {
	s := guarded(t).scheduler
	for i := range 300 {
		s.cluster.setNode(aNode(fmt.Sprintf("node-%03d", i)))
	}
	a := &attempt{pod: aPod("web")}
	var first []string
	for range 4 {
		found := s.sample(a, s.cluster.listed)
		assert.Len(t, found, 144, "48 percent")
		first = append(first, found[0].node.name)
	}
	assert.Equal(t, []string{"node-000", "node-144", "node-000", "node-132"}, first, "the second and the third search begin anew at the end of the list")
	for _, n := range s.cluster.listed {
		n.object.Spec.Unschedulable = n.name != "node-007"
	}
	found := s.sample(a, s.cluster.listed)
	assert.Len(t, found, 1, "a search that finds too little looks at all")
	assert.Equal(t, "node-007", found[0].node.name)
}
