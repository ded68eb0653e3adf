package scenario

import "github.com/csisim/csisim/internal/input/strict"

func init() {
	register("expect", "Checks conditions on calls, objects and events at this point.", `
expect:
  calls: [NodeStageVolume, NodePublishVolume]
  objects:
  - {pod: web, phase: Running}
`, &expectStep{})
}

// expectStep checks expectations in the middle of a run.
type expectStep struct{ Expectations }

// UnmarshalStrict reads the expectations.
func (s *expectStep) UnmarshalStrict(n *strict.Node) { n.Decode(&s.Expectations) }

// JSONSchema is the schema of expectations.
func (expectStep) JSONSchema() map[string]any { return refTo[Expectations]() }

func (s *expectStep) check(c *checker) {
	if s.Fails != "" {
		c.report("fails", "fails in a step", "fails in the scenario's own expect: it is about the whole run")
	}
	s.Expectations.check(c)
}

func (s *expectStep) do(r *runner) error {
	if found := s.failures(r); len(found) > 0 {
		return failures(found)
	}
	return nil
}
