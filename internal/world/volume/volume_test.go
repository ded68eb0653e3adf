package volume_test

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

func TestNames(t *testing.T) {
	// The hashes come from the recorded traces (lifecycle-stub).
	assert.Equal(t, "csi-856065d8759b7e3d55f94b03fe96d221596489509e569c8ed7187633b179352e",
		volume.AttachmentName("vol-0001", "stub.csi.example.com", "node-a")) // K-PATH-6, C-CSIP-1
	// K-PATH-3
	assert.Equal(t, "de9658b854e1ed0b46160ec1afa6ebfb831529d80970b3c4684d8a1661f40322", volume.HandleHash("vol-0001"))
	// K-PATH-8
	assert.Equal(t, "kubernetes.io/csi/d^vol-1", volume.UniqueName("d", "vol-1"))
	// K-PATH-8
	assert.Equal(t, "kubernetes.io/csi/uid-scratch", volume.UniqueInlineName("uid", "scratch"))

	for name, want := range map[string]bool{
		"kubernetes.io/csi/d^vol-1":   true,
		"kubernetes.io/csi/d^vol^1":   false, // it must give exactly two parts: C-CSIP-7
		"kubernetes.io/csi/uid-empty": false,
		"kubernetes.io/gce-pd/disk":   false,
	} {
		_, _, ok := volume.SplitUniqueName(name)
		assert.Equal(t, want, ok, name)
	}
	// C-GEN-12: only the first two slashes count.
	driver, handle, _ := volume.SplitUniqueName("kubernetes.io/csi/d/e^a/b")
	assert.Equal(t, []string{"d/e", "a/b"}, []string{driver, handle})
}

const (
	rwo  = corev1.ReadWriteOnce
	rox  = corev1.ReadOnlyMany
	rwx  = corev1.ReadWriteMany
	rwop = corev1.ReadWriteOncePod
)

type modes = []corev1.PersistentVolumeAccessMode

// K-RPC-6
//
// conformance: unit-access-mode-readwriteonce-old, unit-access-mode-readwriteonce-new,
// unit-access-mode-readonlymany-old, unit-access-mode-readwritemany-old,
// unit-access-mode-readwritemany-new, unit-access-mode-readwriteoncepod-new
func TestAccessModesOfTheKubelet(t *testing.T) {
	for _, c := range []struct {
		modes         modes
		plain, single csi.VolumeCapability_AccessMode_Mode
	}{
		{nil, csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER},
		{modes{rwo}, csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER},
		{modes{rwo, rwx}, csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER},
		{modes{rwop}, csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, csi.VolumeCapability_AccessMode_SINGLE_NODE_SINGLE_WRITER},
		{modes{rox}, csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY, csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY},
		{modes{rwx}, csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER, csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER},
		{modes{"Else"}, csi.VolumeCapability_AccessMode_UNKNOWN, csi.VolumeCapability_AccessMode_UNKNOWN},
	} {
		assert.Equal(t, c.plain, volume.NodeAccessMode(c.modes, false), "%v", c.modes)
		assert.Equal(t, c.single, volume.NodeAccessMode(c.modes, true), "%v with SINGLE_NODE_MULTI_WRITER", c.modes)
	}
}

func TestAccessModesOfTheSidecars(t *testing.T) { // C-LIB-6
	for _, c := range []struct {
		modes modes
		want  csi.VolumeCapability_AccessMode_Mode
		err   string
	}{
		{modes{rwo}, csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, ""},
		{modes{rwo, rox, rwx}, csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER, ""},
		{modes{rox}, csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY, ""},
		{modes{rwop}, csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER, ""},
		{modes{rwop, rwo}, 0, "cannot be combined"},
		{modes{rox, rwo}, 0, "cannot be combined"},
		{nil, 0, "no access mode"},
	} {
		got, err := volume.ControllerAccessMode(c.modes, false)
		if c.err != "" {
			assert.ErrorContains(t, err, c.err, "%v", c.modes)
			continue
		}
		assert.NoError(t, err)
		assert.Equal(t, c.want, got, "%v", c.modes)
	}
}

func TestMultiAttachIsDecidedByThePVsModes(t *testing.T) { // C-ADC-31
	pv := func(m ...corev1.PersistentVolumeAccessMode) *corev1.PersistentVolume {
		return &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{AccessModes: m}}
	}
	assert.True(t, volume.MultiAttachAllowed(nil), "an attachment that recovery knows by name only")
	assert.True(t, volume.MultiAttachAllowed(pv()))
	assert.True(t, volume.MultiAttachAllowed(pv(rwo, rox)))
	assert.False(t, volume.MultiAttachAllowed(pv(rwo)))
	assert.False(t, volume.MultiAttachAllowed(pv(rwop)))
}

func TestADriverAttachesUnlessItsCSIDriverDeniesIt(t *testing.T) { // C-GEN-11
	k := kernel.New(kernel.Options{})
	defer k.Close()
	s := kind.NewStore(store.Options{Now: k.Now})
	c := component.NewWorld(k, s, trace.NewRecorder(k)).Start("kubelet", "node-a")
	no := false
	_, err := store.Create(s, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "local"}, Spec: storagev1.CSIDriverSpec{AttachRequired: &no}})
	assert.NoError(t, err)
	_, err = store.Create(s, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "cloud"}})
	assert.NoError(t, err)
	assert.False(t, volume.MustAttach(c, "local"))
	assert.False(t, volume.MustAttachIn(c.World, "local"))
	assert.True(t, volume.MustAttach(c, "cloud"))
	assert.True(t, volume.MustAttachIn(c.World, "cloud"))
	assert.True(t, volume.MustAttach(c, "unknown"))
	assert.True(t, volume.MustAttachIn(c.World, "unknown"))
}

func TestWhenAPodIsTerminated(t *testing.T) { // C-GEN-10
	now := metav1.Now()
	running := []corev1.ContainerStatus{{State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	ended := []corev1.ContainerStatus{{State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}}}
	for _, c := range []struct {
		what string
		pod  corev1.Pod
		want bool
	}{
		{"runs", corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: running}}, false},
		{"succeeded", corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}, true},
		{"is deleted and runs", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}, Status: corev1.PodStatus{ContainerStatuses: running}}, false},
		{"is deleted and has ended", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}, Status: corev1.PodStatus{ContainerStatuses: ended}}, true},
		{"is deleted and never had a status", corev1.Pod{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &now}}, true},
	} {
		assert.Equal(t, c.want, volume.Terminated(&c.pod), c.what)
	}
}
