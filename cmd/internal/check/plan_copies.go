package check

// cloned is a claim for a copy of data's volume.
var cloned = claim{name: "cloned", form: filesystem, access: oneNodeRW, from: "{kind: PersistentVolumeClaim, name: data}"}

// restoredFrom is a claim for a volume with the content of a snapshot.
func restoredFrom(snapshot string) claim {
	return claim{name: "from-" + snapshot, form: filesystem, access: oneNodeRW, from: "{apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: " + snapshot + "}"}
}

// copies: volumes that are made of others while things go wrong, and snapshots beside each
// other.
func copies(p *plan) {
	snapshots := []string{p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter")}
	killed := append([]string{p.needsOurs()}, snapshots...)
	p.try("snapshot", "two-of-one", "Two snapshots of one volume, and a write between them; the first is deleted before the second is restored.",
		append([]string{p.fits(3)}, snapshots...), (*script).twoSnapshots)
	p.try("snapshot", "driver-killed", "The driver is killed before, while and after it cuts, and deletes, a snapshot.", killed, func(s *script) {
		s.killsDriver("CreateSnapshot")
		s.killsDriver("DeleteSnapshot")
		s.lifeWithSnapshot()
	})
	p.try("snapshot", "driver-killed-restoring", "The driver is killed before, while and after it makes a volume from a snapshot.", killed, func(s *script) {
		restored := restoredFrom("daily")
		reader := pod{name: "reader", node: nodeA, claims: []claim{restored}}
		s.up([]claim{data}, web(nodeA, data))
		s.snap("daily")
		s.killsDriver("CreateVolume")
		s.up([]claim{restored}, reader)
		s.forget("daily")
		s.down([]claim{data, restored}, web(nodeA, data), reader)
	})
	clones := []string{p.needsClones()}
	p.try("snapshot", "cloned", "A volume is made from another one; calls come twice.", clones, func(s *script) {
		s.fault(`call: "*", repeat: true`)
		s.lifeWithClone(func() {})
	})
	p.try("snapshot", "driver-killed-cloning", "The driver is killed before, while and after it makes a volume from another one.", append([]string{p.needsOurs()}, clones...), func(s *script) {
		s.lifeWithClone(func() { s.killsDriver("CreateVolume") })
	})
}

func (p *plan) needsClones() string {
	if !p.facts.caps.Controller.Has("CLONE_VOLUME") {
		return "the controller service lacks CLONE_VOLUME"
	}
	return ""
}

// lifeWithClone is the life of a volume of which another one is made.
func (s *script) lifeWithClone(before func()) {
	reader := pod{name: "reader", node: nodeA, claims: []claim{cloned}}
	s.up([]claim{data}, web(nodeA, data))
	before()
	s.up([]claim{cloned}, reader)
	s.down([]claim{data, cloned}, web(nodeA, data), reader)
}

// twoSnapshots: each has what the volume had when it was cut, and lives without the other.
func (s *script) twoSnapshots() {
	first, second := restoredFrom("first"), restoredFrom("second")
	writer := pod{name: "again", node: nodeA, claims: []claim{data}}
	s.up([]claim{data}, web(nodeA, data))
	s.snap("first")
	s.run(writer) // it writes what the first snapshot does not have
	s.snap("second")
	a := pod{name: "reader-a", node: nodeA, claims: []claim{first}}
	b := pod{name: "reader-b", node: nodeA, claims: []claim{second}}
	s.up([]claim{first}, a)
	s.forget("first")
	s.up([]claim{second}, b)
	s.forget("second")
	s.down([]claim{data, first, second}, web(nodeA, data), writer, a, b)
}

// snap cuts a snapshot of data's volume and waits until it is ready.
func (s *script) snap(name string) {
	s.apply(snapshotClass{}, snapshot{name, data})
	s.step(`wait: {volumesnapshot: %s, that: "object.status.readyToUse"}`, name)
}

// forget deletes a snapshot.
func (s *script) forget(name string) {
	s.step("delete: {volumesnapshot: %s}", name)
	s.step("wait: {volumesnapshot: %s, gone: true}", name)
}
