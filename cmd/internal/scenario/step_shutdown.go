package scenario

import (
	"cmp"
	"time"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/input/strict"
)

func init() {
	register("shut-down", "Shuts a node down gracefully: its pods end, and their volumes are unmounted if there is enough time; then the node is off.",
		`shut-down: {node: node-a, gracePeriod: 30s, gracePeriodCriticalPods: 10s}`, &shutDownStep{})
}

// defaultGrace is the example in Kubernetes' documentation; the kubelet's own default is no grace.
const defaultGrace = 30 * time.Second

// shutDownStep uses the kubelet's names for the grace periods of pods.
type shutDownStep struct {
	Node     string          `json:"node" want:"required" example:"node-a" doc:"The node."`
	Grace    strict.Duration `json:"gracePeriod,omitempty" default:"30s" example:"30s" doc:"The time for all pods together to end."`
	Critical strict.Duration `json:"gracePeriodCriticalPods,omitempty" default:"0s" example:"10s" doc:"The part of this time that is reserved for critical pods, which end last."`
}

func (s *shutDownStep) grace() fakekubelet.ShutdownGrace {
	return fakekubelet.ShutdownGrace{Total: cmp.Or(s.Grace.Duration, defaultGrace), Critical: s.Critical.Duration}
}

func (s *shutDownStep) check(c *checker) {
	if s.Node != "" {
		c.node("node", s.Node)
	}
	if grace := s.grace(); grace.Critical > grace.Total {
		c.report("gracePeriodCriticalPods", grace.Critical.String(), "at most the gracePeriod of "+grace.Total.String())
	}
}

func (s *shutDownStep) do(r *runner) error { return r.cluster.ShutDown(s.Node, s.grace()) }
