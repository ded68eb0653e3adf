package reenact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident/reenact"
)

const (
	grouped       = `{"t":1000,"at":"2026-11-28T12:00:00.000Z","k":"csi","from":"csi-snapshotter","driver":"mock.csi","m":"GroupController/CreateVolumeGroupSnapshot","req":{"name":"groupsnapshot-u1","source_volume_ids":["vol-1","vol-2"]},"resp":{"group_snapshot":{"group_snapshot_id":"group-1","ready_to_use":true,"snapshots":[{"snapshot_id":"snap-1","source_volume_id":"vol-1"},{"snapshot_id":"snap-2","source_volume_id":"vol-2"}]}},"ms":10}`
	ungrouped     = `{"t":9000,"k":"csi","from":"csi-snapshotter","driver":"mock.csi","m":"GroupController/DeleteVolumeGroupSnapshot","req":{"group_snapshot_id":"group-1","snapshot_ids":["snap-1","snap-2"]},"resp":{},"ms":10}`
	groupObject   = `{"t":500,"k":"api","ev":"ADDED","r":"volumegroupsnapshots","name":"shop/nightly","obj":{"metadata":{"uid":"u1"},"spec":{"volumeGroupSnapshotClassName":"fast","source":{"selector":{"matchLabels":{"app":"db"}}}}}}`
	groupContent  = `{"t":500,"k":"api","ev":"INIT","r":"volumegroupsnapshotcontents","name":"groupsnapcontent-u1","obj":{"spec":{"driver":"mock.csi","deletionPolicy":"Retain","source":{"volumeHandles":["vol-1"]},"volumeGroupSnapshotRef":{"namespace":"shop","name":"nightly","uid":"u1"}},"status":{"volumeGroupSnapshotHandle":"group-1"}}}`
	memberObject  = `{"t":1500,"k":"api","ev":"ADDED","r":"volumesnapshots","name":"shop/snapshot-4711","obj":{"metadata":{"uid":"m1","ownerReferences":[{"kind":"VolumeGroupSnapshot","name":"nightly","uid":"u1"}]},"spec":{"source":{"persistentVolumeClaimName":"data"}}}}`
	memberContent = `{"t":1500,"k":"api","ev":"ADDED","r":"volumesnapshotcontents","name":"snapcontent-4711","obj":{"metadata":{"annotations":{"groupsnapshot.storage.k8s.io/volumeGroupSnapshotHandle":"group-1"}},"spec":{"driver":"mock.csi","source":{"volumeHandle":"vol-1"},"volumeSnapshotRef":{"namespace":"shop","name":"snapshot-4711","uid":"m1"}},"status":{"snapshotHandle":"snap-1"}}}`
	claimObject   = `{"t":100,"k":"api","ev":"INIT","r":"persistentvolumeclaims","name":"shop/data","obj":{"metadata":{"labels":{"app":"db","tier":"gold"}},"spec":{"volumeName":"pvc-1"}}}`
	otherClaim    = `{"t":100,"k":"api","ev":"INIT","r":"persistentvolumeclaims","name":"shop/web","obj":{"metadata":{"labels":{"app":"web"}},"spec":{"volumeName":"pvc-9"}}}`
)

