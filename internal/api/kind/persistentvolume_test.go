package kind_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func TestVolumesAreCompletedAtCreation(t *testing.T) {
	got := kindtest.Create(t, kind.NewStore(store.Options{}), kindtest.Volume("x"))
	assert.Equal(t, []string{"kubernetes.io/pv-protection"}, got.Finalizers)
	assert.Equal(t, corev1.PersistentVolumeReclaimRetain, got.Spec.PersistentVolumeReclaimPolicy)
	assert.Equal(t, corev1.PersistentVolumeFilesystem, *got.Spec.VolumeMode)
	assert.Equal(t, corev1.VolumePending, got.Status.Phase)
	assert.Equal(t, store.Epoch, got.Status.LastPhaseTransitionTime.Time)
}

func TestAChangeOfPhaseIsStamped(t *testing.T) {
	now := store.Epoch
	s := kind.NewStore(store.Options{Now: func() time.Time { return now }})
	kindtest.Create(t, s, kindtest.Volume("x"))
	now = now.Add(time.Minute)
	same := kindtest.ModifyStatus(t, s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) { pv.Status.Message = "still pending" })
	require.Equal(t, store.Epoch, same.Status.LastPhaseTransitionTime.Time)
	changed := kindtest.ModifyStatus(t, s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeBound })
	assert.Equal(t, now, changed.Status.LastPhaseTransitionTime.Time)

	own := metav1.NewTime(now.Add(-time.Hour))
	told := kindtest.ModifyStatus(t, s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) {
		pv.Status.Phase, pv.Status.LastPhaseTransitionTime = corev1.VolumeReleased, &own
	})
	assert.Equal(t, own.Time, told.Status.LastPhaseTransitionTime.Time, "a client may set its own time")
}

// conformance: unit-staging-path-empty-handle
func TestVolumesAreRefused(t *testing.T) {
	for rule, c := range map[string]struct {
		change  func(*corev1.PersistentVolumeSpec)
		message string
	}{
		"without a source": {func(spec *corev1.PersistentVolumeSpec) { spec.CSI = nil }, "spec: Required value: must specify a volume type"},
		"with two sources": {func(spec *corev1.PersistentVolumeSpec) { spec.HostPath = &corev1.HostPathVolumeSource{Path: "/x"} },
			"spec.csi: Forbidden: may not specify more than 1 volume type"},
		"without a handle":   {func(spec *corev1.PersistentVolumeSpec) { spec.CSI.VolumeHandle = "" }, "spec.csi.volumeHandle: Required value"},
		"without a driver":   {func(spec *corev1.PersistentVolumeSpec) { spec.CSI.Driver = "" }, "spec.csi.driver: Required value"},
		"without modes":      {func(spec *corev1.PersistentVolumeSpec) { spec.AccessModes = nil }, "spec.accessModes: Required value"},
		"without a capacity": {func(spec *corev1.PersistentVolumeSpec) { spec.Capacity = nil }, "spec.capacity: Required value"},
		"with half a secret": {func(spec *corev1.PersistentVolumeSpec) {
			spec.CSI.NodePublishSecretRef = &corev1.SecretReference{Name: "s"}
		}, "spec.csi.nodePublishSecretRef.namespace: Required value"},
		"local without affinity": {func(spec *corev1.PersistentVolumeSpec) {
			spec.CSI, spec.Local = nil, &corev1.LocalVolumeSource{Path: "/x"}
		}, "spec.nodeAffinity: Required value: Local volume requires node affinity"},
		"with an affinity without nodes": {func(spec *corev1.PersistentVolumeSpec) { spec.NodeAffinity = &corev1.VolumeNodeAffinity{} },
			"spec.nodeAffinity.required: Required value: must specify required node constraints"},
		"with an affinity without terms": {func(spec *corev1.PersistentVolumeSpec) {
			spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
		}, "spec.nodeAffinity.required.nodeSelectorTerms: Required value: must have at least one node selector term"},
		"with a topology key that is no label": {affine(corev1.NodeSelectorRequirement{Key: "my zone", Operator: "In", Values: []string{"a"}}),
			`spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: Invalid value: "my zone": name part must consist of alphanumeric characters`},
		"with a topology value that is no label's": {affine(corev1.NodeSelectorRequirement{Key: "zone", Operator: "In", Values: []string{"a", "b/c"}}),
			`spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values[1]: Invalid value: "b/c": a valid label must be`},
		"with a topology of no value": {affine(corev1.NodeSelectorRequirement{Key: "zone", Operator: "In"}),
			"spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
	} {
		t.Run(rule, func(t *testing.T) {
			given := kindtest.Volume("x")
			c.change(&given.Spec)
			_, err := store.Create(kind.NewStore(store.Options{}), given)
			assert.ErrorContains(t, err, c.message)
		})
	}
}

func affine(r corev1.NodeSelectorRequirement) func(*corev1.PersistentVolumeSpec) {
	return func(spec *corev1.PersistentVolumeSpec) {
		spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{r}}}}}
	}
}

