package volumemanager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

const driverName = "disk.csi.example.com"

var oneGi = resource.NewQuantity(1<<30, resource.BinarySI)

// pods replaces the pod workers in a test.
type pods struct {
	known map[types.UID]*corev1.Pod
	over  map[types.UID]bool // containers have stopped
}

func (p *pods) Pod(uid types.UID) (*corev1.Pod, bool) { pod, ok := p.known[uid]; return pod, ok }
func (p *pods) Terminating(uid types.UID) bool        { return p.over[uid] }
func (p *pods) RuntimeGone(uid types.UID) bool        { return p.over[uid] }
func (p *pods) VolumesChanged(types.UID)              {}
func (p *pods) Listed() bool                          { return true }

// noDrivers are the registered drivers of a node without any.
type noDrivers struct{}

func (noDrivers) Endpoint(string) (string, bool) { return "", false }

// world is a volume manager with volumes that are never attached.
type world struct {
	*component.World
	t    *testing.T
	pods *pods
	*Manager
}

func newWorld(t *testing.T) *world {
	k := kernel.New(kernel.Options{Patience: time.Minute})
	w := &world{t: t, pods: &pods{known: map[types.UID]*corev1.Pod{}, over: map[types.UID]bool{}}}
	w.World = component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	m, wire := machine.NewMemory("node-a"), wire.New(w.World)
	t.Cleanup(func() {
		k.Close()
		wire.Close()
		require.NoError(t, m.Close())
	})
	kubelet := w.Start("kubelet", "node-a")
	w.Manager = Start(kubelet, csi.New(kubelet, csi.Options{Machine: m, Wire: wire, Drivers: noDrivers{}}), w.pods, Options{})
	w.pass(150 * time.Millisecond)
	return w
}

func (w *world) pass(d time.Duration) {
	w.t.Helper()
	require.Equal(w.t, kernel.Deadline, w.Kernel.Run(kernel.Until{At: w.Kernel.Elapsed() + d}), w.Kernel.Err())
}

// pod gives the volume manager a pod that uses claim data.
func (w *world) pod(uid types.UID) {
	w.pods.known[uid] = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: string(uid), Namespace: "default", UID: uid},
		Spec: corev1.PodSpec{
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
			}}},
			Containers: []corev1.Container{{Name: "c", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
		},
	}
	w.PodChanged(uid)
}

// bind creates a claim and the volume bound to it.
func (w *world) bind() {
	w.t.Helper()
	modes, size := []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, corev1.ResourceList{corev1.ResourceStorage: *oneGi}
	claim, err := store.Create(w.Store, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: "data", Namespace: "default"},
		Spec:       corev1.PersistentVolumeClaimSpec{AccessModes: modes, VolumeName: "pv-data", Resources: corev1.VolumeResourceRequirements{Requests: size}},
	})
	require.NoError(w.t, err)
	_, err = store.Create(w.Store, &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "pv-data"},
		Spec: corev1.PersistentVolumeSpec{
			AccessModes: modes, Capacity: size, ClaimRef: &corev1.ObjectReference{Namespace: "default", Name: "data", UID: claim.UID},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driverName, VolumeHandle: "h"}},
		},
	})
	require.NoError(w.t, err)
	_, err = store.ModifyStatus(w.Store, store.KeyOf(claim), func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimBound })
	require.NoError(w.t, err)
}

var unique = volume.UniqueName(driverName, "h")

// K-RACE-17, K-DSW-10: a pod with volumes that cannot be looked up is processed in every pass until
// its worker first requests it. Then it is processed once for each request.
func TestAPodWithoutAnEarlierRequest(t *testing.T) {
	for _, asked := range []bool{false, true} {
		w := newWorld(t)
		w.pod("web")
		if asked {
			w.populator.reprocess("web")
		}
		w.pass(time.Second)
		assert.Len(t, w.desired.errors["web"], 1)
		w.bind()
		w.pass(120 * time.Millisecond)
		assert.Equal(t, asked, w.desired.wants(unique, "web") == nil, "asked for: %v", asked)
		w.populator.reprocess("web")
		w.pass(120 * time.Millisecond)
		assert.NotNil(t, w.desired.wants(unique, "web"))
		assert.Empty(t, w.desired.errors["web"])
	}
}

// K-DSW-2: a pass adds before it removes. When one pod takes over from another within a pass, the
// volume stays desired and therefore reported in use.
func TestAPodThatTakesOverFromAnother(t *testing.T) {
	for name, pause := range map[string]time.Duration{"within a pass": 0, "after it": 200 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.bind()
			w.pod("web")
			w.pass(time.Second)
			w.MarkReportedInUse([]corev1.UniqueVolumeName{corev1.UniqueVolumeName(unique)})
			delete(w.pods.known, "web")
			w.pods.over["web"] = true
			w.PodChanged("web")
			w.pass(pause)
			w.pod("log")
			w.pass(120 * time.Millisecond)
			assert.Nil(t, w.desired.wants(unique, "web"))
			require.NotNil(t, w.desired.wants(unique, "log"))
			assert.Equal(t, pause == 0, w.desired.volumes[unique].reportedInUse, "K-DSW-14: otherwise it is another wish")
		})
	}
}

// K-REC-11: the attachable volumes among the desired and the mounted ones, sorted and without
// duplicates.
func TestVolumesInUse(t *testing.T) {
	for _, c := range []struct {
		name    string
		desired map[string]bool // by name: whether they need attaching
		actual  map[string]ternary
		want    []corev1.UniqueVolumeName
	}{
		{"none", nil, nil, nil},
		{"wanted", map[string]bool{"b": true, "a": true}, nil, []corev1.UniqueVolumeName{"a", "b"}},
		{"held", nil, map[string]ternary{"b": yes, "a": yes}, []corev1.UniqueVolumeName{"a", "b"}},
		{"wanted and held", map[string]bool{"a": true}, map[string]ternary{"a": yes}, []corev1.UniqueVolumeName{"a"}},
		{"no attaching", map[string]bool{"a": false}, map[string]ternary{"b": no, "c": unknown}, nil},
		{"wanted without attaching, held with", map[string]bool{"a": false}, map[string]ternary{"a": yes}, []corev1.UniqueVolumeName{"a"}},
		{"wanted with attaching, held without", map[string]bool{"a": true}, map[string]ternary{"a": no}, []corev1.UniqueVolumeName{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := &Manager{desired: newDesired(), actual: newActual()}
			m.reconciler = &reconciler{Manager: m}
			_, ok := m.VolumesInUse()
			assert.False(t, ok, "K-ATT-2: nothing is reported before all mounted volumes are known")
			m.reconciler.synced = true
			for name, attachable := range c.desired {
				m.desired.addVolume(name, attachable, labels{})
			}
			for name, attachable := range c.actual {
				m.actual.attach(name, nil, attachable)
			}
			names, ok := m.VolumesInUse()
			assert.True(t, ok)
			assert.Equal(t, c.want, names)
		})
	}
}
