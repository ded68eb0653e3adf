package fakekubelet_test

import (
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// freeze withholds all further changes from the kubelet's informers.
func (n *node) freeze() { n.kubelet.Cache.SetLag(func() {}) }

func modify[T store.Object](n *node, name string, change func(T)) {
	n.t.Helper()
	_, err := store.Modify(n.Store, store.Key{Name: name}, change)
	require.NoError(n.t, err)
}

// K-API-2: the kubelet reads some objects from the API server and others from its informers. Given
// informers that stop before a change, when a pod is mounted, then the call shows whether the
// kubelet saw the change.
func TestLiveReads(t *testing.T) {
	secret := func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI.NodeStageSecretRef = &corev1.SecretReference{Namespace: "default", Name: "key"}
	}
	stage := func(n *node) *csispec.NodeStageVolumeRequest { return request[*csispec.NodeStageVolumeRequest](n) }
	for _, c := range []struct {
		name   string
		change func(*node)
		live   bool
		seen   func(*node) bool // in the requests to the driver
	}{
		{"the claim and its size", func(n *node) { n.volume("data", secret) }, true, func(n *node) bool { return stage(n).VolumeId == "h-data" }},
		{"the volume", func(n *node) {
			modify(n, "pv-data", func(pv *corev1.PersistentVolume) { pv.Spec.MountOptions = []string{"noatime"} })
		}, true, func(n *node) bool { return len(stage(n).VolumeCapability.GetMount().GetMountFlags()) == 1 }},
		{"a secret", func(n *node) {
			_, err := store.Modify(n.Store, podKey("key"), func(s *corev1.Secret) { s.Data = map[string][]byte{"new": nil} })
			require.NoError(n.t, err)
		}, true, func(n *node) bool { _, ok := stage(n).Secrets["new"]; return ok }},
		{"the attachment", func(n *node) {
			_, err := store.ModifyStatus(n.Store, store.Key{Name: volume.AttachmentName("h-data", driverName, nodeName)},
				func(va *storagev1.VolumeAttachment) { va.Status.AttachmentMetadata = map[string]string{"lun": "8"} })
			require.NoError(n.t, err)
		}, true, func(n *node) bool { return stage(n).PublishContext["lun"] == "8" }},
		{"the CSIDriver", func(n *node) {
			modify(n, driverName, func(d *storagev1.CSIDriver) { d.Spec.PodInfoOnMount = new(true) })
		}, false, func(n *node) bool {
			return request[*csispec.NodePublishVolumeRequest](n).VolumeContext["csi.storage.k8s.io/pod.name"] == "web"
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, attaching)
			create(n, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key", Namespace: "default"}, Data: map[string][]byte{"old": nil}})
			if c.name != "the claim and its size" {
				n.volume("data", secret)
			}
			n.attached("data")
			n.pass(30 * time.Millisecond) // before the next pass over the pods
			n.pod("web", using("data"))
			n.pass(time.Millisecond)
			n.freeze()
			c.change(n)
			n.pass(30 * time.Second)
			require.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
			assert.Equal(t, c.live, c.seen(n))
		})
	}
}

// K-API-2, K-ATT-4, K-ATT-5: the Node is looked up twice, first in the informer and then in the
// API. A volume is mounted only if both list it as attached.
func TestTheNodeThatReportsAVolumeAsAttached(t *testing.T) {
	for _, c := range []struct {
		name        string
		known, live bool
		tries       bool // whether the attachment is verified at all
	}{
		{"neither", false, false, false}, {"not known yet", false, true, false},
		{"not any more", true, false, true}, {"both", true, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, attaching)
			n.volume("data")
			list := func(attached bool) {
				_, err := store.ModifyStatus(n.Store, store.Key{Name: nodeName}, func(node *corev1.Node) {
					node.Status.VolumesAttached = nil
					if attached {
						node.Status.VolumesAttached = []corev1.AttachedVolume{{Name: unique("data")}}
					}
				})
				require.NoError(t, err)
			}
			n.attachment("data", storagev1.VolumeAttachmentStatus{Attached: true})
			list(c.known)
			n.pod("web", using("data"))
			n.pass(time.Second)
			n.freeze()
			list(c.live)
			n.pass(30 * time.Second)
			ended := n.operations("verify_controller_attached_volume", "success") + n.operations("verify_controller_attached_volume", "fail-unknown")
			assert.Equal(t, c.tries, ended > 0)
			assert.Equal(t, c.known && c.live, len(n.calls()) > 0)
			assert.Equal(t, c.known && !c.live, n.operations("verify_controller_attached_volume", "fail-unknown") > 1, "tried again")
			assert.Empty(t, n.kubeEvents("FailedMount"), "and no event is emitted")
		})
	}
}

// K-ATT-5: the kubelet reads the size of the claim when it verifies the attachment, so the claim
// must exist. For a volume without attaching, it need not exist.
func TestTheClaimIsNeededToVerifyAnAttachment(t *testing.T) {
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.pod("web", using("data"))
	n.pass(time.Second)
	_, err := store.Modify(n.Store, podKey("data"), func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil })
	require.NoError(t, err)
	_, err = store.Delete[*corev1.PersistentVolumeClaim](n.Store, podKey("data"))
	require.NoError(t, err)
	n.pass(20 * time.Second)
	assert.Empty(t, n.calls())
	assert.Greater(t, n.operations("verify_controller_attached_volume", "fail-unknown"), 2.0)
	assert.Empty(t, n.kubeEvents("FailedMount"))

	n = mounted(t, setting{})
	assert.Equal(t, 1.0, n.operations("verify_controller_attached_volume", "success"))
	assert.Empty(t, n.inUse())
}

// K-ATT-8: each step reads the attachment again, but only the first checks its state.
func TestTheAttachmentIsReadForEachStep(t *testing.T) {
	for _, c := range []struct {
		name string
		pv   []func(*corev1.PersistentVolume)
		pod  func(*corev1.PodSpec)
	}{
		{"filesystem", nil, using("data")},
		{"block", []func(*corev1.PersistentVolume){block}, usingDevice("data")},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, attaching)
			n.volume("data", c.pv...)
			n.attached("data")
			say := func(status storagev1.VolumeAttachmentStatus) {
				_, err := store.ModifyStatus(n.Store, store.Key{Name: volume.AttachmentName("h-data", driverName, nodeName)},
					func(va *storagev1.VolumeAttachment) { va.Status = status })
				require.NoError(t, err)
			}
			n.hold("NodeStageVolume", time.Second)
			n.pod("web", c.pod)
			n.until(func() bool { return len(n.times("NodeStageVolume")) == 1 })
			assert.Equal(t, "7", request[*csispec.NodeStageVolumeRequest](n).PublishContext["lun"])
			say(storagev1.VolumeAttachmentStatus{AttachmentMetadata: map[string]string{"lun": "9"}})
			n.waitRunning("web")
			assert.Equal(t, "9", request[*csispec.NodePublishVolumeRequest](n).PublishContext["lun"])

			n.pod("log", c.pod)
			n.pass(5 * time.Second)
			assert.Equal(t, corev1.PodPending, n.phase("log"))
			assert.Contains(t, n.events()[len(n.events())-1], "WaitForAttach failed for volume \"pv-data\" : volume h-data is not attached for volume attachment")
		})
	}
}
