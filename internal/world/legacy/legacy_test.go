package legacy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

// L-OBJ-6, L-OBJ-7, L-OBJ-8: the meaning of a v1alpha1 object. If attachRequired was unset, the
// code attached volumes, although the documentation says that it does not.
func TestTheMeaningOfAV1alpha1CSIDriver(t *testing.T) {
	for name, tt := range map[string]struct {
		spec            legacy.CSIDriverSpec
		optional        bool
		attach, podInfo bool
	}{
		"nothing":                        {legacy.CSIDriverSpec{}, false, true, false},
		"nothing, as it was documented":  {legacy.CSIDriverSpec{}, true, false, false},
		"attach":                         {legacy.CSIDriverSpec{AttachRequired: new(true)}, true, true, false},
		"no attach":                      {legacy.CSIDriverSpec{AttachRequired: new(false)}, false, false, false},
		"pod information":                {legacy.CSIDriverSpec{PodInfoOnMountVersion: new("v1")}, false, true, true},
		"pod information of another age": {legacy.CSIDriverSpec{PodInfoOnMountVersion: new("v2")}, false, true, false},
		"no pod information":             {legacy.CSIDriverSpec{PodInfoOnMountVersion: new("")}, false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			d := &legacy.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: tt.spec}
			later := d.AsCSIDriver(legacy.Options{AttachOptional: tt.optional})
			assert.Equal(t, tt.attach, *later.Spec.AttachRequired)
			assert.Equal(t, tt.podInfo, *later.Spec.PodInfoOnMount)
			assert.Equal(t, "d", later.Name)
		})
	}
}

// L-OBJ-6: only these two fields of a later object remain.
func TestALaterCSIDriverLosesNewFields(t *testing.T) {
	of := func(s storagev1.CSIDriverSpec) legacy.CSIDriverSpec {
		return legacy.FromCSIDriver(&storagev1.CSIDriver{Spec: s}).Spec
	}
	assert.Equal(t, legacy.CSIDriverSpec{}, of(storagev1.CSIDriverSpec{StorageCapacity: new(true), PodInfoOnMount: new(false)}))
	assert.Equal(t, legacy.CSIDriverSpec{AttachRequired: new(false), PodInfoOnMountVersion: new("v1")},
		of(storagev1.CSIDriverSpec{AttachRequired: new(false), PodInfoOnMount: new(true)}))
}

// L-DRV-1: without an object volumes are attached.
func TestVolumesOfADriverWithoutAnObjectAreAttached(t *testing.T) {
	k := kernel.New(kernel.Options{})
	t.Cleanup(k.Close)
	s := kind.NewStore(store.Options{Now: k.Now})
	w := component.NewWorld(k, s, trace.NewRecorder(k))
	w.Version = 13
	c := w.Start("controller", "")
	assert.True(t, volume.MustAttach(c, "d"))
	assert.True(t, volume.MustAttachIn(c.World, "d"))
	_, err := store.Create(s, &legacy.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "d"}, Spec: legacy.CSIDriverSpec{AttachRequired: new(false)}})
	require.NoError(t, err)
	assert.False(t, volume.MustAttach(c, "d"))
	assert.False(t, volume.MustAttachIn(c.World, "d"))
}

// L-OBJ-2, L-OBJ-4: one write of a CSINodeInfo writes spec and status. The pattern of the mechanism
// is not anchored.
func TestACSINodeInfoIsWrittenAsAWhole(t *testing.T) {
	s := kind.NewStore(store.Options{})
	made, err := store.Create(s, &legacy.CSINodeInfo{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	require.NoError(t, err)
	with := func(m legacy.Mechanism) (*legacy.CSINodeInfo, error) {
		changed := made.DeepCopy()
		changed.Spec.Drivers = []legacy.DriverSpec{{Name: "d", NodeID: "n-1"}}
		changed.Status.Drivers = []legacy.DriverStatus{{Name: "d", Available: true, VolumePluginMechanism: m}}
		updated, err := store.Update(s, changed)
		if err == nil {
			made = updated
		}
		return updated, err
	}
	for _, mechanism := range []legacy.Mechanism{legacy.InTree, legacy.CSI, "csi-plugin"} {
		n, err := with(mechanism)
		require.NoError(t, err)
		assert.Equal(t, "n-1", n.Spec.Drivers[0].NodeID)
		d, ok := n.Driver("d")
		assert.True(t, ok)
		assert.Equal(t, legacy.DriverStatus{Name: "d", Available: true, VolumePluginMechanism: mechanism}, d)
	}
	_, err = with("driver")
	assert.ErrorContains(t, err, "volumePluginMechanism")
}
