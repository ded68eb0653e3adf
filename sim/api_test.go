package sim_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/sim"
)

func mockCluster(t *testing.T) *sim.Simulation {
	t.Helper()
	c, err := sim.Start(sim.Options{Drivers: []sim.Driver{{Name: benchDriver, Mock: &mock.Options{}}}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	require.NoError(t, c.Boot())
	return c
}

func TestAPodMadeByClientGoGetsItsVolume(t *testing.T) {
	c := mockCluster(t)
	client, ctx := c.Client(), t.Context()
	_, err := client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "mock"}, Provisioner: benchDriver,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().PersistentVolumeClaims("default").Create(ctx, claim("v"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Create(ctx, pod("v", "node-a"), metav1.CreateOptions{})
	require.NoError(t, err)
	require.NoError(t, c.Settle(time.Hour))
	running, err := client.CoreV1().Pods("default").Get(ctx, "v", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PodRunning, running.Status.Phase)
	attachments, err := client.StorageV1().VolumeAttachments().List(ctx, metav1.ListOptions{})
	require.NoError(t, err)
	assert.Len(t, attachments.Items, 1)
}

// Informers list and watch while the simulation runs in another goroutine.
func TestInformersFollowALiveCluster(t *testing.T) {
	c := mockCluster(t)
	ctx, cancel := context.WithCancel(t.Context())
	factory := informers.NewSharedInformerFactory(c.Client(), 0)
	running := make(chan struct{})
	once := sync.Once{}
	_, err := factory.Core().V1().Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if obj.(*corev1.Pod).Status.Phase == corev1.PodRunning {
				once.Do(func() { close(running) })
			}
		},
	})
	require.NoError(t, err)
	factory.Start(ctx.Done())
	lived := make(chan error)
	go func() { lived <- c.Live(ctx, 1000) }()
	factory.WaitForCacheSync(ctx.Done())

	client := c.Client()
	_, err = client.StorageV1().StorageClasses().Create(ctx, &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{Name: "mock"}, Provisioner: benchDriver,
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().PersistentVolumeClaims("default").Create(ctx, claim("v"), metav1.CreateOptions{})
	require.NoError(t, err)
	_, err = client.CoreV1().Pods("default").Create(ctx, pod("v", "node-a"), metav1.CreateOptions{})
	require.NoError(t, err)
	select {
	case <-running:
	case <-time.After(time.Minute):
		t.Error("the pod does not run")
	}
	cancel()
	factory.Shutdown()
	require.NoError(t, <-lived)
}

func TestParallelClustersKnowNothingOfEachOther(t *testing.T) {
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := mockCluster(t)
			name := fmt.Sprintf("c%d", i)
			_, err := c.Client().CoreV1().PersistentVolumeClaims("default").Create(t.Context(), claim(name), metav1.CreateOptions{})
			require.NoError(t, err)
			claims, err := c.Client().CoreV1().PersistentVolumeClaims("").List(t.Context(), metav1.ListOptions{})
			require.NoError(t, err)
			require.Len(t, claims.Items, 1)
			assert.Equal(t, name, claims.Items[0].Name)
		})
	}
}

// The snapshot kinds, which client-go does not know, can be listed and applied like all others.
func TestSnapshotsAreListedAndApplied(t *testing.T) {
	c := mockCluster(t)
	client := dynamic.NewForConfigOrDie(c.RESTConfig())
	for _, version := range []schema.GroupVersion{snapshotv1.SchemeGroupVersion, {Group: "groupsnapshot.storage.k8s.io", Version: "v1"}} {
		kind := map[string]string{"snapshot.storage.k8s.io": "VolumeSnapshotClass", "groupsnapshot.storage.k8s.io": "VolumeGroupSnapshotClass"}[version.Group]
		classes := client.Resource(version.WithResource(strings.ToLower(kind) + "es"))
		applied := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": version.String(), "kind": kind, "metadata": map[string]any{"name": "fast"},
			"driver": benchDriver, "deletionPolicy": "Delete",
		}}
		_, err := classes.Apply(t.Context(), "fast", applied, metav1.ApplyOptions{FieldManager: "test"})
		require.NoError(t, err, kind)
		list, err := classes.List(t.Context(), metav1.ListOptions{})
		require.NoError(t, err, kind)
		require.Len(t, list.Items, 1)
		assert.Equal(t, kind+"List", list.GetKind())
		assert.Equal(t, "Delete", list.Items[0].Object["deletionPolicy"])
		managed := list.Items[0].GetManagedFields()
		require.Len(t, managed, 1)
		assert.Contains(t, managed[0].FieldsV1.GetRawString(), `"f:deletionPolicy":{}`)
	}
}
