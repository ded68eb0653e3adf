package check

import (
	"fmt"

	"github.com/csisim/csisim/internal/driver/sidecar"
)

// groupLabels are the labels of claims for volumes that are snapshotted together.
const groupLabels = "{app: database}"

// groupSnapshots makes snapshots of several volumes at one point in time.
func groupSnapshots(p *plan) {
	needs := []string{
		p.needsSidecar(p.facts.Snapshots(), "CREATE_DELETE_SNAPSHOT", "csi-snapshotter"), p.needsGroups(),
	}
	p.try("group", "restored", "Two volumes are snapshotted together, and one snapshot becomes a volume; calls come twice.", needs, func(s *script) {
		s.fault(`call: "*", repeat: true`)
		s.lifeWithGroup()
	})
	p.try("group", "lost-answers", "The answers of the calls about a group of snapshots are lost, then late.", needs, func(s *script) {
		for _, call := range groupCalls {
			s.fault("name: lost-%s, call: %[1]s, loseAnswer: true, times: 1", call)
			s.fault("name: late-%s, call: %[1]s, lateAnswer: true, times: 1", call)
		}
		s.lifeWithGroup()
	})
	p.try("group", "abandoned", "The answers of CreateVolumeGroupSnapshot are lost until the group is deleted.", needs, func(s *script) {
		s.fault("name: lost, call: CreateVolumeGroupSnapshot, loseAnswer: true, code: DeadlineExceeded")
		s.up(groupClaims, web(nodeA, groupClaims...))
		s.apply(groupSnapshot{"daily"})
		s.step("wait: {call: CreateVolumeGroupSnapshot, count: 2}")
		s.step("delete: {volumegroupsnapshot: daily}")
		s.step("advance: 1m")
		s.step("clear-fault: lost")
		s.noGroup()
		s.down(groupClaims, web(nodeA, groupClaims...))
	})
	// C-SNAP-18, C-GSNAP-9
	p.try("group", "member-deleted", "One snapshot of a group is deleted by itself; it goes with the group only.", needs, func(s *script) {
		s.fault(`call: "*Delete*", repeat: true`)
		s.up(groupClaims, web(nodeA, groupClaims...))
		s.apply(groupSnapshot{"daily"})
		s.step(`wait: {volumegroupsnapshot: daily, that: "object.status.readyToUse"}`)
		s.step(`wait: {volumesnapshot: "*", that: "object.status.readyToUse", count: %d}`, len(groupClaims))
		s.step("delete: {volumesnapshot: pvc/data}")
		s.step("advance: 1m")
		s.step("delete: {volumegroupsnapshot: daily}")
		s.noGroup()
		s.down(groupClaims, web(nodeA, groupClaims...))
	})
	p.try("group", "driver-killed", "The driver is killed before, while and after it cuts, and deletes, a group of snapshots.", append([]string{p.needsOurs()}, needs...), func(s *script) {
		for _, call := range groupCalls {
			s.killsDriver(call, 1)
		}
		s.lifeWithGroup()
	})
}

// groupCalls are the calls for groups that change something.
var groupCalls = []string{"CreateVolumeGroupSnapshot", "DeleteVolumeGroupSnapshot"}

// needsGroups returns the reason why the driver cannot take group snapshots; empty if it can.
func (p *plan) needsGroups() string {
	release := p.facts.subject.Driver.Sidecars.Snapshotter.Version
	switch {
	case !p.facts.caps.Plugin.Has("GROUP_CONTROLLER_SERVICE"):
		return "the plugin lacks GROUP_CONTROLLER_SERVICE"
	case !release.Has(sidecar.MakesGroups): // it does not request the capabilities below
		return "csi-snapshotter " + string(release) + " does not create and delete group snapshots"
	case !p.facts.GroupSnapshots():
		return "the group controller service lacks CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT"
	}
	return p.fits(int64(len(groupClaims)) + 1)
}

var groupClaims = []claim{
	{name: "data", form: filesystem, access: oneNodeRW, grouped: true},
	{name: "logs", form: filesystem, access: oneNodeRW, grouped: true},
}

// lifeWithGroup is the life of two volumes that are snapshotted together. A third volume is created
// from one of the snapshots.
func (s *script) lifeWithGroup() {
	restored := claim{name: "restored", form: filesystem, access: oneNodeRW, from: "{apiGroup: snapshot.storage.k8s.io, kind: VolumeSnapshot, name: pvc/logs}"}
	reader := pod{name: "reader", node: nodeA, claims: []claim{restored}}
	s.up(groupClaims, web(nodeA, groupClaims...))
	s.apply(groupSnapshot{"daily"})
	s.step(`wait: {volumegroupsnapshot: daily, that: "object.status.readyToUse"}`)
	s.step(`wait: {volumesnapshot: "*", that: "object.status.readyToUse", count: %d}`, len(groupClaims))
	s.up([]claim{restored}, reader)
	s.step("delete: {volumegroupsnapshot: daily}")
	s.noGroup()
	s.down(append(groupClaims[:len(groupClaims):len(groupClaims)], restored), web(nodeA, groupClaims...), reader)
}

// noGroup waits until the group and its snapshots are deleted.
func (s *script) noGroup() {
	s.step("wait: {volumegroupsnapshot: daily, gone: true}")
	s.step(`wait: {volumesnapshot: "*", gone: true}`)
}

// groupSnapshot is a snapshot of the volumes of groupClaims, with its class.
type groupSnapshot struct{ name string }

func (g groupSnapshot) manifest(f *Facts) string {
	return fmt.Sprintf(`apiVersion: groupsnapshot.storage.k8s.io/v1
kind: VolumeGroupSnapshotClass
metadata: {name: %[1]s}
driver: %[2]s
deletionPolicy: Delete
%[5]s---
apiVersion: groupsnapshot.storage.k8s.io/v1
kind: VolumeGroupSnapshot
metadata: {name: %[3]s}
spec:
  volumeGroupSnapshotClassName: %[1]s
  source: {selector: {matchLabels: %[4]s}}
`, className, f.Name, g.name, groupLabels, parameters("", f.subject.groupParameters()))
}
