package check

// overlappingCalls makes every call twice at once, like a restarted caller that repeats a call
// while the driver is still processing it. The driver may answer one of them with ABORTED.
func overlappingCalls(p *plan) {
	for _, e := range p.effects() {
		p.try("overlap", e.call, e.call+" comes twice at once.", []string{e.missing}, func(s *script) {
			s.fault("call: %s, overlap: true, times: 1", e.call)
			s.life([]claim{data}, web(nodeA, data))
		})
	}
	p.try("overlap", "block", "Every call for a raw block volume comes twice at once.", []string{p.needsKind(block, oneNodeRW)}, func(s *script) {
		for _, e := range p.effects() {
			if e.missing == "" {
				s.fault("call: %s, overlap: true, times: 1", e.call)
			}
		}
		s.life([]claim{blockData}, web(nodeA, blockData))
	})
}
