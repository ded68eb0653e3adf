package provisioner_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func (w *world) changeClaim(name string, change func(*corev1.PersistentVolumeClaim)) {
	w.T.Helper()
	_, err := store.Modify(w.Store, store.Key{Namespace: "default", Name: name}, change)
	require.NoError(w.T, err)
}

func (w *world) claimWith(name, class string, change func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16Mi")}},
		},
	}
	change(pvc)
	return testcluster.Create(w, pvc)
}

// messages returns the distinct messages of the events with a reason.
func (w *world) messages(reason string) []string {
	var all []string
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent && e.Method == reason && !slices.Contains(all, e.Message) {
			all = append(all, e.Message)
		}
	}
	return all
}

// C-PROV-1: up to a hundred claims are processed at once, and each call has a timeout of 10 s.
func TestAHundredVolumesAreMadeAtOnce(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.wire.Faults.Inject(&fault.Fault{Call: "CreateVolume", Effect: fault.HoldRequest, Delay: time.Hour})
	for i := range 103 {
		w.claim(fmt.Sprint("c", i), "stub")
	}
	w.Run(9 * time.Second)
	assert.Len(t, w.callTimes(createCall), 100)
	w.Run(1500 * time.Millisecond)
	assert.Len(t, w.callTimes(createCall), 103)
}

// C-PROV-2: the provisioner has a new identity at each start. An identity in the driver's answer
// takes precedence.
func TestTheProvisionerSignsItsVolumes(t *testing.T) {
	const key = "storage.kubernetes.io/csiProvisionerIdentity"
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	signature := func(claim string) string {
		w.claim(claim, "stub")
		w.Run(time.Second)
		pvc, _ := get[*corev1.PersistentVolumeClaim](w, "default", claim)
		pv, _ := get[*corev1.PersistentVolume](w, "", pvc.Spec.VolumeName)
		return pv.Spec.CSI.VolumeAttributes[key]
	}
	first := signature("a")
	assert.Regexp(t, `^\d{13}-\d{1,4}-`+regexp.QuoteMeta(driverName)+`$`, first)
	assert.Equal(t, first, signature("b"))
	w.provisioner.Crash()
	provisioner.Start(w.World, w.wire, provisioner.Options{Driver: driverName, Machine: w.machine, Socket: socket})
	assert.NotEqual(t, first, signature("c"))
	w.edit = func(r *csi.CreateVolumeResponse) { r.Volume.VolumeContext = map[string]string{key: "mine"} }
	assert.Equal(t, "mine", signature("d"))
}

// C-PROV-4: if the API rejects the PersistentVolume, the volume is kept, and the write is repeated.
// An object that another client wrote is accepted.
func TestAVolumeIsKeptIfItsObjectIsRejected(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Topology: true}, provisioner.Options{ImmediateTopology: new(false)})
	w.class("stub")
	w.edit = func(r *csi.CreateVolumeResponse) {
		r.Volume.AccessibleTopology = []*csi.Topology{{Segments: map[string]string{"no key of a label": "x"}}}
	}
	w.claim("c", "stub")
	w.Run(time.Hour)
	assert.Len(t, w.callTimes(createCall), 1)
	assert.Empty(t, w.callTimes(deleteCall))
	assert.Empty(t, w.volumes())
	assert.Empty(t, w.messages("ProvisioningSucceeded"))

	pvc := w.claim("d", "stub")
	w.edit = func(*csi.CreateVolumeResponse) { w.volumeOf(pvc) }
	w.Run(time.Second)
	assert.Equal(t, []string{"Successfully provisioned volume pvc-" + string(pvc.UID)}, w.messages("ProvisioningSucceeded"))
	assert.Empty(t, w.messages("ProvisioningFailed"))
}

