package check

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/judge/calls/addons"
	"github.com/csisim/csisim/sim"
)

// dayTwo is the group of trials of CSI-Addons.
const dayTwo = "day-2"

// operation is a call of CSI-Addons and the capability that announces it.
type operation struct{ call, capability string }

func operations(calls ...string) (all []operation) {
	for _, call := range calls {
		all = append(all, operation{call, addons.CapabilityOf(call)})
	}
	return all
}

// The operations by their subject, in the order in which they are made.
var (
	reclaims     = operations("NodeReclaimSpace", "ControllerReclaimSpace")
	rotations    = operations("EncryptionKeyRotate")
	fences       = operations("FenceClusterNetwork", "UnfenceClusterNetwork")
	replicas     = operations("EnableVolumeReplication", "PromoteVolume", "DemoteVolume", "ResyncVolume", "DisableVolumeReplication")
	volumeGroups = operations("CreateVolumeGroup", "ModifyVolumeGroupMembership", "DeleteVolumeGroup")
)

var (
	replicates = replicas[0].capability
	grouping   = volumeGroups[0].capability
	modifies   = volumeGroups[1].capability
)

// dayTwoSubject is the object of operations.
type dayTwoSubject struct {
	title, what string
	calls       []operation
	needs       []string // capabilities
	life        func(*script)
	unequal     bool // a repeated call has another answer, because less space can be reclaimed
}

var dayTwoSubjects = []dayTwoSubject{
	{title: "reclaim", what: "Space is reclaimed while a pod uses the volume and when none does", calls: reclaims, life: (*script).lifeWithReclaim, unequal: true},
	{title: "rotate", what: "The key is changed twice while a pod uses the volume", calls: rotations, needs: []string{rotations[0].capability}, life: (*script).lifeWithRotation},
	{title: "fence", what: "Addresses are fenced and unfenced while pods run", calls: fences, needs: []string{fences[0].capability}, life: (*script).lifeWithFence},
	{title: "replicate", what: "A volume is replicated, demoted, synchronized and promoted between its pods", calls: replicas, needs: []string{replicates}, life: (*script).lifeWithReplication},
	{title: "group", what: "Volumes are grouped, and the group is changed, replicated and deleted", calls: volumeGroups, needs: []string{grouping, replicates}, life: (*script).lifeWithVolumeGroup},
}

// dayTwoOperations are tried on drivers that serve CSI-Addons.
func dayTwoOperations(p *plan) {
	if len(p.facts.Addons.Capabilities) == 0 {
		return
	}
	for _, of := range dayTwoSubjects {
		p.trySubject(of)
	}
	p.tryDeleted()
	p.tryWrongIDs()
	p.tryOutOfOrder()
	p.trySites()
}

// trySubject tries the operations on a subject, without faults and with each fault of their calls.
func (p *plan) trySubject(of dayTwoSubject) {
	calls := p.promised(of.calls)
	needs := []string{p.needsPromises(of.needs...)}
	if len(calls) == 0 {
		needs = append(needs, p.needsPromises(of.calls[0].capability))
	}
	try := func(variant, what string, befall func(*script, string), also ...string) {
		p.try(dayTwo, of.title+variant, of.what+what+".", append(also, needs...), func(s *script) {
			s.addons = true
			for _, o := range calls {
				befall(s, o.call)
			}
			of.life(s)
		})
	}
	try("", "", func(*script, string) {})
	if !of.unequal {
		try("-repeated", "; each call comes twice", func(s *script, call string) { s.fault("call: %s, repeat: true", call) })
	}
	try("-lost", "; the answer of each call is lost, then late", func(s *script, call string) {
		s.fault("name: lost-%s, call: %[1]s, loseAnswer: true, times: 1", call)
		s.fault("name: late-%s, call: %[1]s, lateAnswer: true, times: 1", call)
	})
	try("-driver-killed", "; the driver is killed before and after each call, and between them", func(s *script, call string) {
		s.restarts = true
		s.killsDriver(call, 0)
	}, p.needsOurs())
	try("-sidecar-killed", "; the sidecar is killed before and after each call", func(s *script, call string) {
		for _, at := range []string{"receipt", "answer"} {
			s.fault("name: %s-%s, call: %[2]s, kill: caller, at: %[1]s, restartAfter: 3s", at, call)
		}
	})
}

// tryDeleted deletes a volume during a call for it.
func (p *plan) tryDeleted() {
	needs := []string{p.needsPromises(reclaims[1].capability), p.effects()[0].missing, p.needsOnePlace()}
	p.try(dayTwo, "deleted", "Space of a volume is reclaimed while it is deleted.", needs, func(s *script) {
		s.addons = true
		s.fault("name: held, call: ControllerReclaimSpace, holdRequest: true, times: 1")
		s.immediate = true
		s.claim(data)
		s.addonsReady()
		s.apply(job{kind: "ReclaimSpaceJob", name: "first"})
		s.step("wait: {call: ControllerReclaimSpace}")
		s.unclaim(data)
		s.step("clear-fault: held")
		s.step("advance: 10m")
	})
}

