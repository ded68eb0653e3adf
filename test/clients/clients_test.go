// Package clients uses clusters in tests like driver repositories: with the clients, caches and
// controllers of controller-runtime, and in specs of ginkgo.
package clients

import (
	"context"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

const driver = "mock.csi.csisim.dev"

const web = `
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: mock}
provisioner: mock.csi.csisim.dev
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec:
  storageClassName: mock
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: web
    image: registry.local/web:1
    volumeMounts: [{name: data, mountPath: /data}]
  volumes:
  - name: data
    persistentVolumeClaim: {claimName: data}
`

var running = expect.Object{Ref: "pod/web", Phase: "Running"}

func cluster(t sim.T) *sim.Cluster {
	return sim.New(t, sim.WithMock(mock.Options{Name: driver, Snapshot: true}))
}

// labeller labels each volume with the claim to which it is bound.
type labeller struct{ client.Client }

func (l labeller) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var pv corev1.PersistentVolume
	if err := l.Get(ctx, request.NamespacedName, &pv); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if pv.Spec.ClaimRef == nil || pv.Labels["claim"] != "" {
		return ctrl.Result{}, nil
	}
	before := pv.DeepCopy()
	pv.Labels = map[string]string{"claim": pv.Spec.ClaimRef.Name}
	return ctrl.Result{}, l.Patch(ctx, &pv, client.MergeFrom(before))
}

func TestAControllerOfControllerRuntimeLivesWithTheCluster(t *testing.T) {
	log.SetLogger(zap.New(zap.WriteTo(t.Output())))
	c := cluster(t)
	manager, err := ctrl.NewManager(c.RESTConfig(), ctrl.Options{Metrics: server.Options{BindAddress: "0"}})
	require.NoError(t, err)
	require.NoError(t, ctrl.NewControllerManagedBy(manager).For(&corev1.PersistentVolume{}).Complete(labeller{manager.GetClient()}))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- manager.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})

	c.GoLive(100)
	c.Apply(web)
	c.Until(running, expect.Object{Ref: "pv/pvc/data", Fields: map[string]any{"metadata": map[string]any{"labels": map[string]any{"claim": "data"}}}})
	c.Delete("pod/web", "pvc/data")
	c.Until(expect.Object{Ref: "pv/*", Gone: true})
}

func TestAClientOfControllerRuntimeSeesSnapshotsToo(t *testing.T) {
	c := cluster(t)
	require.NoError(t, snapshotv1.AddToScheme(scheme.Scheme))
	direct, err := client.New(c.RESTConfig(), client.Options{Scheme: scheme.Scheme})
	require.NoError(t, err)
	c.Apply(web)
	c.Until(running)
	class := &snapshotv1.VolumeSnapshotClass{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Driver: driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete}
	claim := "data"
	snapshot := &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "daily"},
		Spec:       snapshotv1.VolumeSnapshotSpec{VolumeSnapshotClassName: &class.Name, Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &claim}},
	}
	for _, obj := range []client.Object{class, snapshot} {
		require.NoError(t, direct.Create(t.Context(), obj))
	}
	c.Until(expect.Object{Ref: "vs/daily", Fields: map[string]any{"status": map[string]any{"readyToUse": true}}})
	require.NoError(t, direct.Delete(t.Context(), snapshot))
	c.Settle()
	c.ExpectCalls("CreateSnapshot", "DeleteSnapshot")
}

// A paused cluster answers informers; they receive events when virtual time has advanced.
func TestInformersFollowVirtualTime(t *testing.T) {
	c := cluster(t)
	factory := informers.NewSharedInformerFactory(c.Client(), 0)
	pods := factory.Core().V1().Pods().Lister()
	factory.Start(t.Context().Done())
	factory.WaitForCacheSync(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	c.Apply(web)
	c.Until(running)
	require.Eventually(t, func() bool {
		pod, err := pods.Pods("default").Get("web")
		return err == nil && pod.Status.Phase == corev1.PodRunning
	}, time.Minute, time.Millisecond)
}