// volumeOf makes a PersistentVolume with the name of the claim's volume.
func (w *world) volumeOf(pvc *corev1.PersistentVolumeClaim) {
	testcluster.Create(w, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pvc-" + string(pvc.UID)}, Spec: corev1.PersistentVolumeSpec{
		Capacity: pvc.Spec.Resources.Requests, AccessModes: pvc.Spec.AccessModes,
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: "h"}},
	}})
}

// C-PROV-5
func TestTheReporterOfProvisioning(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.claim("c", "stub")
	w.from("hello", "hello.example.com", "Hello", "world")
	w.Run(time.Second)
	sources := map[string]string{}
	for e := range store.List[*corev1.Event](w.Store, "") {
		sources[e.Message] = e.Source.Component
	}
	library := `^` + regexp.QuoteMeta(driverName) + `_[^_]+_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`
	assert.Regexp(t, library, sources[`External provisioner is provisioning volume for claim "default/c"`])
	assert.Equal(t, "external-provisioner", sources["Assuming an external populator will provision the volume"])
}

// C-PROV-10, C-PROV-11, C-PROV-12, C-PV-42: the claims that lead to a call of the driver.
func TestWhichClaimsAreProvisioned(t *testing.T) {
	const asks, beta, migrated = "volume.kubernetes.io/storage-provisioner", "volume.beta.kubernetes.io/storage-provisioner", "pv.kubernetes.io/migrated-to"
	const node = "volume.kubernetes.io/selected-node"
	later := storagev1.VolumeBindingWaitForFirstConsumer
	class := func(provisioner string, mode *storagev1.VolumeBindingMode) *storagev1.StorageClass {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "k"}, Provisioner: provisioner, VolumeBindingMode: mode}
	}
	for _, c := range []struct {
		says        string
		class       *storagev1.StorageClass
		annotations map[string]string
		volume      string
		asked       bool
	}{
		{says: "no provisioner is named", class: class(driverName, nil)},
		{says: "the driver is named", class: class(driverName, nil), annotations: map[string]string{asks: driverName}, asked: true},
		{says: "the driver is named as it was in beta", class: class(driverName, nil), annotations: map[string]string{beta: driverName}, asked: true},
		{says: "another is named", class: class(driverName, nil), annotations: map[string]string{asks: "x.example.com", beta: driverName}},
		{says: "another is named, but the driver stands in for it", class: class(driverName, nil), annotations: map[string]string{asks: "kubernetes.io/x", migrated: driverName}, asked: true},
		{says: "the claim has a volume", class: class(driverName, nil), annotations: map[string]string{asks: driverName}, volume: "v"},
		{says: "no node is selected", class: class(driverName, &later), annotations: map[string]string{asks: driverName}},
		{says: "a node is selected", class: class(driverName, &later), annotations: map[string]string{asks: driverName, node: "n"}, asked: true},
		{says: "the class is another's", class: class("x.example.com", nil), annotations: map[string]string{asks: driverName}},
		{says: "there is no class", annotations: map[string]string{asks: driverName}},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
			w.binder.Crash() // the PV binder would name the driver
			if c.class != nil {
				testcluster.Create(w, c.class)
			}
			w.claimWith("c", "k", func(pvc *corev1.PersistentVolumeClaim) {
				pvc.Annotations, pvc.Spec.VolumeName = c.annotations, c.volume
			})
			w.Run(10 * time.Second)
			if c.asked {
				assert.Len(t, w.callTimes(createCall), 1)
				return
			}
			assert.Empty(t, w.callTimes(createCall))
			assert.Empty(t, w.messages("Provisioning"))
			assert.Empty(t, w.messages("ProvisioningFailed"))
		})
	}
}

// C-PROV-10: the provisioner waits for a missing class.
func TestAMissingClassIsLookedUpAgain(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.claimWith("c", "k", func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Annotations = map[string]string{"volume.kubernetes.io/storage-provisioner": driverName}
	})
	w.binder.Crash()
	w.Run(10 * time.Second) // retried after 1, 3 and 7 s
	w.class("k")
	w.Run(4 * time.Second)
	assert.Empty(t, w.callTimes(createCall))
	w.Run(2 * time.Second)
	assert.Len(t, w.callTimes(createCall), 1)
}

