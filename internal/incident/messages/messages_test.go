package messages_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident/messages"
)

// Given a message of a program, then its meaning and its fields are found.
func TestMessagesAreRecognized(t *testing.T) {
	const csi = `(UniqueName: "kubernetes.io/csi/mock.csi^vol-1")`
	for _, c := range []struct {
		program, message string
		pairs            map[string]string
		want             string
	}{
		{"kubelet", `operationExecutor.VerifyControllerAttachedVolume started for volume "pvc-1" ` + csi + ` pod "web" (UID: "u1") `, nil,
			"attachment awaited driver=mock.csi pod=web podUID=u1 pv=pvc-1 volume=vol-1"},
		{"kubelet", `MountVolume.MountDevice failed for volume "pvc-1" ` + csi + ` pod "web" (UID: "u1") : rpc error: code = Aborted desc = an operation with the given Volume ID vol-1 already exists`, nil,
			"stage failed code=Aborted driver=mock.csi error=an operation with the given Volume ID vol-1 already exists pod=web podUID=u1 pv=pvc-1 volume=vol-1"},
		{"kubelet", `Operation for "{volumeName:kubernetes.io/csi/mock.csi^vol-1 podName:u1 nodeName:}" failed. No retries permitted until 2026-11-28 12:47:30 +0000 UTC m=+1.1 (durationBeforeRetry 2m2s). Error: UnmountVolume.TearDown failed for volume "data" ` + csi + ` pod "u1" (UID: "u1") : kubernetes.io/csi: Unmounter.TearDownAt failed: rpc error: code = DeadlineExceeded desc = context deadline exceeded`, nil,
			"unpublish failed backoff=2m2s code=DeadlineExceeded driver=mock.csi error=context deadline exceeded podUID=u1 until=2026-11-28 12:47:30 +0000 UTC m=+1.1 volume=vol-1"},
		{"kubelet", "kubernetes.io/csi: Register new plugin with name: mock.csi at endpoint: /var/lib/kubelet/plugins/mock/csi.sock", nil,
			"register succeeded driver=mock.csi path=/var/lib/kubelet/plugins/mock/csi.sock"},
		{"kubelet", "Unable to attach or mount volumes for pod; skipping pod", map[string]string{"pod": "default/web", "err": "unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition"},
			"volumes awaited error=unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition pod=default/web"},
		{"kube-controller-manager", "Multi-Attach error: volume is already used by pods", map[string]string{"pods": `["default/old"]`, "attachedTo": "node-a", "volume": `{"VolumeToAttach":{"VolumeName":"kubernetes.io/csi/mock.csi^vol-1","NodeName":"node-b"}}`},
			`attach refused attachedTo=node-a driver=mock.csi node=node-b pods=["default/old"] volume=vol-1`},
		{"kube-controller-manager", "Multi-Attach error: volume is already exclusively attached and can't be attached to another node", map[string]string{"attachedTo": "[node-a]", "volume": "{VolumeToAttach:{MultiAttachErrorReported:true VolumeName:kubernetes.io/csi/mock.csi^vol-1 VolumeSpec:0xc0 NodeName:node-b}}"},
			`attach refused attachedTo=[node-a] driver=mock.csi node=node-b volume=vol-1`},
		{"kube-controller-manager", `AttachVolume.Attach failed for volume "pvc-1" ` + csi + ` from node "node-b" : rpc error: code = FailedPrecondition desc = in use`, nil,
			"attach failed code=FailedPrecondition driver=mock.csi error=in use node=node-b pv=pvc-1 volume=vol-1"},
		{"kube-controller-manager", "attacherDetacher.DetachVolume started: this volume is not safe to detach, but maxWaitForUnmountDuration expired, force detaching", map[string]string{"volumeName": "kubernetes.io/csi/mock.csi^vol-1", "node": "node-a"},
			"detach forced driver=mock.csi node=node-a volume=vol-1"},
		{"csi-attacher", "Error processing", map[string]string{"VolumeAttachment": "csi-1", "err": "failed to detach: rpc error: code = Internal desc = busy"},
			"attach failed attachment=csi-1 code=Internal error=busy tried=detach"},
		{"csi-attacher", `Error processing "csi-1": failed to attach: rpc error: code = Internal desc = busy`, nil, "attach failed attachment=csi-1 code=Internal error=busy"},
		{"csi-provisioner", `successfully created PV pvc-1 for PVC data and csi volume name vol-1`, nil, "provision succeeded pv=pvc-1 pvc=data volume=vol-1"},
		{"csi-snapshotter", `createSnapshotWrapper: CreateSnapshot for content snapcontent-1 returned error: rpc error: code = ResourceExhausted desc = quota`, nil,
			"snapshot failed code=ResourceExhausted error=quota snapshot=snapcontent-1"},
		{"csi-snapshotter", `createGroupSnapshotWrapper: CreateGroupSnapshot for groupSnapshotContent groupsnapcontent-1 returned error: rpc error: code = ResourceExhausted desc = quota`, nil,
			"group snapshot failed code=ResourceExhausted error=quota group=groupsnapcontent-1"},
		{"ceph-csi", `ID: 12 Req-ID: 0001-vol GRPC call: /csi.v1.Node/NodeStageVolume`, nil, "call begins id=12 method=/csi.v1.Node/NodeStageVolume"},
		{"ceph-csi", `ID: 12 Req-ID: 0001-vol an operation with the given Volume ID 0001-vol already exists`, nil, "call still running id=12 volume=0001-vol"},
		{"longhorn-csi-plugin", `NodeStageVolume: err: rpc error: code = InvalidArgument desc = volume pvc-1 hasn't been attached yet`, nil,
			"call error code=InvalidArgument error=volume pvc-1 hasn't been attached yet method=NodeStageVolume"},
		{"zfs-localpv", `GRPC call: /csi.v1.Node/NodePublishVolume requests {"volume_id":"v1"}`, nil, `call begins method=/csi.v1.Node/NodePublishVolume request={"volume_id":"v1"}`},
		{"kubelet", `MountVolume.SetUp succeeded for volume "pvc-1" ` + csi + ` pod "web" (UID: "u1") `, map[string]string{"pod": "shop/web"},
			"publish succeeded driver=mock.csi pod=shop/web podUID=u1 pv=pvc-1 volume=vol-1"},
		{"mayastor-csi-node", "[ CSI ] Node Stage Volume Request completed successfully after 1.2s", map[string]string{"volume.uuid": "3e0d"}, "call answer method=Node Stage Volume took=1.2s volume=3e0d"},
		{"ceph-csi", "Listening for connections on address: /csi/csi.sock", nil, "program started"},
		{"mayastor-csi-node", "Failed to stage volume 3e0d: attach failed: Input/output error (os error 5)", nil, "stage failed error=attach failed: Input/output error (os error 5) volume=3e0d"},
		{"mayastor-csi-node", "Failed to stage volume 3e0d: error preparing device /dev/nvme0n1: mkfs failed\nmke2fs 1.47\nno space left", nil,
			"stage failed error=error preparing device /dev/nvme0n1: mkfs failed\nmke2fs 1.47\nno space left volume=3e0d"},
		{"mayastor-csi-controller", `controller_publish_volume: error: status: Internal, message: "Volume 3e0d has no target", details: [], metadata: MetadataMap { headers: {} }`, map[string]string{"volume.uuid": "3e0d"},
			"attach failed code=Internal details=[], metadata: MetadataMap { headers: {} } error=Volume 3e0d has no target volume=3e0d"},
		{"mayastor-csi-node", "Volume 3e0d unstaged", nil, "unstage succeeded volume=3e0d"},
	} {
		table := messages.Named(c.program)
		require.NotNil(t, table, c.program)
		f, ok := table.Match(c.message, func() map[string]string { return c.pairs })
		require.True(t, ok, c.message)
		assert.Equal(t, c.want, shown(f), c.message)
		assert.True(t, messages.IsKnown(c.message), c.message)
	}
	assert.False(t, messages.IsKnown("Failed to frob the widget"))
}

