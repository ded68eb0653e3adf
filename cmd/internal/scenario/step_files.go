package scenario

func init() {
	register("record-files", "Writes a listing of a kubelet's directory into the trace: modes, mounts, links and volume data.",
		`record-files: {node: node-a, when: while mounted}`, &recordFilesStep{})
}

// recordFilesStep records the files on a node's disk, for comparisons of traces.
type recordFilesStep struct {
	Node string `json:"node" want:"required" example:"node-a" doc:"The node."`
	When string `json:"when,omitempty" example:"while mounted" doc:"A description of the moment, for the trace."`
}

func (s *recordFilesStep) check(c *checker) {
	if s.Node != "" {
		c.node("node", s.Node)
	}
}

func (s *recordFilesStep) do(r *runner) error { return r.cluster.RecordFiles(s.Node, s.When) }