// C-PROV-11
func TestAClaimWhoseVolumeExistsGetsNoOther(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.binder.Crash()
	w.class("stub")
	pvc := w.claim("c", "stub")
	w.volumeOf(pvc)
	w.changeClaim("c", func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Annotations = map[string]string{"volume.kubernetes.io/storage-provisioner": driverName}
	})
	w.Run(time.Minute)
	assert.Empty(t, w.callTimes(createCall))
	assert.Empty(t, w.messages("Provisioning"))
}

// C-PROV-12
func TestEachAttemptIsReported(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.Run(time.Second)
	w.fail("CreateVolume", codes.Internal, 3)
	w.claim("c", "stub")
	w.Run(10 * time.Second)
	var counts []int32
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent && e.Method == "Provisioning" {
			assert.Equal(t, `External provisioner is provisioning volume for claim "default/c"`, e.Message)
			counts = append(counts, e.Count())
		}
	}
	assert.Equal(t, []int32{1, 2, 3, 4}, counts)
}

// defect is a defect that ends an attempt, and the error message.
type defect struct {
	name   string
	claim  func(*corev1.PersistentVolumeClaim)
	class  func(*storagev1.StorageClass)
	driver func(*mock.Options)
	tells  string
}

// C-PROV-20: if there are two mistakes, the first check reports its own.
func TestTheOrderOfChecks(t *testing.T) {
	defects := []defect{
		{name: "a snapshot of a wrong group", claim: func(pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: ptr.To("old.example.com"), Kind: "VolumeSnapshot", Name: "s"}
		}, tells: "the PVC source does not belong to the right APIGroup"},
		{name: "a capability", claim: func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeAttributesClassName = ptr.To("silver") },
			driver: func(o *mock.Options) { o.ModifyVolume = false }, tells: "controller MODIFY_VOLUME capability is not reported"},
		{name: "a selector", claim: func(pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}
		}, tells: "claim Selector is not supported"},
		{name: "two file systems", class: func(c *storagev1.StorageClass) {
			c.Parameters["fstype"], c.Parameters["csi.storage.k8s.io/fstype"] = "ext4", "xfs"
		}, tells: "fstype specified in parameters with both"},
		{name: "a source", claim: func(pvc *corev1.PersistentVolumeClaim) {
			if pvc.Spec.DataSourceRef == nil {
				pvc.Spec.DataSourceRef = &corev1.TypedObjectReference{Kind: "PersistentVolumeClaim", Name: "missing"}
			}
		}, tells: "error getting handle for DataSource Type PersistentVolumeClaim by Name missing"},
		{name: "topology", driver: func(o *mock.Options) { o.Topology = true }, tells: "error generating accessibility requirements: no topology key found"},
		{name: "a secret", class: func(c *storagev1.StorageClass) {
			c.Parameters["csi.storage.k8s.io/provisioner-secret-name"], c.Parameters["csi.storage.k8s.io/provisioner-secret-namespace"] = "none", "default"
		}, tells: `secrets "none" not found`},
		{name: "an unknown parameter", class: func(c *storagev1.StorageClass) { c.Parameters["csi.storage.k8s.io/colour"] = "red" },
			tells: `found unknown parameter key "csi.storage.k8s.io/colour"`},
		{name: "an attributes class", claim: func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeAttributesClassName = ptr.To("silver") },
			tells: "VAC silver referenced in PVC is for driver x.example.com which does not match driver name " + driverName},
	}
	for i, first := range defects {
		for _, second := range defects[i+1:] {
			t.Run(first.name+" before "+second.name, func(t *testing.T) {
				options := mock.Options{Clone: true, ModifyVolume: true, Snapshot: true}
				for _, d := range []defect{second, first} {
					if d.driver != nil {
						d.driver(&options)
					}
				}
				w := newWorld(t, kernel.Options{}, options, provisioner.Options{})
				testcluster.Create(w, &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: "silver"}, DriverName: "x.example.com", Parameters: map[string]string{"a": "b"}})
				w.class("stub", func(c *storagev1.StorageClass) {
					c.Parameters = map[string]string{}
					for _, d := range []defect{first, second} {
						if d.class != nil {
							d.class(c)
						}
					}
				})
				w.claimWith("c", "stub", func(pvc *corev1.PersistentVolumeClaim) {
					for _, d := range []defect{first, second} {
						if d.claim != nil {
							d.claim(pvc)
						}
					}
				})
				w.Run(500 * time.Millisecond)
				if got := w.messages("ProvisioningFailed"); assert.Len(t, got, 1) {
					assert.Contains(t, got[0], first.tells)
				}
				assert.Empty(t, w.callTimes(createCall))
			})
		}
	}
}

