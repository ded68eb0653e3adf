package check

import (
	"fmt"
	"slices"
)

// cloned is a claim for a copy of data's volume.
var cloned = claim{name: "cloned", form: filesystem, access: oneNodeRW, from: "{kind: PersistentVolumeClaim, name: data}"}

// restoredFrom is a claim for a volume with the content of a snapshot.
func restoredFrom(snapshot string) claim {
	return claim{name: "from-" + snapshot, form: filesystem, access: oneNodeRW, from: "{apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: " + snapshot + "}"}
}

// copies creates volumes from others while calls fail, and several snapshots of a volume.
func copies(p *plan) {
	snapshots := []string{p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter")}
	killed := append([]string{p.needsOurs()}, snapshots...)
	p.try("snapshot", "two-of-one", "Two snapshots of one volume, and a write between them; the first is deleted before the second is restored.",
		append([]string{p.fits(3)}, snapshots...), (*script).twoSnapshots)
	p.try("snapshot", "of-two-volumes", "Each of two volumes has a snapshot, which becomes a new volume.",
		append([]string{p.fits(4)}, snapshots...), (*script).snapshotsOfTwo)
	p.try("snapshot", "source-deleted", "A snapshot of an unused volume becomes a new volume after the first one is deleted.",
		append([]string{p.fits(2)}, snapshots...), (*script).snapshotWithoutSource)
	p.try("snapshot", "restored-twice", "A snapshot becomes a volume, which is deleted, and then another one.", append([]string{p.fits(2)}, snapshots...), (*script).twoRestored)
	p.largerCopies("larger", "A snapshot becomes a volume that is larger.", snapshots, largerSnapshot)
	var kills []part
	for _, call := range []string{"CreateSnapshot", "DeleteSnapshot"} {
		for _, k := range killsOf(call, 1) {
			kills = append(kills, part{call + "-" + k.title, k.description, func(s *script) {
				k.compose(s)
				s.lifeWithSnapshot()
			}})
		}
	}
	p.tryEach("snapshot", "driver-killed", "The driver is killed before, while and after it cuts, and deletes, a snapshot.", killed, kills, func(s *script) {
		s.killsDriver("CreateSnapshot", 1)
		s.killsDriver("DeleteSnapshot", 1)
		s.lifeWithSnapshot()
	})
	p.copiesOfKilled("driver-killed-restoring", "a volume from a snapshot", append(killed[:len(killed):len(killed)], p.fits(2)), func(s *script, make func(claim)) {
		s.snap("daily")
		make(restoredFrom("daily"))
		s.forget("daily")
	})
	clones := []string{p.needsClones()}
	p.try("snapshot", "cloned", "A volume is made from another one; calls come twice.", clones, func(s *script) {
		s.fault(`call: "*", repeat: true`)
		s.lifeWithClone()
	})
	p.try("snapshot", "cloned-again", "A volume is made from another one, which is written to; then another copy is made.", []string{p.needsClones(), p.fits(3)}, (*script).twoClones)
	p.try("snapshot", "cloned-source-deleted", "A volume is made from another one, which is deleted then.", []string{p.needsClones(), p.fits(2)}, (*script).cloneWithoutSource)
	p.try("snapshot", "clone-deleted", "A volume is made from another one and deleted; the other one has its content still.", []string{p.needsClones(), p.fits(2)}, (*script).sourceWithoutClone)
	p.largerCopies("cloned-larger", "A larger volume is made from another one.", clones, largerClone)
	p.copiesOnAFullDisk(snapshots)
	p.copiesOfKilled("driver-killed-cloning", "a volume from another one", []string{p.needsOurs(), p.needsClones(), p.fits(2)}, func(_ *script, make func(claim)) { make(cloned) })
}

func (p *plan) needsClones() string {
	if !p.facts.caps.Controller.Has("CLONE_VOLUME") {
		return "the controller service lacks CLONE_VOLUME"
	}
	return ""
}

// lifeWithClone is the life of a volume that is cloned.
func (s *script) lifeWithClone() {
	reader := pod{name: "reader", node: nodeA, claims: []claim{cloned}}
	s.up([]claim{data}, web(nodeA, data))
	s.up([]claim{cloned}, reader)
	s.down([]claim{data, cloned}, web(nodeA, data), reader)
}

// twoClones checks that each clone has the content of its source at the time of the cloning.
func (s *script) twoClones() {
	again := cloned
	again.name = "cloned-again"
	writer := pod{name: "again", node: nodeA, claims: []claim{data}}
	first, second := pod{name: "reader-a", node: nodeA, claims: []claim{cloned}}, pod{name: "reader-b", node: nodeA, claims: []claim{again}}
	s.up([]claim{data}, web(nodeA, data))
	s.up([]claim{cloned}, first)
	s.run(writer)
	s.up([]claim{again}, second)
	s.down([]claim{data, cloned, again}, web(nodeA, data), writer, first, second)
}

// copyKills is the highest number of file changes after which a driver is killed during a copy.
// They include its records of the copy and the first parts of the content.
const copyKills = 6

// copiesOfKilled composes a separate trial for each file change after which the driver is killed
// during a copy. In one trial, a kill from which the driver does not recover would hide the effects
// of the next kill.
func (p *plan) copiesOfKilled(title, what string, needs []string, with func(s *script, make func(claim))) {
	life := func(kill func(*script)) func(*script) {
		return func(s *script) {
			s.up([]claim{data}, web(nodeA, data))
			claims, pods := []claim{data}, []pod{web(nodeA, data)}
			with(s, func(copied claim) {
				reader := pod{name: "reader", node: nodeA, claims: []claim{copied}}
				kill(s)
				s.up([]claim{copied}, reader)
				claims, pods = append(claims, copied), append(pods, reader)
			})
			s.down(claims, pods...)
		}
	}
	var kills []part
	for _, k := range killsOf("CreateVolume", 0) {
		kills = append(kills, part{k.title, k.description, life(k.compose)})
	}
	p.tryEach("snapshot", title, "The driver is killed before and after it makes "+what+".", needs, kills, life(func(s *script) { s.killsDriver("CreateVolume", 0) }))
	if first(append(needs, p.needsProgram())...) != "" {
		return
	}
	for changes := 1; changes <= copyKills; changes++ {
		description := fmt.Sprintf("The driver is killed while it makes %s, after %d of its changes of files.", what, changes)
		p.try("snapshot", fmt.Sprintf("%s-%d", title, changes), description, needs, life(func(s *script) { s.killsAtWork("CreateVolume", changes) }))
	}
}

// twoSnapshots checks that each snapshot keeps the content from the time at which it was taken,
// even after the other snapshot is deleted.
func (s *script) twoSnapshots() {
	first, second := restoredFrom("first"), restoredFrom("second")
	writer := pod{name: "again", node: nodeA, claims: []claim{data}}
	s.up([]claim{data}, web(nodeA, data))
	s.snap("first")
	s.run(writer) // this writes content that the first snapshot lacks
	s.snap("second")
	a := pod{name: "reader-a", node: nodeA, claims: []claim{first}}
	b := pod{name: "reader-b", node: nodeA, claims: []claim{second}}
	s.up([]claim{first}, a)
	s.forget("first")
	s.up([]claim{second}, b)
	s.forget("second")
	s.down([]claim{data, first, second}, web(nodeA, data), writer, a, b)
}

// snapshotsOfTwo checks that each snapshot has the content of its own volume.
func (s *script) snapshotsOfTwo() {
	logs := claim{name: "logs", form: filesystem, access: oneNodeRW}
	other := pod{name: "other", node: nodeA, claims: []claim{logs}}
	ofData, ofLogs := restoredFrom("of-data"), restoredFrom("of-logs")
	a, b := pod{name: "reader-a", node: nodeA, claims: []claim{ofData}}, pod{name: "reader-b", node: nodeA, claims: []claim{ofLogs}}
	s.up([]claim{data}, web(nodeA, data))
	s.up([]claim{logs}, other)
	s.snapOf("of-data", data)
	s.snapOf("of-logs", logs)
	s.up([]claim{ofData, ofLogs}, a, b)
	s.forget("of-data")
	s.forget("of-logs")
	s.down([]claim{data, logs, ofData, ofLogs}, web(nodeA, data), other, a, b)
}

// snapshotWithoutSource deletes the volume before its snapshot. A driver may refuse to delete the
// volume as long as it has snapshots.
func (s *script) snapshotWithoutSource() {
	restored := restoredFrom("daily")
	reader := pod{name: "reader", node: nodeA, claims: []claim{restored}}
	s.up([]claim{data}, web(nodeA, data))
	s.end(web(nodeA, data))
	s.detached()
	s.snap("daily")
	s.deleteSource()
	s.up([]claim{restored}, reader)
	s.end(reader)
	s.detached()
	s.forget("daily")
	s.goneInTime(restored)
}

// cloneWithoutSource deletes the source before its clone, which must not depend on it. A driver may
// refuse to delete the source as long as the clone exists.
func (s *script) cloneWithoutSource() {
	reader, after := pod{name: "reader", node: nodeA, claims: []claim{cloned}}, pod{name: "after", node: nodeA, claims: []claim{cloned}}
	s.up([]claim{data}, web(nodeA, data))
	s.up([]claim{cloned}, reader)
	s.end(web(nodeA, data), reader)
	s.detached()
	s.deleteSource()
	s.run(after)
	s.end(after)
	s.detached()
	s.goneInTime(cloned)
}

// sourceWithoutClone deletes a clone, which must not change its source.
func (s *script) sourceWithoutClone() {
	reader, after := pod{name: "reader", node: nodeA, claims: []claim{cloned}}, pod{name: "after", node: nodeA, claims: []claim{data}}
	s.up([]claim{data}, web(nodeA, data))
	s.up([]claim{cloned}, reader)
	s.end(web(nodeA, data), reader)
	s.detached()
	s.deleteCopy(cloned)
	s.run(after)
	s.down([]claim{data}, after)
}

// twoRestored restores a snapshot and deletes the restored volume. Neither may affect the snapshot
// or its source.
func (s *script) twoRestored() {
	again := restoredFrom("daily")
	first := again
	first.name = "first"
	reader, rereader := pod{name: "reader", node: nodeA, claims: []claim{first}}, pod{name: "again", node: nodeA, claims: []claim{again}}
	after := pod{name: "after", node: nodeA, claims: []claim{data}}
	s.up([]claim{data}, web(nodeA, data))
	s.snap("daily")
	s.up([]claim{first}, reader)
	s.end(web(nodeA, data), reader)
	s.detached()
	s.deleteCopy(first)
	s.up([]claim{again}, rereader)
	s.run(after)
	s.end(rereader, after)
	s.detached()
	s.forget("daily")
	s.unclaim(data, again)
}

// deleteCopy deletes a claim while another one stays.
func (s *script) deleteCopy(c claim) {
	s.step("delete: {pvc: %s}", c.name)
	s.step("wait: {call: DeleteVolume, code: OK}")
	s.step("advance: 1m")
}

func (s *script) deleteSource() {
	s.step("delete: {pvc: data}")
	s.step("advance: 1m")
}

// goneInTime deletes a copy. It waits until the copy is deleted, and until objects are deleted that
// the driver may have refused to delete before.
func (s *script) goneInTime(c claim) {
	s.step("delete: {pvc: %s}", c.name)
	s.step(`wait: {pv: "*", gone: true, for: 30m}`)
}

// largerCopies creates volumes that are larger than their source, which is a snapshot or another
// volume. A driver may refuse that. Otherwise the new volume has the content of its source and the
// size that the driver answers.
func (p *plan) largerCopies(title, description string, needs []string, with func(s *script, copies func(claim))) {
	for _, of := range []claim{data, blockData} {
		title := title
		if of.form == block {
			title += "-block"
		}
		p.try("snapshot", title, description, append([]string{p.needsKind(of.form, of.access), p.fits(2)}, needs...), func(s *script) {
			s.up([]claim{of}, web(nodeA, of))
			with(s, func(c claim) {
				c.form, c.larger = of.form, true
				reader := pod{name: "reader", node: nodeA, claims: []claim{c}}
				s.fault("name: again, call: CreateVolume, repeat: true")
				s.apply(c, reader)
				s.step("advance: 2m")
				s.end(web(nodeA, of), reader)
				s.detached()
				// Delete the copy before its source, because the source stays as long as a claim
				// waits for a copy of it.
				s.step("delete: {pvc: %s}", c.name)
				s.step("wait: {pvc: %s, gone: true}", c.name)
			})
			s.unclaim(of)
		})
	}
}

// largerSnapshot and largerClone are the copies of largerCopies.
func largerSnapshot(s *script, copies func(claim)) {
	s.snap("daily")
	copies(restoredFrom("daily"))
	s.forget("daily")
}

func largerClone(_ *script, copies func(claim)) { copies(cloned) }

// copyOpens is the highest number of the file that a driver cannot open during a copy.
const copyOpens = 5

// copiesOnAFullDisk fails one open call of the driver while it takes a snapshot, and while it
// creates a volume from a snapshot or from another volume. A driver that ignores the error leaves a
// copy without content.
func (p *plan) copiesOnAFullDisk(snapshots []string) {
	needs := []string{p.needsOurs(), p.needsProgram()}
	ofSnapshots := append(slices.Clone(needs), snapshots...)
	p.onFullDisk("full-disk", "CreateSnapshot", "cuts a snapshot", ofSnapshots, (*script).copyOfSnapshot)
	p.onFullDisk("full-disk-restoring", "CreateVolume", "makes a volume from a snapshot", append(ofSnapshots, p.fits(2)), (*script).copyOfSnapshot)
	p.onFullDisk("full-disk-copying", "CreateVolume", "makes a volume from another one", append(needs, p.needsClones(), p.fits(2)), (*script).copyOfVolume)
}

func (p *plan) onFullDisk(title, call, does string, needs []string, life func(s *script, fails func())) {
	var parts []part
	for nth := 1; nth <= copyOpens; nth++ {
		name := fmt.Sprintf("fail-%d", nth)
		parts = append(parts, part{name, fmt.Sprintf("While the driver %s, it cannot open file number %d.", does, nth), func(s *script) {
			life(s, func() {
				s.fault("name: %s, call: %s, syscall: open, nth: %d, fails: ENOSPC, times: 1", name, call, nth)
			})
			s.step("clear-fault: %s", name)
		}})
	}
	p.tryEach("snapshot", title, fmt.Sprintf("While the driver %s, it cannot open a file, each of the first %d once.", does, copyOpens), needs, parts, func(s *script) {
		for _, of := range parts {
			of.compose(s)
		}
	})
}

// copyOfSnapshot creates a volume from a snapshot of another volume, after a fault.
func (s *script) copyOfSnapshot(fails func()) {
	restored := restoredFrom("daily")
	reader := pod{name: "reader", node: nodeA, claims: []claim{restored}}
	s.up([]claim{data}, web(nodeA, data))
	fails()
	s.snap("daily")
	s.up([]claim{restored}, reader)
	s.forget("daily")
	s.down([]claim{data, restored}, web(nodeA, data), reader)
}

// copyOfVolume creates a volume from another one, after a fault.
func (s *script) copyOfVolume(fails func()) {
	reader := pod{name: "reader", node: nodeA, claims: []claim{cloned}}
	s.up([]claim{data}, web(nodeA, data))
	fails()
	s.up([]claim{cloned}, reader)
	s.down([]claim{data, cloned}, web(nodeA, data), reader)
}

// snap takes a snapshot of data's volume and waits until it is ready.
func (s *script) snap(name string) { s.snapOf(name, data) }

func (s *script) snapOf(name string, c claim) {
	s.apply(snapshotClass{}, snapshot{name, c})
	s.step(`wait: {volumesnapshot: %s, that: "object.status.readyToUse"}`, name)
}

// forget deletes a snapshot.
func (s *script) forget(name string) {
	s.step("delete: {volumesnapshot: %s}", name)
	s.step("wait: {volumesnapshot: %s, gone: true}", name)
}
