package fakekubelet_test

import (
	"path"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// K-EVT-1: all events that the kubelet emits about volumes of CSI drivers. Other tests cover events
// of conditions, slow changes of groups and attach limits.
func TestTheEventsOfVolumes(t *testing.T) {
	unlabelled := func(pv *corev1.PersistentVolume) {
		pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpExists}},
		}}}}
	}
	onePod := accessMode(corev1.ReadWriteOncePod)
	fail := func(method string) func(*node) {
		return func(n *node) { n.fail(method, codes.Internal, 0) }
	}
	bigger := func(n *node) { n.resized("data", "2Gi", "2Gi", pending) }
	blocked := func(name string) func(*node) { // a file is in place of a directory
		return func(n *node) {
			require.NoError(n.t, n.machine.MkdirAll(path.Dir(name), 0o750))
			require.NoError(n.t, n.machine.WriteFile(name, nil, 0o644))
		}
	}
	const injected = "rpc error: code = Internal desc = injected"
	const expander = "Expander.NodeExpand failed to expand the volume : " + injected
	for _, c := range []struct {
		name      string
		setting   setting
		pv        []func(*corev1.PersistentVolume)
		block     bool
		given     func(*node) // called before the pod exists
		running   func(*node) // when it runs
		neighbour bool        // another pod has the volume already
		readOnly  bool
		want      string
	}{
		{name: "populator", given: func(n *node) {
			_, err := store.ModifyStatus(n.Store, podKey("data"), func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimLost })
			require.NoError(n.t, err)
		}, want: "Warning FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: error processing PVC default/data: PVC is not bound"},
		{name: "node affinity", pv: []func(*corev1.PersistentVolume){unlabelled},
			want: `Warning FailedMount: MountVolume.NodeAffinity check failed for volume "pv-data" : no matching NodeSelectorTerms`},
		{name: "node affinity of a device", block: true, pv: []func(*corev1.PersistentVolume){unlabelled},
			want: `Warning FailedMount: MapVolume.NodeAffinity check failed for volume "pv-data" : no matching NodeSelectorTerms`},
		{name: "one pod only", pv: []func(*corev1.PersistentVolume){onePod}, neighbour: true,
			want: `Warning FailedMount: MountVolume.SetUp failed for volume "pv-data" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`},
		{name: "one pod only, a device", block: true, pv: []func(*corev1.PersistentVolume){onePod}, neighbour: true,
			want: `Warning FailedMapVolume: MapVolume.SetUpDevice failed for volume "pv-data" : volume uses the ReadWriteOncePod access mode and is already in use by another pod`},
		{name: "attachment", setting: attaching, given: notAttached,
			want: `Warning FailedMount: MountVolume.WaitForAttach failed for volume "pv-data" : no such disk`},
		{name: "attachment of a device", setting: attaching, block: true, given: notAttached,
			want: `Warning FailedMapVolume: MapVolume.WaitForAttach failed for volume "pv-data" : no such disk`},
		{name: "stage", given: fail("NodeStageVolume"), want: `Warning FailedMount: MountVolume.MountDevice failed for volume "pv-data" : ` + injected},
		{name: "stage a device", block: true, given: fail("NodeStageVolume"), want: `Warning FailedMapVolume: MapVolume.SetUpDevice failed for volume "pv-data" : ` + injected},
		{name: "publish", given: fail("NodePublishVolume"), want: `Warning FailedMount: MountVolume.SetUp failed for volume "pv-data" : ` + injected},
		{name: "publish a device", block: true, given: fail("NodePublishVolume"), want: `Warning FailedMapVolume: MapVolume.MapPodDevice failed for volume "pv-data" : ` + injected},
		{name: "a published device is not there", block: true, setting: setting{driver: mock.Options{Faulty: []string{"publish-mounts-nothing"}}},
			want: `Warning FailedMapVolume: MapVolume.EvalHostSymlinks failed for volume "pv-data" : `},
		{name: "a device cannot be mapped", block: true, given: blocked(csi.DefaultDir.BlockMapDir("pv-data")),
			want: `Warning FailedMapVolume: MapVolume.MapBlockVolume failed for volume "pv-data" : `},
		{name: "a device's data file cannot be written", block: true, given: blocked(devices + "/pv-data"),
			want: `Warning FailedMapVolume: MapVolume.NewBlockVolumeMapper initialization failed for volume "pv-data" : `},
		{name: "expansion in a mount", setting: setting{driver: expands}, given: func(n *node) { bigger(n); fail("NodeExpandVolume")(n) },
			want: `Warning FailedMount: MountVolume.Setup failed while expanding volume for volume "pv-data" : ` + expander},
		{name: "expansion of a device", block: true, setting: setting{driver: expands}, given: func(n *node) { bigger(n); fail("NodeExpandVolume")(n) },
			want: `Warning FailedMapVolume: MapVolume.MarkVolumeAsMounted failed while expanding volume for volume "pv-data" : ` + expander},
		{name: "expansion in use", setting: setting{driver: expands}, running: func(n *node) { bigger(n); fail("NodeExpandVolume")(n) },
			want: `Warning VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv-data" : ` + expander},
		{name: "expanded", setting: setting{driver: expands}, running: bigger, want: expandedEvent[:len(expandedEvent)-len(" (1)")]},
		{name: "read-only", setting: setting{driver: expands}, readOnly: true, given: bigger,
			want: `Warning FileSystemResizeFailed: MountVolume.NodeExpandVolume failed for volume "pv-data" requested read-only file system`},
		{name: "mapped", block: true, want: `Normal SuccessfulMountVolume: MapVolume.MapPodDevice succeeded for volume "pv-data" globalMapPath "` + csi.DefaultDir.BlockMapDir("pv-data") + `"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, c.setting)
			use := using
			if c.block {
				c.pv, use = append(c.pv, block), usingDevice
			}
			n.volume("data", c.pv...)
			if c.neighbour {
				n.pod("other", use("data"))
				n.run("other")
			}
			if c.given != nil {
				c.given(n)
			}
			n.forget()
			n.pod("web", use("data"), func(s *corev1.PodSpec) {
				if c.readOnly {
					s.Volumes[0].PersistentVolumeClaim.ReadOnly = true
				}
			})
			if c.running != nil {
				n.run("web")
				c.running(n)
				n.pass(2 * time.Minute)
			} else {
				n.pass(11 * time.Second)
			}
			assert.Contains(t, strings.Join(n.events(), "\n"), c.want)
		})
	}
}

// notAttached writes the state after a failed attach by csi-attacher, and a Node that lists the
// volume nevertheless.
func notAttached(n *node) {
	n.attached("data")
	_, err := store.ModifyStatus(n.Store, store.Key{Name: volume.AttachmentName("h-data", driverName, nodeName)}, func(va *storagev1.VolumeAttachment) {
		va.Status = storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Message: "no such disk"}}
	})
	require.NoError(n.t, err)
}