// C-PROV-20, C-PROV-62: the provisioner remembers a volume that the driver may be creating. A later
// attempt that fails before the call does not change this. It forgets the volume after a final
// result.
func TestWhichMistakesEndAnAttempt(t *testing.T) {
	replaceClass := func(parameters map[string]string) func(*world) {
		return func(w *world) {
			_, err := store.Delete[*storagev1.StorageClass](w.Store, store.Key{Name: "stub"})
			require.NoError(w.T, err)
			w.class("stub", func(c *storagev1.StorageClass) { c.Parameters = parameters })
		}
	}
	secret := map[string]string{"csi.storage.k8s.io/provisioner-secret-name": "top", "csi.storage.k8s.io/provisioner-secret-namespace": "default"}
	for _, c := range []struct {
		says      string
		breakIt   func(*world)
		mend      func(*world)
		forgotten bool
	}{
		{"the secret is deleted", func(w *world) {
			_, err := store.Delete[*corev1.Secret](w.Store, store.Key{Namespace: "default", Name: "top"})
			require.NoError(w.T, err)
		}, func(w *world) {
			testcluster.Create(w, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "top"}})
		}, false},
		{"the attributes class is deleted", func(w *world) {
			w.removeAttributes("gold")
		}, func(w *world) { w.attributes("gold", driverName) }, false},
		{"the attributes class is another driver's", func(w *world) {
			w.removeAttributes("gold")
			w.attributes("gold", "x.example.com")
		}, func(w *world) {
			w.removeAttributes("gold")
			w.attributes("gold", driverName)
		}, true},
		{"a parameter is unknown", replaceClass(map[string]string{"csi.storage.k8s.io/colour": "red"}), replaceClass(secret), true},
		{"two file systems", replaceClass(map[string]string{"fstype": "a", "csi.storage.k8s.io/fstype": "b"}), replaceClass(secret), true},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := newWorld(t, kernel.Options{}, mock.Options{ModifyVolume: true}, provisioner.Options{})
			testcluster.Create(w, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "top"}})
			w.attributes("gold", driverName)
			w.class("stub", func(c *storagev1.StorageClass) { c.Parameters = secret })
			w.fail("CreateVolume", codes.DeadlineExceeded, 1)
			w.Run(time.Second)
			w.claimWith("c", "stub", func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeAttributesClassName = ptr.To("gold") })
			w.Run(500 * time.Millisecond)
			c.breakIt(w)
			w.Run(time.Second) // one more attempt
			w.deleteClaim("c")
			w.Run(time.Second)
			c.mend(w)
			w.Run(time.Minute)
			if c.forgotten {
				assert.Len(t, w.callTimes(createCall), 1)
			} else {
				assert.Len(t, w.callTimes(createCall), 2)
				assert.Len(t, w.callTimes(deleteCall), 1)
			}
			assert.Empty(t, w.volumes())
		})
	}
}

func (w *world) attributes(name, driver string) {
	testcluster.Create(w, &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: name}, DriverName: driver, Parameters: map[string]string{"iops": "1"}})
}