// tryWrongIDs makes calls with unknown ids, which a driver has to reject.
func (p *plan) tryWrongIDs() {
	calls := p.promised(slices.Concat(reclaims[1:], replicas, volumeGroups[:1]))
	p.try(dayTwo, "wrong-ids", "Operations name a volume that does not exist.", []string{p.needsAny(calls, replicates)}, func(s *script) {
		s.addons = true
		s.replicationClasses()
		s.apply(sameVolume{"missing", "csisim-check-missing"})
		s.step("wait: {pvc: missing, phase: Bound}")
		s.addonsReady()
		if p.has(reclaims[1].capability) {
			s.apply(job{kind: "ReclaimSpaceJob", name: "wrong", claim: "missing", limit: 1})
			s.step(`wait: {reclaimspacejob: wrong, that: "has(object.status.result)"}`)
		}
		if p.has(replicates) {
			s.apply(replicated{claim: "missing", state: "primary"})
			s.step("wait: {call: EnableVolumeReplication}")
			s.step("delete: {vr: vr}")
		}
		if p.has(grouping) && p.has(replicates) {
			s.apply(volumeGroup{})
			s.step("wait: {call: CreateVolumeGroup}")
			s.step("delete: {volumegroupreplication: group}")
		}
		s.step("advance: 1m")
		s.step("delete: {pvc: missing}")
		s.step("delete: {pv: missing}")
		for _, o := range calls {
			// Replication is already disabled for a volume that does not exist.
			if o.call != "DisableVolumeReplication" {
				s.forbid(o.call, "OK")
			}
		}
	})
}

// tryOutOfOrder requests the states of a replication in an unusual order.
func (p *plan) tryOutOfOrder() {
	p.try(dayTwo, "out-of-order", "A volume is replicated as a secondary, promoted twice, synchronized as a primary, and given up as a secondary.", []string{p.needsPromises(replicates)}, func(s *script) {
		s.addons = true
		s.replicationClasses()
		s.immediate = true
		s.claim(data)
		s.addonsReady()
		s.apply(replicated{claim: "data", state: "secondary"})
		s.step("advance: 1m")
		for _, state := range []string{"primary", "resync", "primary", "secondary", "primary", "secondary"} {
			s.wants(state)
			s.step("advance: 2m")
		}
		s.unreplicate()
		s.apply(replicated{claim: "data", state: "primary"})
		s.isPrimary()
		s.run(web(nodeA, data))
		s.end(web(nodeA, data))
		s.detached()
		s.unreplicate()
		s.unclaim(data)
	})
}

// has reports whether the driver has a capability of CSI-Addons.
func (p *plan) has(capability string) bool { return p.facts.Addons.Capabilities[capability] }

// promised returns the operations for which a driver has the capability.
func (p *plan) promised(all []operation) []operation {
	return slices.DeleteFunc(slices.Clone(all), func(o operation) bool { return !p.has(o.capability) })
}

func (p *plan) needsPromises(capabilities ...string) string {
	for _, name := range capabilities {
		if !p.has(name) {
			return "CSI-Addons lacks " + name
		}
	}
	return ""
}

func (p *plan) needsAny(calls []operation, capability string) string {
	if len(calls) > 0 {
		return ""
	}
	return p.needsPromises(capability)
}

// addonsSidecars returns the sidecars for the controller plugin and the node plugins; a mock has
// its own sidecars.
func (f *Facts) addonsSidecars(nodes ...string) []sim.AddonsSidecar {
	d := f.subject.Driver
	if d.Mock != nil {
		return nil
	}
	var all []sim.AddonsSidecar
	twoSockets := d.Socket != nil && d.Socket.Controller != d.Socket.Node && d.Socket.Addons == ""
	if !d.NoController && (!f.subject.oneNode() || twoSockets) {
		all = append(all, sim.AddonsSidecar{})
	}
	for _, node := range nodes {
		all = append(all, sim.AddonsSidecar{Node: node})
	}
	return all
}

// restart restarts the controller plugin, if the script requires it and the plugin is separate from
// the node plugins.
func (s *script) restart() {
	if s.restarts && !s.facts.subject.oneNode() && !s.facts.subject.Driver.NoController {
		s.step("kill-driver: {controller: true}")
		s.step("start-driver: {controller: true}")
		s.step("advance: 1m")
	}
}

// forbid adds the rule that a call must not be answered with a code.
func (s *script) forbid(call, code string) {
	if s.expect == "" {
		s.expect = "  forbidden:\n"
	}
	s.expect += fmt.Sprintf("  - {call: %s, code: %s}\n", call, code)
}

// addonsLease waits until a sidecar has the lease of the leader.
func (s *script) addonsLease() {
	s.step("wait: {lease: %s-csi-addons, namespace: kube-system}", sidecar.Sanitized(s.facts.Name))
}

// addonsReady waits until the manager is connected to the sidecars.
func (s *script) addonsReady() {
	s.addonsLease()
	s.step("advance: 1m")
}