func TestVolumeUpdates(t *testing.T) {
	text := func(v string) *string { return &v }
	block := corev1.PersistentVolumeBlock
	for rule, c := range map[string]struct {
		change  func(*corev1.PersistentVolumeSpec)
		message string
	}{
		"the source is immutable": {func(spec *corev1.PersistentVolumeSpec) { spec.CSI.VolumeHandle = "other" },
			"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation"},
		"an expand secret may be added": {func(spec *corev1.PersistentVolumeSpec) {
			spec.CSI.ControllerExpandSecretRef = &corev1.SecretReference{Name: "s", Namespace: "n"}
		}, ""},
		"the mode is immutable": {func(spec *corev1.PersistentVolumeSpec) { spec.VolumeMode = &block },
			`volumeMode: Invalid value: "Block": field is immutable`},
		"the attributes class cannot be removed": {func(spec *corev1.PersistentVolumeSpec) { spec.VolumeAttributesClassName = nil },
			"spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"},
		"the attributes class may change": {func(spec *corev1.PersistentVolumeSpec) { spec.VolumeAttributesClassName = text("silver") }, ""},
		"the capacity may change":         {func(spec *corev1.PersistentVolumeSpec) { spec.Capacity = kindtest.Storage("2Gi") }, ""},
		"the claim may change":            {func(spec *corev1.PersistentVolumeSpec) { spec.ClaimRef = &corev1.ObjectReference{Name: "c"} }, ""},
	} {
		t.Run(rule, func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			given := kindtest.Volume("x")
			given.Spec.VolumeAttributesClassName = text("gold")
			kindtest.Create(t, s, given)
			_, err := store.Modify(s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) { c.change(&pv.Spec) })
			if c.message == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, c.message)
		})
	}
}

func TestMessagesQuoteValuesAsTheServerDoes(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Attachment("va1", "node-a", "pv1"))
	_, err := store.Modify(s, kindtest.OfCluster("va1"), func(va *storagev1.VolumeAttachment) { va.Spec.NodeName = "node-b" })
	assert.EqualError(t, err, `VolumeAttachment.storage.k8s.io "va1" is invalid: spec: Invalid value: `+
		`{"Attacher":"d.example.com","Source":{"PersistentVolumeName":"pv1","InlineVolumeSpec":null},"NodeName":"node-b"}: field is immutable`)
}

func TestAttachmentsNameExactlyOneSource(t *testing.T) {
	s := kind.NewStore(store.Options{})
	none := kindtest.Attachment("x", "node-a", "pv")
	none.Spec.Source.PersistentVolumeName = nil
	_, err := store.Create(s, none)
	assert.ErrorContains(t, err, "spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName")
	assert.False(t, kindtest.Create(t, s, kindtest.Attachment("x", "node-a", "pv")).Status.Attached)
}

