package reenact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident/reenact"
)

const (
	cut     = `{"t":1000,"at":"2026-11-28T12:00:00.000Z","k":"csi","from":"csi-snapshotter","driver":"mock.csi","m":"Controller/CreateSnapshot","req":{"name":"snapshot-u1","source_volume_id":"vol-1"},"resp":{"snapshot":{"snapshot_id":"snap-1","ready_to_use":true}},"ms":10}`
	dropped = `{"t":9000,"k":"csi","from":"csi-snapshotter","driver":"mock.csi","m":"Controller/DeleteSnapshot","req":{"snapshot_id":"snap-1"},"resp":{},"ms":10}`
	restore = `{"t":5000,"k":"csi","from":"csi-provisioner","driver":"mock.csi","m":"Controller/CreateVolume","req":{"name":"pvc-2","capacity_range":{"required_bytes":"16777216"},"volume_content_source":{"snapshot":{"snapshot_id":"snap-1"}}},"resp":{"volume":{"volume_id":"vol-2"}},"ms":10}`
	object  = `{"t":500,"k":"api","ev":"ADDED","r":"volumesnapshots","name":"shop/daily","obj":{"metadata":{"uid":"u1"},"spec":{"volumeSnapshotClassName":"fast","source":{"persistentVolumeClaimName":"data"}}}}`
	content = `{"t":500,"k":"api","ev":"INIT","r":"volumesnapshotcontents","name":"snapcontent-u1","obj":{"spec":{"driver":"mock.csi","deletionPolicy":"Retain","source":{"volumeHandle":"vol-1"},"volumeSnapshotRef":{"namespace":"shop","name":"daily","uid":"u1"}},"status":{"snapshotHandle":"snap-1"}}}`
	made    = "kind: VolumeSnapshot\n"
)

// Given calls, messages or objects of snapshots, then the scenario creates and deletes the
// snapshots at their times, and restores volumes from them.
func TestSnapshotsBecomeSteps(t *testing.T) {
	for name, c := range map[string]struct {
		lines      []string
		want, lack []string
	}{
		"a snapshot is made and deleted": {[]string{cut, dropped},
			[]string{"- settle: {}\n- advance: 1s\n- apply: |\n    apiVersion: snapshot.storage.k8s.io/v1\n", "persistentVolumeClaimName: vol-1\n", "- advance: 8s\n- delete: {volumesnapshot: snapshot-1, namespace: default}\n"}, nil},
		"it has the names of its objects": {[]string{object, cut, dropped},
			[]string{"- settle: {}\n- advance: 500ms\n- apply: |\n", "name: daily\n      namespace: shop\n", "volumeSnapshotClassName: fast\n", "persistentVolumeClaimName: data\n", "- delete: {volumesnapshot: daily, namespace: shop}\n"}, nil},
		"it has the names in its parameters": {[]string{strings.Replace(cut, `"source_volume_id"`, `"parameters":{"csi.storage.k8s.io/volumesnapshot/name":"daily","csi.storage.k8s.io/volumesnapshot/namespace":"shop"},"source_volume_id"`, 1)},
			[]string{"name: daily\n      namespace: shop\n"}, nil},
		"a volume is restored from it": {[]string{cut, restore},
			[]string{"      dataSource:\n        apiGroup: snapshot.storage.k8s.io\n        kind: VolumeSnapshot\n        name: snapshot-1\n      resources:\n        requests:\n          storage: \"16777216\"\n"}, nil},
		"a volume is restored from an older one": {[]string{restore},
			[]string{"persistentVolumeClaimName: source-of-snapshot-1\n      volumeSnapshotClassName: imported\n- settle: {}\n- advance: 5s\n", "kind: VolumeSnapshot\n        name: snapshot-1\n"}, nil},
		"an older one is deleted": {[]string{content, dropped},
			[]string{"persistentVolumeClaimName: vol-1\n      volumeSnapshotClassName: imported\n- settle: {}\n- advance: 9s\n- delete: {volumesnapshot: daily, namespace: shop}\n", "deletionPolicy: Retain\n"}, nil},
		"an older one that nothing uses": {[]string{volume, content}, nil, []string{made}},
		"it is ready late": {[]string{strings.Replace(cut, `,"ready_to_use":true`, "", 1), strings.Replace(cut, `"t":1000`, `"t":3000`, 1)},
			[]string{`"snapshot":true,"snapshotPolls":1`}, nil},
		"it fails": {[]string{`{"t":1000,"k":"log","from":"csi-snapshotter","ev":"snapshot failed","obj":{"snapshot":"snapcontent-u1","code":"ResourceExhausted","error":"quota"}}`},
			[]string{made, `- fault: {"call":"CreateSnapshot","code":"ResourceExhausted","message":"quota","name":"CreateSnapshot 1"}`, `- {"call":"CreateSnapshot","code":"ResourceExhausted"}`}, nil},
		"a volume is cloned": {[]string{strings.Replace(restore, `"snapshot":{"snapshot_id":"snap-1"}`, `"volume":{"volume_id":"vol-1"}`, 1)},
			[]string{`"clone":true`, "      dataSource:\n        kind: PersistentVolumeClaim\n        name: vol-1\n"}, []string{made}},
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