// removeAttributes removes the finalizers of a deleted class at once. In a cluster the protection
// controller does it.
func (w *world) removeAttributes(name string) {
	key := store.Key{Name: name}
	_, err := store.Modify(w.Store, key, func(c *storagev1.VolumeAttributesClass) { c.Finalizers = nil })
	require.NoError(w.T, err)
	_, err = store.Delete[*storagev1.VolumeAttributesClass](w.Store, key)
	require.NoError(w.T, err)
}

// C-PROV-22, C-PROV-23
func TestTheCreateVolumeRequest(t *testing.T) {
	const single, multi = csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER, csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{DefaultFSType: "ext4"})
	w.class("stub", func(c *storagev1.StorageClass) { c.MountOptions = []string{"noatime"} })
	for says, change := range map[string]func(*corev1.PersistentVolumeClaim){
		"a file system": func(*corev1.PersistentVolumeClaim) {},
		"a block device": func(pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock)
		},
	} {
		t.Run(says, func(t *testing.T) {
			pvc := w.claimWith("c", "stub", func(pvc *corev1.PersistentVolumeClaim) {
				pvc.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce, corev1.ReadWriteMany}
				change(pvc)
			})
			w.Run(time.Second)
			request := lastCreate(w)
			assert.Equal(t, "pvc-"+string(pvc.UID), request.GetName())
			_, ok := get[*corev1.PersistentVolume](w, "", request.GetName())
			assert.True(t, ok)
			assert.Equal(t, int64(16<<20), request.GetCapacityRange().GetRequiredBytes())
			assert.Zero(t, request.GetCapacityRange().GetLimitBytes())
			var modes []csi.VolumeCapability_AccessMode_Mode
			for _, capability := range request.GetVolumeCapabilities() {
				modes = append(modes, capability.GetAccessMode().GetMode())
				if says == "a block device" {
					assert.NotNil(t, capability.GetBlock())
				} else {
					assert.Equal(t, "ext4", capability.GetMount().GetFsType())
					assert.Equal(t, []string{"noatime"}, capability.GetMount().GetMountFlags())
				}
			}
			assert.Equal(t, []csi.VolumeCapability_AccessMode_Mode{single, multi}, modes)
			w.deleteClaim("c")
			w.Run(time.Second)
		})
	}
}

// C-PROV-30
func TestADriverWithoutTopologyGetsNoNodes(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.node("node-a")
	w.class("later", waitForFirstConsumer)
	w.claim("c", "later")
	w.pod("p", "c", "node-a")
	w.Run(5 * time.Second)
	require.NotNil(t, lastCreate(w))
	assert.Nil(t, lastCreate(w).GetAccessibilityRequirements())
	assert.Nil(t, w.volumes()[0].Spec.NodeAffinity)
}

// C-PROV-34: the driver gets the same request as long as it may be working on the volume.
func TestTheTopologyOfAnAttemptIsKept(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Topology: true}, provisioner.Options{})
	w.node("node-a")
	w.node("node-b")
	w.class("stub")
	w.fail("CreateVolume", codes.DeadlineExceeded, 2)
	w.Run(time.Second)
	w.claim("c", "stub")
	w.Run(500 * time.Millisecond)
	w.node("node-c")
	w.Run(time.Second)
	assert.Equal(t, []string{"node-a", "node-b"}, zones(lastCreate(w).GetAccessibilityRequirements().GetRequisite()))
	w.wire.Faults.Clear("CreateVolume")
	w.fail("CreateVolume", codes.Internal, 1)
	w.Run(2 * time.Second)
	assert.Equal(t, []string{"node-a", "node-b"}, zones(lastCreate(w).GetAccessibilityRequirements().GetRequisite()))
	w.Run(10 * time.Second) // after a final answer the topology is chosen anew
	assert.Len(t, w.callTimes(createCall), 4)
	assert.Equal(t, []string{"node-a", "node-b", "node-c"}, zones(lastCreate(w).GetAccessibilityRequirements().GetRequisite()))
}