// Given calls, messages or objects of group snapshots, then the scenario creates and deletes the
// groups at their times. They select the right claims, and the scenario has no separate steps for
// their members.
func TestGroupSnapshotsBecomeSteps(t *testing.T) {
	for name, c := range map[string]struct {
		lines      []string
		want, lack []string
	}{
		"a group is made and deleted": {[]string{grouped, ungrouped},
			[]string{
				`"groupSnapshot":true,"snapshot":true`, "kind: VolumeGroupSnapshotClass\n",
				"    labels:\n      imported-group-1: member\n    name: vol-1\n", "    labels:\n      imported-group-1: member\n    name: vol-2\n",
				"- settle: {}\n- advance: 1s\n- apply: |\n    apiVersion: groupsnapshot.storage.k8s.io/v1\n    kind: VolumeGroupSnapshot\n",
				"          matchLabels:\n            imported-group-1: member\n      volumeGroupSnapshotClassName: imported\n",
				"- advance: 8s\n- delete: {volumegroupsnapshot: group-1, namespace: default}\n",
			}, []string{made}},
		"it has the names and labels of its objects": {[]string{claimObject, otherClaim, groupObject, memberObject, memberContent},
			[]string{"name: nightly\n      namespace: shop\n", "matchLabels:\n            app: db\n      volumeGroupSnapshotClassName: fast\n", "    labels:\n      app: db\n    name: data\n", "metadata:\n    name: web\n"},
			[]string{made, "app: web"}},
		"it has the names in its parameters": {[]string{strings.Replace(grouped, `"source_volume_ids"`, `"parameters":{"csi.storage.k8s.io/volumegroupsnapshot/name":"nightly","csi.storage.k8s.io/volumegroupsnapshot/namespace":"shop"},"source_volume_ids"`, 1)},
			[]string{"name: nightly\n      namespace: shop\n", "name: vol-1\n    namespace: shop\n"}, nil},
		"it selects by other terms than labels": {[]string{strings.Replace(groupObject, `"matchLabels":{"app":"db"}`, `"matchExpressions":[{"key":"app","operator":"Exists"}]`, 1), grouped},
			[]string{"name: nightly\n", "matchLabels:\n            imported-group-1: member\n"}, nil},
		"two groups select a claim by different values": {
			[]string{groupObject, strings.NewReplacer("u1", "u2", "nightly", "weekly", `{"app":"db"}`, `{"app":"shop"}`).Replace(groupObject), grouped, strings.Replace(strings.Replace(grouped, "u1", "u2", 1), "group-1", "group-2", 1)},
			[]string{"    labels:\n      app: db\n      imported-group-2: member\n", "matchLabels:\n            imported-group-2: member\n"}, nil},
		"a volume is restored from a member": {[]string{grouped, strings.Replace(restore, "vol-2", "vol-3", 1)},
			[]string{"      dataSource:\n        apiGroup: snapshot.storage.k8s.io\n        kind: VolumeSnapshot\n        name: pvc/vol-1\n"}, []string{"    kind: VolumeSnapshot\n    metadata"}},
		"an older one is deleted": {[]string{groupContent, ungrouped},
			[]string{"volumeGroupSnapshotClassName: imported\n- settle: {}\n- advance: 9s\n- delete: {volumegroupsnapshot: nightly, namespace: shop}\n", "deletionPolicy: Retain\n"}, nil},
		"an older one that nothing uses": {[]string{volume, groupContent}, nil, []string{"VolumeGroupSnapshot"}},
		"it is ready late": {[]string{strings.Replace(grouped, `,"ready_to_use":true`, "", 1), strings.Replace(grouped, `"t":1000`, `"t":3000`, 1)},
			[]string{`"snapshot":true,"snapshotPolls":1`}, nil},
		"its call fails": {[]string{strings.Replace(grouped, `"resp"`, `"code":"ResourceExhausted","msg":"quota","unused"`, 1)},
			[]string{"kind: VolumeGroupSnapshot\n", `- fault: {"call":"CreateVolumeGroupSnapshot","code":"ResourceExhausted","message":"quota","name":"CreateVolumeGroupSnapshot 1"}`}, nil},
		"a message says that it fails": {[]string{`{"t":1000,"k":"log","from":"csi-snapshotter","ev":"group snapshot failed","obj":{"group":"groupsnapcontent-u1","code":"ResourceExhausted","error":"quota"}}`},
			[]string{"kind: VolumeGroupSnapshot\n", "name: source-of-group-1\n", `- {"call":"CreateVolumeGroupSnapshot","code":"ResourceExhausted"}`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			story, err := reenact.Read(strings.NewReader(strings.Join(c.lines, "\n")))
			require.NoError(t, err)
			var text strings.Builder
			require.NoError(t, story.Write(&text, "the logs"))
			for _, want := range c.want {
				assert.Contains(t, text.String(), want)
			}
			for _, lack := range c.lack {
				assert.NotContains(t, text.String(), lack)
			}
		})
	}
}