func shown(f messages.Fact) string {
	parts := []string{string(f.Means)}
	for _, key := range slices.Sorted(maps.Keys(f.Fields)) {
		parts = append(parts, fmt.Sprintf("%s=%s", key, f.Fields[key]))
	}
	return strings.Join(parts, " ")
}

// Given the names of containers and units, then their programs are recognized.
func TestNamesOfContainers(t *testing.T) {
	for name, want := range map[string]string{
		"csi-attacher": "csi-attacher", "csi-external-provisioner": "csi-provisioner", "kubelet": "kubelet", "csi-rbdplugin": "ceph-csi",
		"csi-rbdplugin-provisioner": "ceph-csi", "ebs-plugin": "aws-ebs-csi-driver", "csi-snapshotter": "csi-snapshotter", "snapshot-controller": "snapshot-controller",
		"kube-controller-manager-node-a": "kube-controller-manager", "nginx": "",
	} {
		got := ""
		if table := messages.Named(name); table != nil {
			got = table.Program
		}
		assert.Equal(t, want, got, name)
	}
}

// Each message names its source file, and no two messages of a program are equal.
func TestTables(t *testing.T) {
	for _, table := range messages.All() {
		seen := map[string]bool{}
		for _, m := range table.Messages {
			assert.NotEmpty(t, m.File, "%s: %s", table.Program, m.Text)
			assert.False(t, seen[m.Text], "%s: %s", table.Program, m.Text)
			seen[m.Text] = true
		}
	}
}
