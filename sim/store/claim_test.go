package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/sim/store"
)

func TestClaimsAreCompletedAtCreation(t *testing.T) {
	s := store.New(store.Options{})
	got := create(t, s, claim("c"))
	assert.Equal(t, []string{"kubernetes.io/pvc-protection"}, got.Finalizers)
	assert.Equal(t, corev1.PersistentVolumeFilesystem, *got.Spec.VolumeMode)
	assert.Equal(t, corev1.ClaimPending, got.Status.Phase)
	assert.Nil(t, got.Spec.StorageClassName, "there is no default class")
}

func TestTheNewestDefaultClassIsTaken(t *testing.T) {
	now := store.Epoch
	s := store.New(store.Options{Now: func() time.Time { return now }})
	for _, name := range []string{"old", "newer", "also-newer"} {
		c := class(name)
		c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		create(t, s, c)
		if name == "old" {
			now = now.Add(time.Second)
		}
	}
	assert.Equal(t, "also-newer", *create(t, s, claim("c")).Spec.StorageClassName, "of equally new ones the first by name")

	none := ""
	explicit := claim("explicit")
	explicit.Spec.StorageClassName = &none
	assert.Empty(t, *create(t, s, explicit).Spec.StorageClassName)
}

func TestDataSourceAndReferenceMirrorEachOther(t *testing.T) {
	s := store.New(store.Options{})
	group := "snapshot.storage.k8s.io"
	c := claim("c")
	c.Spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: &group, Kind: "VolumeSnapshot", Name: "snap"}
	assert.Equal(t, "snap", create(t, s, c).Spec.DataSourceRef.Name)

	odd := claim("odd")
	odd.Spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "Pod", Name: "p"}
	assert.Nil(t, create(t, s, odd).Spec.DataSource, "what is neither claim nor snapshot is dropped")
}

func TestClaimsAreRefused(t *testing.T) {
	for rule, c := range map[string]struct {
		change  func(*corev1.PersistentVolumeClaimSpec)
		message string
	}{
		"without anything": {func(spec *corev1.PersistentVolumeClaimSpec) { *spec = corev1.PersistentVolumeClaimSpec{} },
			`PersistentVolumeClaim "c" is invalid: [spec.accessModes: Required value: at least 1 access mode is required, spec.resources[storage]: Required value]`},
		"with no size": {func(spec *corev1.PersistentVolumeClaimSpec) { spec.Resources.Requests = storage("0") },
			`spec.resources[storage]: Invalid value: "0": must be greater than zero`},
		"ReadWriteOncePod with another mode": {func(spec *corev1.PersistentVolumeClaimSpec) {
			spec.AccessModes = append(spec.AccessModes, corev1.ReadWriteOncePod)
		}, `spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`},
		"a mode that does not exist": {func(spec *corev1.PersistentVolumeClaimSpec) {
			tape := corev1.PersistentVolumeMode("Tape")
			spec.VolumeMode = &tape
		}, `spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"`},
	} {
		t.Run(rule, func(t *testing.T) {
			given := claim("c")
			c.change(&given.Spec)
			_, err := store.Create(store.New(store.Options{}), given)
			require.True(t, apierrors.IsInvalid(err))
			assert.ErrorContains(t, err, c.message)
		})
	}
}

// bound makes a claim of class "std" that is bound to a volume of 1Gi.
func bound(t *testing.T, s *store.Store, expandable bool) {
	sc := class("std")
	sc.AllowVolumeExpansion = &expandable
	create(t, s, sc)
	given := claim("c")
	given.Spec.StorageClassName = &sc.Name
	create(t, s, given)
	modify(t, s, inDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "pv" })
	modifyStatus(t, s, inDefault("c"), func(c *corev1.PersistentVolumeClaim) {
		c.Status.Phase = corev1.ClaimBound
		c.Status.Capacity = storage("1Gi")
	})
}

func request(size string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = storage(size) }
}

func TestClaimsGrowAndTakeItBack(t *testing.T) {
	s := store.New(store.Options{})
	bound(t, s, true)
	modify(t, s, inDefault("c"), request("5Gi"))
	modify(t, s, inDefault("c"), request("2Gi"))
	_, err := store.Modify(s, inDefault("c"), request("1Gi"))
	assert.EqualError(t, err, `PersistentVolumeClaim "c" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity`)
}

