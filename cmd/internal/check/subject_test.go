package check_test

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/drivers/mock"
)

// asked holds the last request of each kind in a trial.
type asked struct {
	create   *csi.CreateVolumeRequest
	stage    *csi.NodeStageVolumeRequest
	publish  *csi.NodePublishVolumeRequest
	snapshot *csi.CreateSnapshotRequest
}

func requestsOf(c *check.Card) (a asked) {
	for _, o := range c.Outcomes {
		if o.Result == nil {
			continue
		}
		for _, e := range o.Result.Trace {
			switch r := e.Request.(type) {
			case *csi.CreateVolumeRequest:
				a.create = r
			case *csi.NodeStageVolumeRequest:
				a.stage = r
			case *csi.NodePublishVolumeRequest:
				a.publish = r
			case *csi.CreateSnapshotRequest:
				a.snapshot = r
			}
		}
	}
	return a
}

// The subject's description of its volumes appears in the calls in which Kubernetes sends it.
func TestADriverIsCheckedWithItsDescribedProperties(t *testing.T) {
	secrets := profile.Secrets{}
	for _, kind := range []string{"provisioner", "node-stage", "node-publish", "snapshotter"} {
		secrets[kind] = map[string]string{"key-of-" + kind: "x"}
	}
	described := func(s check.Subject) check.Subject {
		s.Secrets, s.FSType, s.MountOptions = secrets, "xfs", []string{"noatime", "size=1,2"}
		s.AccessModes, s.VolumeModes = []string{"ReadWriteMany"}, []string{"Filesystem"}
		s.Driver.Sidecars.Provisioner.ExtraCreateMetadata = new(false)
		return s
	}
	card := checked(t, described(mocked(mock.Options{Snapshot: true})), check.RunOptions{}, "snapshot/restored", "life/block", "access/ReadWriteOncePod")
	assert.Empty(t, verdicts(card))
	var refused []string
	for _, reason := range card.NotOffered() {
		refused = append(refused, reason.Why)
	}
	assert.Equal(t, []string{"the volume modes to try are Filesystem", "the access modes to try are ReadWriteMany"}, refused)
	made := requestsOf(card)
	capability := made.create.VolumeCapabilities[0]
	assert.Equal(t, csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER, capability.AccessMode.Mode)
	assert.Equal(t, "xfs", capability.GetMount().FsType)
	assert.Equal(t, []string{"noatime", "size=1,2"}, capability.GetMount().MountFlags)
	assert.Contains(t, made.create.Secrets, "key-of-provisioner")
	assert.NotContains(t, made.create.Parameters, "csi.storage.k8s.io/pvc/name", "as csi-provisioner without --extra-create-metadata")
	assert.Contains(t, made.stage.Secrets, "key-of-node-stage")
	assert.Contains(t, made.publish.Secrets, "key-of-node-publish")
	assert.Contains(t, made.snapshot.Secrets, "key-of-snapshotter")

	makesNone := described(mocked(mock.Options{}))
	makesNone.Driver.NoController = true
	found := requestsOf(checked(t, makesNone, check.RunOptions{}, "life/filesystem"))
	assert.Contains(t, found.stage.Secrets, "key-of-node-stage")
	assert.Equal(t, "xfs", found.stage.VolumeCapability.GetMount().FsType)
	assert.Equal(t, []string{"noatime", "size=1,2"}, found.stage.VolumeCapability.GetMount().MountFlags)

	inline := described(mocked(mock.Options{}))
	inline.CSIDriver = &storagev1.CSIDriverSpec{VolumeLifecycleModes: []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecycleEphemeral}}
	scratch := requestsOf(checked(t, inline, check.RunOptions{}, "inline/life"))
	assert.Contains(t, scratch.publish.Secrets, "key-of-node-publish")
	assert.Equal(t, "xfs", scratch.publish.VolumeCapability.GetMount().FsType)
}