// K-CFG-5
func TestCSIDriverDefaults(t *testing.T) {
	spec := kindtest.Create(t, kind.NewStore(store.Options{}), &storagev1.CSIDriver{ObjectMeta: kindtest.Named("d")}).Spec
	assert.True(t, *spec.AttachRequired)
	assert.False(t, *spec.PodInfoOnMount)
	assert.False(t, *spec.StorageCapacity)
	assert.False(t, *spec.RequiresRepublish)
	assert.False(t, *spec.SELinuxMount)
	assert.Equal(t, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy, *spec.FSGroupPolicy)
	assert.Equal(t, []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}, spec.VolumeLifecycleModes)
}

// K-CFG-6
func TestCSIDriverImmutableFields(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, &storagev1.CSIDriver{ObjectMeta: kindtest.Named("d")})
	for message, change := range map[string]func(*storagev1.CSIDriverSpec){
		"spec.attachedRequired: Invalid value: false: field is immutable": func(spec *storagev1.CSIDriverSpec) { *spec.AttachRequired = false },
		`spec.volumeLifecycleModes: Invalid value: ["Ephemeral"]: field is immutable`: func(spec *storagev1.CSIDriverSpec) {
			spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecycleEphemeral}
		},
	} {
		_, err := store.Modify(s, kindtest.OfCluster("d"), func(d *storagev1.CSIDriver) { change(&d.Spec) })
		assert.ErrorContains(t, err, message)
	}
}

// K-NODE-12
func TestCSINodeEntriesChangeOnlyTheirCount(t *testing.T) {
	count := int32(5)
	for rule, c := range map[string]struct {
		change  func(*storagev1.CSINodeSpec)
		refused bool
	}{
		"the node id":       {func(spec *storagev1.CSINodeSpec) { spec.Drivers[0].NodeID = "other" }, true},
		"the topology keys": {func(spec *storagev1.CSINodeSpec) { spec.Drivers[0].TopologyKeys = []string{"zone"} }, true},
		"the count": {func(spec *storagev1.CSINodeSpec) {
			spec.Drivers[0].Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		}, false},
		"an entry more": {func(spec *storagev1.CSINodeSpec) {
			spec.Drivers = append(spec.Drivers, storagev1.CSINodeDriver{Name: "e", NodeID: "n"})
		}, false},
		"an entry less": {func(spec *storagev1.CSINodeSpec) { spec.Drivers = nil }, false},
	} {
		t.Run(rule, func(t *testing.T) {
			s := kind.NewStore(store.Options{})
			kindtest.Create(t, s, &storagev1.CSINode{ObjectMeta: kindtest.Named("n"), Spec: storagev1.CSINodeSpec{
				Drivers: []storagev1.CSINodeDriver{{Name: "d", NodeID: "n"}},
			}})
			_, err := store.Modify(s, kindtest.OfCluster("n"), func(n *storagev1.CSINode) { c.change(&n.Spec) })
			if c.refused {
				assert.ErrorContains(t, err, "spec.drivers: Invalid value")
				return
			}
			assert.NoError(t, err)
		})
	}
}

func TestAttributesClassesAreProtectedAndImmutable(t *testing.T) {
	s := kind.NewStore(store.Options{})
	gold := &storagev1.VolumeAttributesClass{ObjectMeta: kindtest.Named("gold"), DriverName: "d", Parameters: map[string]string{"iops": "1"}}
	assert.Equal(t, []string{"kubernetes.io/vac-protection"}, kindtest.Create(t, s, gold).Finalizers)
	_, err := store.Modify(s, kindtest.OfCluster("gold"), func(c *storagev1.VolumeAttributesClass) { c.Parameters["iops"] = "2" })
	assert.EqualError(t, err, `VolumeAttributesClass.storage.k8s.io "gold" is invalid: parameters: Forbidden: updates to parameters are forbidden.`)
}