// C-PROV-51: the provisioner does not change the claim; the PV controller binds it.
func TestTheProvisionerDoesNotBind(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.claim("c", "stub")
	w.Run(time.Second)
	require.Equal(t, corev1.ClaimBound, w.phase("c"))
	writers := map[string]bool{}
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.API && e.Resource == "persistentvolumeclaims" && e.Change == "MODIFIED" {
			writer, _, _ := strings.Cut(e.Actor, "/")
			writers[writer] = true
		}
	}
	assert.Equal(t, map[string]bool{"persistentvolume-controller": true}, writers)
}

// C-PROV-63: a claim keeps its selected node until the driver has returned a final error for this
// node.
func TestAClaimIsNotRescheduledWhileTheDriverMayBeWorking(t *testing.T) {
	const node = "volume.kubernetes.io/selected-node"
	w := newWorld(t, kernel.Options{}, mock.Options{Topology: true}, provisioner.Options{StrictTopology: true})
	w.node("node-a")
	w.class("topo", waitForFirstConsumer)
	w.fail("CreateVolume", codes.Unavailable, 5)
	w.claim("c", "topo")
	w.pod("p", "c", "")
	selected := func() string {
		pvc, _ := get[*corev1.PersistentVolumeClaim](w, "default", "c")
		return pvc.Annotations[node]
	}
	w.Run(20 * time.Second) // calls after 0, 1, 3, 7 and 15 s
	assert.Len(t, w.callTimes(createCall), 5)
	assert.Equal(t, "node-a", selected())
	assert.Empty(t, w.messages("FailedScheduling"))
	w.fail("CreateVolume", codes.ResourceExhausted, 1)
	w.Run(12 * time.Second)
	assert.Contains(t, w.messages("FailedScheduling"), `running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "c"`)
}

// C-PROV-75: the driver gets one DeleteVolume for a volume with finalizers of others.
func TestAVolumeHeldByOthersIsDeletedOnce(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.claim("c", "stub")
	w.Run(time.Second)
	name := w.volumes()[0].Name
	change := func(change func(*corev1.PersistentVolume)) {
		_, err := store.Modify(w.Store, store.Key{Name: name}, change)
		require.NoError(t, err)
	}
	w.deleteClaim("c")
	change(func(pv *corev1.PersistentVolume) { pv.Finalizers = []string{"example.com/hold"} })
	w.Run(time.Second)
	assert.Len(t, w.callTimes(deleteCall), 1)
	pv, ok := get[*corev1.PersistentVolume](w, "", name)
	require.True(t, ok)
	assert.NotNil(t, pv.DeletionTimestamp)
	change(func(pv *corev1.PersistentVolume) { pv.Labels = map[string]string{"seen": "again"} })
	w.Run(time.Hour)
	assert.Len(t, w.callTimes(deleteCall), 1)
}

// The provisioner deletes a volume again for each Released version that has its finalizer. Its late
// cache delivers three: the version that the PV controller wrote, the version with a
// deletionTimestamp, and the version without the finalizer of the PV protection controller.
// C-PROV-72
func TestALateCacheRepeatsDeleteVolumeForEachVersionOfTheVolume(t *testing.T) {
	seen := map[int]bool{}
	for seed := range uint64(60) {
		w := newWorld(t, kernel.Options{Strategy: kernel.NewRandom(seed)}, mock.Options{}, provisioner.Options{})
		w.class("stub")
		w.claim("c", "stub")
		w.Run(10 * time.Second)
		w.deleteClaim("c")
		w.Run(10 * time.Second)
		require.Empty(t, w.volumes(), "seed %d", seed)
		calls := len(w.callTimes(deleteCall))
		assert.LessOrEqual(t, calls, 3, "seed %d", seed)
		seen[calls] = true
	}
	assert.True(t, seen[1], "once")
	assert.True(t, seen[2], "twice")
}
