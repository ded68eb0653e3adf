package kind_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/store"
)

func TestClaimsAreCompletedAtCreation(t *testing.T) {
	s := kind.NewStore(store.Options{})
	got := kindtest.Create(t, s, kindtest.Claim("c"))
	assert.Equal(t, []string{"kubernetes.io/pvc-protection"}, got.Finalizers)
	assert.Equal(t, corev1.PersistentVolumeFilesystem, *got.Spec.VolumeMode)
	assert.Equal(t, corev1.ClaimPending, got.Status.Phase)
	assert.Nil(t, got.Spec.StorageClassName, "there is no default class")
}

func TestTheNewestDefaultClassIsUsed(t *testing.T) {
	now := store.Epoch
	s := kind.NewStore(store.Options{Now: func() time.Time { return now }})
	for _, name := range []string{"old", "newer", "also-newer"} {
		c := kindtest.Class(name)
		c.Annotations = map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}
		kindtest.Create(t, s, c)
		if name == "old" {
			now = now.Add(time.Second)
		}
	}
	assert.Equal(t, "also-newer", *kindtest.Create(t, s, kindtest.Claim("c")).Spec.StorageClassName, "of equally new ones the first by name")

	none := ""
	explicit := kindtest.Claim("explicit")
	explicit.Spec.StorageClassName = &none
	assert.Empty(t, *kindtest.Create(t, s, explicit).Spec.StorageClassName)
}

// C-PROV-42: the API completes the data source of a claim before any provisioner or populator can
// read it.
func TestDataSourceAndReferenceMirrorEachOther(t *testing.T) {
	const snapshots = "snapshot.storage.k8s.io"
	from := func(group, kind string) *corev1.TypedLocalObjectReference {
		source := &corev1.TypedLocalObjectReference{Kind: kind, Name: "x"}
		if group != "" {
			source.APIGroup = &group
		}
		return source
	}
	ref := func(group, kind, namespace string) *corev1.TypedObjectReference {
		reference := &corev1.TypedObjectReference{Kind: kind, Name: "x"}
		if group != "" {
			reference.APIGroup = &group
		}
		if namespace != "" {
			reference.Namespace = &namespace
		}
		return reference
	}
	for says, c := range map[string]struct {
		source     *corev1.TypedLocalObjectReference
		ref        *corev1.TypedObjectReference
		wantSource *corev1.TypedLocalObjectReference
		wantRef    *corev1.TypedObjectReference
	}{
		"none":                                {},
		"a snapshot":                          {source: from(snapshots, "VolumeSnapshot"), wantSource: from(snapshots, "VolumeSnapshot"), wantRef: ref(snapshots, "VolumeSnapshot", "")},
		"a claim":                             {source: from("", "PersistentVolumeClaim"), wantSource: from("", "PersistentVolumeClaim"), wantRef: ref("", "PersistentVolumeClaim", "")},
		"any other kind is dropped":           {source: from("", "Pod")},
		"nor in a group of its own":           {source: from("example.com", "Hello")},
		"a reference to anything":             {ref: ref("example.com", "Hello", ""), wantSource: from("example.com", "Hello"), wantRef: ref("example.com", "Hello", "")},
		"another namespace is dropped":        {ref: ref(snapshots, "VolumeSnapshot", "elsewhere")},
		"the source stays if that is dropped": {source: from(snapshots, "VolumeSnapshot"), ref: ref(snapshots, "VolumeSnapshot", "elsewhere"), wantSource: from(snapshots, "VolumeSnapshot"), wantRef: ref(snapshots, "VolumeSnapshot", "")},
	} {
		t.Run(says, func(t *testing.T) {
			given := kindtest.Claim("c")
			given.Spec.DataSource, given.Spec.DataSourceRef = c.source, c.ref
			s := kind.NewStore(store.Options{})
			made := kindtest.Create(t, s, given)
			assert.Equal(t, c.wantSource, made.Spec.DataSource)
			assert.Equal(t, c.wantRef, made.Spec.DataSourceRef)
			// A client that only knows dataSource removes nothing.
			again := kindtest.Modify(t, s, kindtest.InDefault("c"), func(pvc *corev1.PersistentVolumeClaim) {
				pvc.Spec.DataSourceRef, pvc.Labels = nil, map[string]string{"by": "an-old-client"}
			})
			assert.Equal(t, c.wantRef, again.Spec.DataSourceRef)
		})
	}
}

