package check

// listed requests a driver's lists in each supported way. csi-attacher reads a list page by
// page if its flags say so, and backup programs list the snapshots of one volume.
func listed(p *plan) {
	logs := claim{name: "logs", form: filesystem, access: oneNodeRW}
	p.try("listed", "volumes", "There are three volumes, and a pod uses one; all are listed at once, page by page, and each by itself.",
		[]string{p.needsCapability("LIST_VOLUMES"), p.fits(3)}, func(s *script) {
			s.fault("call: CreateVolume, repeat: true")
			s.fault("call: ControllerPublishVolume, repeat: true")
			more := claim{name: "more", form: filesystem, access: oneNodeRW}
			s.immediate = true
			s.claim(data, logs, more)
			s.run(web(nodeA, data))
			s.down([]claim{data, logs, more}, web(nodeA, data))
		})
	p.try("listed", "snapshots", "There are three snapshots of two volumes; all are listed at once, page by page, by volume, and each by itself.",
		[]string{p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter"), p.needsCapability("LIST_SNAPSHOTS"), p.fits(2)}, func(s *script) {
			s.fault("call: CreateSnapshot, repeat: true")
			other := pod{name: "other", node: nodeA, claims: []claim{logs}}
			s.up([]claim{data, logs}, web(nodeA, data), other)
			s.snapOf("of-logs", logs)
			s.snap("first")
			s.snap("second")
			for _, name := range []string{"first", "second", "of-logs"} {
				s.forget(name)
			}
			s.down([]claim{data, logs}, web(nodeA, data), other)
		})
}

// needsCapability returns the reason why the controller service lacks a capability; empty if it has
// the capability.
func (p *plan) needsCapability(name string) string {
	if p.facts.caps.Controller.Has(name) {
		return ""
	}
	return "the controller service lacks " + name
}
