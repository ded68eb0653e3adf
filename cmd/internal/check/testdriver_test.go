package check_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/drivers/mock"
)

// The file for Kubernetes' storage suite has exactly the capabilities that the driver has shown.
func TestTheSuitesFileHasTheCapabilitiesOfADriver(t *testing.T) {
	ephemeral := []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral}
	byFile, none, yes := storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, true
	for _, given := range []struct {
		name    string
		options mock.Options
		object  *storagev1.CSIDriverSpec
		fsType  string
		classes check.Classes
		has     []string
		lacks   []string
	}{
		{
			name:  "a driver that does little",
			has:   []string{"DriverInfo:\n", "persistence: true", "exec: true", "RWX: true", "Name: mock.csi.csisim.dev", "Min: 16Mi", "StorageClass:\n  FromName: true\n"},
			lacks: []string{"SnapshotClass", "Expansion", "fsGroup", "topology", "TopologyKeys", "InlineVolumes", "pvcDataSource", "volumeLimits", "capacity"},
		},
		{
			name:    "one that does much",
			options: mock.Options{ControllerExpand: true, NodeExpand: true, Snapshot: true, GroupSnapshot: true, Clone: true, Topology: true, GetCapacity: true, Ephemeral: true, MaxVolumesPerNode: 3},
			object:  &storagev1.CSIDriverSpec{VolumeLifecycleModes: ephemeral, FSGroupPolicy: &byFile, StorageCapacity: &yes},
			classes: check.Classes{Storage: "fast", Snapshot: "quick"},
			has: []string{"controllerExpansion: true", "nodeExpansion: true", "snapshotDataSource: true", "groupSnapshot: true", "pvcDataSource: true", "topology: true", "TopologyKeys:\n  - mock.csi.csisim.dev/zone\n",
				"capacity: true", "volumeLimits: true", "fsGroup: true", "InlineVolumes:\n- {}\n", "StorageClass:\n  FromExistingClassName: fast\n", "SnapshotClass:\n  FromExistingClassName: quick\n", "GroupSnapshotClass:\n  FromName: true\n"},
		},
		{name: "the kubelet changes no group", object: &storagev1.CSIDriverSpec{FSGroupPolicy: &none}, fsType: "ext4", has: []string{"ext4: {}"}, lacks: []string{"fsGroup"}},
		{name: "it does with a file system", fsType: "ext4", has: []string{"fsGroup: true"}},
	} {
		t.Run(given.name, func(t *testing.T) {
			subject := mocked(given.options)
			subject.CSIDriver, subject.FSType = given.object, given.fsType
			facts, err := check.Ask(context.Background(), subject, check.RunOptions{})
			require.NoError(t, err)
			text, err := facts.TestDriver(given.classes)
			require.NoError(t, err)
			for _, has := range given.has {
				assert.Contains(t, string(text), has)
			}
			for _, lacks := range given.lacks {
				assert.NotContains(t, string(text), lacks)
			}
		})
	}
}