// conformance: suite-expand-not-allowed
func TestOnlyExpandableClassesLetClaimsGrow(t *testing.T) {
	s := store.New(store.Options{})
	bound(t, s, false)
	_, err := store.Modify(s, inDefault("c"), request("5Gi"))
	require.True(t, apierrors.IsForbidden(err))
	assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`)
}

func TestSpecOfAClaimIsImmutableButFor(t *testing.T) {
	text := func(v string) *string { return &v }
	for rule, c := range map[string]struct {
		bound   bool
		change  func(*corev1.PersistentVolumeClaimSpec)
		refused bool
	}{
		"a volume name, once":           {false, func(spec *corev1.PersistentVolumeClaimSpec) { spec.VolumeName = "pv" }, false},
		"not a second volume name":      {true, func(spec *corev1.PersistentVolumeClaimSpec) { spec.VolumeName = "other" }, true},
		"a class where there was none":  {false, func(spec *corev1.PersistentVolumeClaimSpec) { spec.StorageClassName = text("std") }, false},
		"not another class":             {true, func(spec *corev1.PersistentVolumeClaimSpec) { spec.StorageClassName = text("other") }, true},
		"not growth before binding":     {false, func(spec *corev1.PersistentVolumeClaimSpec) { spec.Resources.Requests = storage("5Gi") }, true},
		"not other access modes":        {true, func(spec *corev1.PersistentVolumeClaimSpec) { spec.AccessModes[0] = corev1.ReadWriteMany }, true},
		"attributes class when bound":   {true, func(spec *corev1.PersistentVolumeClaimSpec) { spec.VolumeAttributesClassName = text("gold") }, false},
		"no attributes class when free": {false, func(spec *corev1.PersistentVolumeClaimSpec) { spec.VolumeAttributesClassName = text("gold") }, true},
	} {
		t.Run(rule, func(t *testing.T) {
			s := store.New(store.Options{})
			if c.bound {
				bound(t, s, true)
			} else {
				create(t, s, claim("c"))
			}
			_, err := store.Modify(s, inDefault("c"), func(pvc *corev1.PersistentVolumeClaim) { c.change(&pvc.Spec) })
			if !c.refused {
				require.NoError(t, err)
				return
			}
			require.True(t, apierrors.IsInvalid(err))
			assert.ErrorContains(t, err, "spec: Forbidden: spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims")
		})
	}
}

func TestAttributesClassInUseCannotBeRemoved(t *testing.T) {
	s := store.New(store.Options{})
	bound(t, s, true)
	gold := "gold"
	modify(t, s, inDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = &gold })
	modifyStatus(t, s, inDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Status.CurrentVolumeAttributesClassName = &gold })
	_, err := store.Modify(s, inDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = nil })
	assert.ErrorContains(t, err, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")
}

func TestStorageClassDefaultsAndImmutableFields(t *testing.T) {
	s := store.New(store.Options{})
	got := create(t, s, class("std"))
	assert.Equal(t, corev1.PersistentVolumeReclaimDelete, *got.ReclaimPolicy)
	assert.Equal(t, storagev1.VolumeBindingImmediate, *got.VolumeBindingMode)

	modify(t, s, cluster("std"), func(c *storagev1.StorageClass) { c.MountOptions = []string{"ro"} })
	for name, change := range map[string]func(*storagev1.StorageClass){
		"parameters":    func(c *storagev1.StorageClass) { c.Parameters = map[string]string{"a": "b"} },
		"provisioner":   func(c *storagev1.StorageClass) { c.Provisioner = "other" },
		"reclaimPolicy": func(c *storagev1.StorageClass) { *c.ReclaimPolicy = corev1.PersistentVolumeReclaimRetain },
		"volumeBindingMode": func(c *storagev1.StorageClass) {
			*c.VolumeBindingMode = storagev1.VolumeBindingWaitForFirstConsumer
		},
	} {
		_, err := store.Modify(s, cluster("std"), change)
		assert.ErrorContains(t, err, name+": Invalid value", name)
		assert.ErrorContains(t, err, "field is immutable", name)
	}
	_, err := store.Create(s, &storagev1.StorageClass{ObjectMeta: named("bad")})
	assert.EqualError(t, err, `StorageClass.storage.k8s.io "bad" is invalid: provisioner: Required value`)
}
