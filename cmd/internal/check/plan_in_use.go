package check

import (
	"fmt"
	"slices"
)

// mountsInUse keeps a mount in use when the driver unmounts it, like a process with an open file or
// a program that scans mounts. The driver has to fail the call, which Kubernetes then repeats, or
// to retry the unmount itself.
func mountsInUse(p *plan) {
	needs := []string{p.needsOurs(), p.needsProgram()}
	try := func(call string, needs []string, life func(*script)) {
		p.try("in-use", call, fmt.Sprintf("The first mount that %s unmounts is in use.", call), needs, func(s *script) {
			s.findsInUse(call)
			life(s)
		})
	}
	for _, e := range p.mounting() {
		try(e.call, append(slices.Clone(needs), e.missing), func(s *script) { s.lifeWith(e) })
	}
	p.try("in-use", "block", "The first mount that each call unmounts is in use, for a raw block volume.", append(slices.Clone(needs), p.needsKind(block, oneNodeRW)), func(s *script) {
		for _, e := range p.mounting() {
			if e.missing == "" {
				s.findsInUse(e.call)
			}
		}
		s.life([]claim{blockData}, web(nodeA, blockData))
	})
	for _, call := range []string{"CreateSnapshot", "DeleteSnapshot"} {
		try(call, append(slices.Clone(needs), p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter")), (*script).lifeWithSnapshot)
	}
}

// findsInUse lets a call find a mount in use once.
func (s *script) findsInUse(call string) {
	s.unmounts = true
	s.fault("call: %s, inUse: true, times: 1", call)
}

// mounting are the calls of a volume's life during which drivers mount and unmount.
func (p *plan) mounting() []effect {
	return slices.DeleteFunc(p.effects(), func(e effect) bool {
		return e.call == "ControllerPublishVolume" || e.call == "ControllerUnpublishVolume"
	})
}

// needsProgram returns the reason why trials with mounts cannot be run; empty if they can. A mock
// creates no mounts.
func (p *plan) needsProgram() string {
	if p.facts.subject.Driver.Mock != nil {
		return "the driver is no program"
	}
	return ""
}
