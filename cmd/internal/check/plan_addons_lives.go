package check

import "strings"

// lifeWithReclaim ends with a pod that reads its data after space was reclaimed.
func (s *script) lifeWithReclaim() {
	s.up([]claim{data}, web(nodeA, data))
	s.addonsReady()
	s.work(job{kind: "ReclaimSpaceJob", name: "in-use"})
	s.work(job{kind: "ReclaimSpaceJob", name: "again"})
	s.end(web(nodeA, data))
	s.detached()
	if s.facts.Addons.Capabilities[reclaims[1].capability] {
		s.work(job{kind: "ReclaimSpaceJob", name: "unused"})
	}
	s.run(web(nodeA, data))
	s.down([]claim{data}, web(nodeA, data))
}

func (s *script) lifeWithRotation() {
	s.up([]claim{data}, web(nodeA, data))
	s.addonsReady()
	s.work(job{kind: "EncryptionKeyRotationJob", name: "first"})
	s.work(job{kind: "EncryptionKeyRotationJob", name: "again"})
	s.end(web(nodeA, data))
	s.run(web(nodeA, data))
	s.down([]claim{data}, web(nodeA, data))
}

// documentation is an address range that no node has.
const documentation = "192.0.2.0/24"

// lifeWithFence fences the node of a pod if its addresses are known. No other pod can start on the
// node meanwhile.
func (s *script) lifeWithFence() {
	cidrs := s.facts.Addons.Clients[nodeA]
	known := len(cidrs) > 0
	if !known {
		cidrs = []string{documentation}
	}
	other := claim{name: "other", form: filesystem, access: oneNodeRW}
	late := pod{name: "late", node: nodeA, claims: []claim{other}}
	s.apply(addonsSecret{}, fenceClass{})
	s.claim(data, other)
	s.run(web(nodeA, data))
	s.addonsReady()
	s.step("apply: {apiVersion: csiaddons.openshift.io/v1alpha1, kind: NetworkFence, metadata: {name: fence}, spec: {networkFenceClassName: day-2, cidrs: [%s]}}", strings.Join(cidrs, ", "))
	s.step("wait: {networkfence: fence, that: \"has(object.status.message) && object.status.message == 'fencing operation successful'\", for: 3h}")
	if known && s.facts.subject.Driver.Mock == nil { // the mock refuses calls only
		s.step("write-file: {pod: web, volume: data, file: fenced, content: lost, refused: true}")
	}
	s.restart()
	s.apply(late)
	if known {
		s.step("advance: 1m")
	} else {
		s.running(late)
	}
	s.step("patch: {networkfence: fence, merge: {spec: {fenceState: Unfenced}}}")
	s.step("wait: {networkfence: fence, that: \"object.status.message == 'unfencing operation successful'\", for: 3h}")
	s.running(late)
	s.step("write-file: {pod: web, volume: data, file: unfenced, content: kept}")
	s.step("delete: {networkfence: fence}")
	s.step("wait: {networkfence: fence, gone: true}")
	s.down([]claim{data, other}, web(nodeA, data), late)
}

// wants changes the desired state of a volume.
func (s *script) wants(state string) {
	s.step("patch: {vr: vr, merge: {spec: {replicationState: %s}}}", state)
}

// becomes changes the desired state and waits until the volume has reached it.
func (s *script) becomes(state, message string) {
	s.wants(state)
	s.step("wait: {vr: vr, that: \"has(object.status.message) && object.status.message == '%s'\", for: 3h}", message)
}

func (s *script) isPrimary() {
	s.step("wait: {vr: vr, that: \"has(object.status.state) && object.status.state == 'Primary'\", for: 3h}")
}

// unreplicate removes the volume from its replication.
func (s *script) unreplicate() {
	s.step("delete: {vr: vr}")
	s.step("wait: {vr: vr, gone: true, for: 3h}")
}

// lifeWithReplication: a pod that writes to the secondary has to wait until the volume is primary
// again.
func (s *script) lifeWithReplication() {
	s.replicationClasses()
	s.up([]claim{data}, web(nodeA, data))
	s.addonsReady()
	s.apply(replicated{claim: "data", state: "primary"})
	s.isPrimary()
	s.end(web(nodeA, data))
	s.detached()
	s.becomes("secondary", "volume is marked secondary")
	s.restart()
	s.apply(web(nodeA, data))
	s.step("advance: 1m")
	s.step("delete: {pod: web}")
	s.step("wait: {pod: web, gone: true}")
	s.detached()
	s.becomes("resync", "volume is marked for resyncing")
	s.becomes("primary", "volume is marked primary")
	s.run(web(nodeA, data))
	s.end(web(nodeA, data))
	s.detached()
	s.unreplicate()
	s.unclaim(data)
}

// lifeWithVolumeGroup groups the volume of one claim, then of two.
func (s *script) lifeWithVolumeGroup() {
	joins := s.facts.Addons.Capabilities[modifies]
	first, second := groupClaims[0], groupClaims[1]
	second.grouped = !joins
	claims := []claim{first, second}
	s.replicationClasses()
	s.up(claims, web(nodeA, claims...))
	s.addonsReady()
	s.apply(volumeGroup{})
	s.step("wait: {call: PromoteVolume, code: OK, for: 3h}")
	s.step("advance: 1m")
	if joins {
		s.step("patch: {pvc: %s, merge: {metadata: {labels: %s}}}", second.name, groupLabels)
		s.step("wait: {call: ModifyVolumeGroupMembership, code: OK, for: 3h}")
		s.step("advance: 1m")
	}
	s.end(web(nodeA, claims...))
	s.detached()
	s.step("delete: {volumegroupreplication: group}")
	s.step("wait: {volumegroupreplication: group, gone: true, for: 3h}")
	s.run(web(nodeA, claims...))
	s.down(claims, web(nodeA, claims...))
}
