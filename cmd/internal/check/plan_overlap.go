package check

// overlappingCalls: every call comes twice at once, as it does when a caller that has lost
// its memory makes it again while the driver works. The driver may answer one with ABORTED.
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
