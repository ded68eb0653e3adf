package check

import "fmt"

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
	p.try("snapshot", "driver-killed-restoring", "The driver is killed before, while and after it makes volumes from a snapshot.", append(killed[:len(killed):len(killed)], p.fits(manyKills+1)), func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		s.snap("daily")
		claims, pods := s.copiesOfKilled(restoredFrom("daily"))
		s.forget("daily")
		s.down(append(claims, data), append(pods, web(nodeA, data))...)
	})
	clones := []string{p.needsClones()}
	p.try("snapshot", "cloned", "A volume is made from another one; calls come twice.", clones, func(s *script) {
		s.fault(`call: "*", repeat: true`)
		s.lifeWithClone()
	})
	p.try("snapshot", "driver-killed-cloning", "The driver is killed before, while and after it makes volumes from another one.", append([]string{p.needsOurs(), p.needsClones()}, p.fits(manyKills+1)), func(s *script) {
		s.up([]claim{data}, web(nodeA, data))
		claims, pods := s.copiesOfKilled(cloned)
		s.down(append(claims, data), append(pods, web(nodeA, data))...)
	})
}

func (p *plan) needsClones() string {
	if !p.facts.caps.Controller.Has("CLONE_VOLUME") {
		return "the controller service lacks CLONE_VOLUME"
	}
	return ""
}

// lifeWithClone is the life of a volume of which another one is made.
func (s *script) lifeWithClone() {
	reader := pod{name: "reader", node: nodeA, claims: []claim{cloned}}
	s.up([]claim{data}, web(nodeA, data))
	s.up([]claim{cloned}, reader)
	s.down([]claim{data, cloned}, web(nodeA, data), reader)
}

// manyKills is how often a driver is killed while it copies: where it stands then is a matter
// of microseconds, and a copy that is there by half shows once only.
const manyKills = 8

// copiesOfKilled makes copies like c, and kills the driver while it makes each, at the first
// also before and after; a pod reads each.
func (s *script) copiesOfKilled(c claim) (claims []claim, pods []pod) {
	name := c.name
	for i := range manyKills {
		c.name = fmt.Sprintf("%s-%d", name, i)
		reader := pod{name: fmt.Sprintf("reader-%d", i), node: nodeA, claims: []claim{c}}
		if i == 0 {
			s.killsDriver("CreateVolume")
		} else {
			s.fault("name: killed-%d, call: CreateVolume, kill: driver, at: work, restartAfter: 1s", i)
		}
		s.up([]claim{c}, reader)
		claims, pods = append(claims, c), append(pods, reader)
	}
	return claims, pods
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
