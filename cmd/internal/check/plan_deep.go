package check

// deep is the group of trials that search many runs of a scenario.
const deep = "deep"

// PlanDeep composes the scenarios for searches. Their expectations hold in every order and with
// every fault.
func PlanDeep(f *Facts) ([]*Trial, error) {
	p := &plan{facts: f}
	for _, add := range []func(*plan){deepLife, deepMove, deepShare, deepBlock, deepGrow, deepSnapshot, deepRestore, deepClone, deepInline} {
		add(p)
	}
	return p.trials, p.err
}

// search composes a scenario for a search.
func (p *plan) search(title, description string, needs []string, compose func(*script)) {
	p.try(deep, title, description, append([]string{p.needsFresh()}, needs...), compose)
}

// needsFresh returns the reason why searches cannot be made; empty if they can. Each run of a
// search starts a new driver.
func (p *plan) needsFresh() string {
	if p.facts.subject.ours() {
		return ""
	}
	return "a search takes a fresh driver for every run, which csisim cannot start at a socket"
}

func deepLife(p *plan) {
	p.search("life", "The life of a volume.", nil, func(s *script) {
		s.life([]claim{data}, web(nodeA, data))
	})
}

// deepMove ends the pod of a volume and uses the volume in a pod on another node.
func deepMove(p *plan) {
	p.search("move", "A volume that is used on one node, then on another.", []string{p.needsNodes(), p.needsOnePlace()}, func(s *script) {
		moved := pod{name: "moved", node: nodeB, claims: []claim{data}}
		s.up([]claim{data}, web(nodeA, data))
		s.end(web(nodeA, data))
		s.run(moved)
		s.down([]claim{data}, moved)
	})
}

// deepShare uses a volume in two pods of a node. The volume stays staged between them.
func deepShare(p *plan) {
	p.search("share", "A volume that two pods of a node use.", nil, func(s *script) {
		other := pod{name: "other", node: nodeA, claims: []claim{data}}
		s.up([]claim{data}, web(nodeA, data))
		s.run(other)
		s.end(web(nodeA, data))
		s.down([]claim{data}, other)
	})
}

func deepBlock(p *plan) {
	p.search("block", "The life of a raw block volume.", []string{p.needsKind(block, oneNodeRW)}, func(s *script) {
		s.life([]claim{blockData}, web(nodeA, blockData))
	})
}

func deepGrow(p *plan) {
	p.search("grow", "A volume that grows while a pod uses it.", []string{p.needsGrowth(), p.needsOnline()}, (*script).lifeWithGrowth)
}

func deepSnapshot(p *plan) {
	needs := []string{p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter")}
	p.search("snapshot", "A snapshot of a volume in use.", needs, func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		s.apply(snapshotClass{}, snapshot{"daily", data})
		s.step(`wait: {volumesnapshot: daily, that: "object.status.readyToUse"}`)
		s.step("delete: {volumesnapshot: daily}")
		// csi-snapshotter resyncs every 15 minutes: C-SNAP-30
		s.step("wait: {volumesnapshot: daily, gone: true, for: 30m}")
		s.down([]claim{data}, web(nodeA, data))
	})
}

// deepRestore makes a volume from a snapshot.
func deepRestore(p *plan) {
	needs := []string{p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter"), p.fits(2)}
	p.search("restore", "A snapshot that becomes a volume.", needs, func(s *script) {
		restored := restoredFrom("daily")
		reader := pod{name: "reader", node: nodeA, claims: []claim{restored}}
		s.up([]claim{data}, web(nodeA, data))
		s.apply(snapshotClass{}, snapshot{"daily", data})
		s.step(`wait: {volumesnapshot: daily, that: "object.status.readyToUse"}`)
		s.up([]claim{restored}, reader)
		s.end(reader)
		s.step("delete: {volumesnapshot: daily}")
		s.step("wait: {volumesnapshot: daily, gone: true, for: 30m}") // C-SNAP-30
		s.step("delete: {pvc: %s}", restored.name)
		s.down([]claim{data}, web(nodeA, data))
	})
}

// deepClone creates a volume from another one.
func deepClone(p *plan) {
	p.search("clone", "A clone of a volume in use.", []string{p.needsClones(), p.fits(2)}, func(s *script) {
		reader := pod{name: "reader", node: nodeA, claims: []claim{cloned}}
		s.up([]claim{data}, web(nodeA, data))
		s.up([]claim{cloned}, reader)
		s.down([]claim{data, cloned}, web(nodeA, data), reader)
	})
}

// deepInline uses an inline volume, which exists only as long as its pod.
func deepInline(p *plan) {
	if !p.facts.Inline() || p.facts.InlineRefused != "" {
		return
	}
	p.search(inline, "The life of an inline volume.", nil, func(s *script) { s.lifeInline(worker("web", tmp)) })
}

// Searches splits trials into plain ones and searches.
func Searches(trials []*Trial) (plain, searched []*Trial) {
	for _, t := range trials {
		if t.Group == deep {
			searched = append(searched, t)
		} else {
			plain = append(plain, t)
		}
	}
	return plain, searched
}

// Shared returns the trial with the reason that it cannot be searched: parallel runs disturb each
// other.
func (t *Trial) Shared() *Trial {
	kept := *t
	kept.NotOffered = "the driver keeps its volumes outside of the run, and a search takes a fresh one for every run"
	return &kept
}

// Interrupted returns the trial with the reason that an interrupt prevented it.
func (t *Trial) Interrupted() *Trial { return t.without(Interrupt, interrupted) }