// Given a claim without a source, when an update names one in another namespace, then the update is
// rejected, because the spec is immutable. If the gate CrossNamespaceVolumeDataSource is off, the
// source is dropped before this check. [pkg/api/persistentvolumeclaim DropDisabledFields;
// pkg/registry/core/persistentvolumeclaim PrepareForUpdate]
func TestAnUpdateToASourceElsewhereFollowsTheGate(t *testing.T) {
	for on, message := range map[bool]string{false: "", true: "spec is immutable after creation"} {
		var options []kind.Option
		if on {
			options = append(options, kind.Features(feature.Gates{feature.CrossNamespaceVolumeDataSource: true}))
		}
		s := kind.NewStore(store.Options{}, options...)
		kindtest.Create(t, s, kindtest.Claim("c"))
		changed, err := store.Modify(s, kindtest.InDefault("c"), func(pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.DataSourceRef = &corev1.TypedObjectReference{
				APIGroup: ptr.To("snapshot.storage.k8s.io"), Kind: "VolumeSnapshot", Name: "s", Namespace: ptr.To("elsewhere"),
			}
		})
		if message != "" {
			assert.ErrorContains(t, err, message)
			continue
		}
		assert.NoError(t, err)
		assert.Nil(t, changed.Spec.DataSourceRef)
	}
}

func TestClaimsAreRefused(t *testing.T) {
	for rule, c := range map[string]struct {
		change  func(*corev1.PersistentVolumeClaimSpec)
		message string
	}{
		"without anything": {func(spec *corev1.PersistentVolumeClaimSpec) { *spec = corev1.PersistentVolumeClaimSpec{} },
			`PersistentVolumeClaim "c" is invalid: [spec.accessModes: Required value: at least 1 access mode is required, spec.resources[storage]: Required value]`},
		"with no size": {func(spec *corev1.PersistentVolumeClaimSpec) { spec.Resources.Requests = kindtest.Storage("0") },
			`spec.resources[storage]: Invalid value: "0": must be greater than zero`},
		"ReadWriteOncePod with another mode": {func(spec *corev1.PersistentVolumeClaimSpec) {
			spec.AccessModes = append(spec.AccessModes, corev1.ReadWriteOncePod)
		}, `spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes`},
		"a source without a name": {func(spec *corev1.PersistentVolumeClaimSpec) {
			spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: ptr.To("example.com"), Kind: "Hello"}
		}, `spec.dataSourceRef.name: Required value`},
		"a source of the core group that is no claim": {func(spec *corev1.PersistentVolumeClaimSpec) {
			spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "Pod", Name: "p"}
		}, `spec.dataSourceRef: Invalid value: "Pod": must be 'PersistentVolumeClaim' when referencing the default apiGroup`},
		"a source of a group that is none": {func(spec *corev1.PersistentVolumeClaimSpec) {
			spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: ptr.To("Example"), Kind: "Hello", Name: "x"}
		}, `spec.dataSourceRef.apiGroup: Invalid value: "Example"`},
		"two sources": {func(spec *corev1.PersistentVolumeClaimSpec) {
			spec.DataSource = &corev1.TypedLocalObjectReference{Kind: "PersistentVolumeClaim", Name: "a"}
			spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "b"}
		}, `must match dataSourceRef`},
		"a mode that does not exist": {func(spec *corev1.PersistentVolumeClaimSpec) {
			tape := corev1.PersistentVolumeMode("Tape")
			spec.VolumeMode = &tape
		}, `spec.volumeMode: Unsupported value: "Tape": supported values: "Block", "Filesystem"`},
	} {
		t.Run(rule, func(t *testing.T) {
			given := kindtest.Claim("c")
			c.change(&given.Spec)
			_, err := store.Create(kind.NewStore(store.Options{}), given)
			require.True(t, apierrors.IsInvalid(err))
			assert.ErrorContains(t, err, c.message)
		})
	}
}

// bound makes a claim of class "std" that is bound to a volume of 1Gi.
func bound(t *testing.T, s *store.Store, expandable bool) {
	sc := kindtest.Class("std")
	sc.AllowVolumeExpansion = &expandable
	kindtest.Create(t, s, sc)
	given := kindtest.Claim("c")
	given.Spec.StorageClassName = &sc.Name
	kindtest.Create(t, s, given)
	kindtest.Modify(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeName = "pv" })
	kindtest.ModifyStatus(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) {
		c.Status.Phase = corev1.ClaimBound
		c.Status.Capacity = kindtest.Storage("1Gi")
	})
}

func request(size string) func(*corev1.PersistentVolumeClaim) {
	return func(c *corev1.PersistentVolumeClaim) { c.Spec.Resources.Requests = kindtest.Storage(size) }
}

