package nodeinfo_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const node = "node-a"

// world is an API server and the node-info manager of node-a.
type world struct {
	t       *testing.T
	kernel  *kernel.Kernel
	store   *store.Store
	trace   *trace.Recorder
	kubelet *component.Component
	info    *nodeinfo.Manager
}

func newWorld(t *testing.T) *world { return worldOn(t, kernel.New(kernel.Options{})) }

func worldOn(t *testing.T, k *kernel.Kernel) *world {
	t.Cleanup(k.Close)
	s := kind.NewStore(store.Options{Now: k.Now})
	r := trace.NewRecorder(k)
	w := &world{t: t, kernel: k, store: s, trace: r}
	w.kubelet = component.NewWorld(k, s, r).Start("kubelet", node)
	return w
}

// started returns a world in which the node has its CSINode.
func started(t *testing.T) *world {
	w := newWorld(t)
	w.createNode(nil)
	w.info = nodeinfo.Start(w.kubelet, nil)
	w.quiet()
	return w
}

func (w *world) createNode(labels map[string]string) *corev1.Node {
	n, err := store.Create(w.store, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: node, Labels: labels, Annotations: map[string]string{"node.alpha.kubernetes.io/ttl": "0"}}})
	require.NoError(w.t, err)
	return n
}

func (w *world) quiet() {
	require.Equal(w.t, kernel.Quiet, w.kernel.Run(kernel.Until{StopWhenQuiet: true}))
}

func (w *world) until(at time.Duration) { w.kernel.Run(kernel.Until{At: at}) }

// do runs f as a process of the kubelet to its end.
func (w *world) do(f func(p *kernel.Process) error) (err error) {
	w.t.Helper()
	p := w.kubelet.Go("test", func(p *kernel.Process) { err = f(p) })
	require.Equal(w.t, kernel.Done, w.kernel.Run(kernel.Until{Cond: p.Ended}))
	return err
}

func (w *world) install(d nodeinfo.Driver) error {
	w.t.Helper()
	return w.do(func(p *kernel.Process) error { return w.info.Install(p, d) })
}

func (w *world) uninstall(driver string) error {
	w.t.Helper()
	return w.do(func(p *kernel.Process) error { return w.info.Uninstall(p, driver) })
}

func (w *world) node() *corev1.Node {
	n, ok := store.Get[*corev1.Node](w.store, store.Key{Name: node})
	require.True(w.t, ok)
	return n
}

func (w *world) csiNode() *storagev1.CSINode {
	n, ok := store.Get[*storagev1.CSINode](w.store, store.Key{Name: node})
	require.True(w.t, ok)
	return n
}

// writes lists the API changes since event number after, as "CHANGE resource".
func (w *world) writes(after uint64) []string {
	var all []string
	for _, e := range w.trace.Events() {
		if e.Kind == trace.API && e.Seq > after {
			all = append(all, e.Change+" "+e.Resource)
		}
	}
	return all
}