// C-EXP-6
func TestAClaimGrowsAndUndoesAFailedExpansion(t *testing.T) {
	const tooSmall = `PersistentVolumeClaim "c" is invalid: spec.resources.requests.storage: Forbidden: field can not be less than status.capacity`
	s := kind.NewStore(store.Options{})
	bound(t, s, true) // with 1Gi
	kindtest.Modify(t, s, kindtest.InDefault("c"), request("5Gi"))
	kindtest.Modify(t, s, kindtest.InDefault("c"), request("2Gi"))
	kindtest.Modify(t, s, kindtest.InDefault("c"), request("1025Mi"))
	for _, size := range []string{"1Gi", "512Mi"} {
		_, err := store.Modify(s, kindtest.InDefault("c"), request(size))
		assert.EqualError(t, err, tooSmall, size)
	}
	kindtest.ModifyStatus(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Status.Capacity = kindtest.Storage("4Gi") })
	kindtest.Modify(t, s, kindtest.InDefault("c"), request("6Gi"))
	_, err := store.Modify(s, kindtest.InDefault("c"), request("4Gi"))
	assert.EqualError(t, err, tooSmall)
}

// conformance: suite-expand-not-allowed
func TestOnlyExpandableClassesLetClaimsGrow(t *testing.T) {
	s := kind.NewStore(store.Options{})
	bound(t, s, false)
	_, err := store.Modify(s, kindtest.InDefault("c"), request("5Gi"))
	require.True(t, apierrors.IsForbidden(err))
	assert.EqualError(t, err, `persistentvolumeclaims "c" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize`)
}

func TestMostFieldsOfAClaimAreImmutable(t *testing.T) {
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
		"not growth before binding":     {false, func(spec *corev1.PersistentVolumeClaimSpec) { spec.Resources.Requests = kindtest.Storage("5Gi") }, true},
		"not other access modes":        {true, func(spec *corev1.PersistentVolumeClaimSpec) { spec.AccessModes[0] = corev1.ReadWriteMany }, true},
		"attributes class when bound":   {true, func(spec *corev1.PersistentVolumeClaimSpec) { spec.VolumeAttributesClassName = text("gold") }, false},
		"no attributes class when free": {false, func(spec *corev1.PersistentVolumeClaimSpec) { spec.VolumeAttributesClassName = text("gold") }, true},
	} {
		t.Run(rule, func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			if c.bound {
				bound(t, s, true)
			} else {
				kindtest.Create(t, s, kindtest.Claim("c"))
			}
			_, err := store.Modify(s, kindtest.InDefault("c"), func(pvc *corev1.PersistentVolumeClaim) { c.change(&pvc.Spec) })
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
	s := kind.NewStore(store.Options{})
	bound(t, s, true)
	gold := "gold"
	kindtest.Modify(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = &gold })
	kindtest.ModifyStatus(t, s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Status.CurrentVolumeAttributesClassName = &gold })
	_, err := store.Modify(s, kindtest.InDefault("c"), func(c *corev1.PersistentVolumeClaim) { c.Spec.VolumeAttributesClassName = nil })
	assert.ErrorContains(t, err, "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil")
}

func TestStorageClassDefaultsAndImmutableFields(t *testing.T) {
	s := kind.NewStore(store.Options{})
	got := kindtest.Create(t, s, kindtest.Class("std"))
	assert.Equal(t, corev1.PersistentVolumeReclaimDelete, *got.ReclaimPolicy)
	assert.Equal(t, storagev1.VolumeBindingImmediate, *got.VolumeBindingMode)

	kindtest.Modify(t, s, kindtest.OfCluster("std"), func(c *storagev1.StorageClass) { c.MountOptions = []string{"ro"} })
	for name, change := range map[string]func(*storagev1.StorageClass){
		"parameters":    func(c *storagev1.StorageClass) { c.Parameters = map[string]string{"a": "b"} },
		"provisioner":   func(c *storagev1.StorageClass) { c.Provisioner = "other" },
		"reclaimPolicy": func(c *storagev1.StorageClass) { *c.ReclaimPolicy = corev1.PersistentVolumeReclaimRetain },
		"volumeBindingMode": func(c *storagev1.StorageClass) {
			*c.VolumeBindingMode = storagev1.VolumeBindingWaitForFirstConsumer
		},
	} {
		_, err := store.Modify(s, kindtest.OfCluster("std"), change)
		assert.ErrorContains(t, err, name+": Invalid value", name)
		assert.ErrorContains(t, err, "field is immutable", name)
	}
	_, err := store.Create(s, &storagev1.StorageClass{ObjectMeta: kindtest.Named("bad")})
	assert.EqualError(t, err, `StorageClass.storage.k8s.io "bad" is invalid: provisioner: Required value`)
}
