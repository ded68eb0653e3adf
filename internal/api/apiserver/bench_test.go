package apiserver_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// ways runs a benchmark with both connections to a server, and both encodings. cpu-µs/op is the
// processor time of client and server together.
func ways(b *testing.B, run func(b *testing.B, client *kubernetes.Clientset)) {
	for _, way := range []struct {
		name           string
		socket, inJSON bool
	}{{"InProcess", false, false}, {"InProcessJSON", false, true}, {"Loopback", true, false}} {
		b.Run(way.name, func(b *testing.B) {
			server := apiserver.New(kind.NewStore(store.Options{Now: time.Now}), apiserver.Options{})
			config := server.Config()
			if way.socket {
				listener := httptest.NewServer(server)
				b.Cleanup(listener.Close)
				config = &rest.Config{Host: listener.URL, QPS: -1, ContentConfig: config.ContentConfig}
			}
			if way.inJSON {
				config.ContentType, config.AcceptContentTypes = "application/json", "application/json"
			}
			run(b, kubernetes.NewForConfigOrDie(config))
		})
	}
}

func cpuTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // it cannot fail for the current process
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func measured(b *testing.B, each func(i int)) {
	b.ReportAllocs()
	begun := cpuTime()
	i := 0
	for ; b.Loop(); i++ {
		each(i)
	}
	b.ReportMetric(float64((cpuTime()-begun).Microseconds())/float64(i), "cpu-µs/op")
}

func benchClaim(name string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "bench"}},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
	}
}

func mustCreate(b *testing.B, client *kubernetes.Clientset, name string) {
	_, err := client.CoreV1().PersistentVolumeClaims("default").Create(context.Background(), benchClaim(name), metav1.CreateOptions{})
	require.NoError(b, err)
}

func BenchmarkCreate(b *testing.B) {
	ways(b, func(b *testing.B, client *kubernetes.Clientset) {
		mustCreate(b, client, "warm")
		measured(b, func(i int) { mustCreate(b, client, fmt.Sprintf("claim-%d", i)) })
	})
}

func BenchmarkGet(b *testing.B) {
	ways(b, func(b *testing.B, client *kubernetes.Clientset) {
		mustCreate(b, client, "claim")
		measured(b, func(int) {
			_, err := client.CoreV1().PersistentVolumeClaims("default").Get(context.Background(), "claim", metav1.GetOptions{})
			require.NoError(b, err)
		})
	})
}

func BenchmarkPatch(b *testing.B) {
	ways(b, func(b *testing.B, client *kubernetes.Clientset) {
		mustCreate(b, client, "claim")
		measured(b, func(i int) { labelOnce(b, client, "claim", i) })
	})
}

func labelOnce(b *testing.B, client *kubernetes.Clientset, name string, i int) {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"n":"%d"}}}`, i)
	_, err := client.CoreV1().PersistentVolumeClaims("default").Patch(context.Background(), name, types.MergePatchType, patch, metav1.PatchOptions{})
	require.NoError(b, err)
}

func BenchmarkListTenThousand(b *testing.B) {
	ways(b, func(b *testing.B, client *kubernetes.Clientset) {
		for i := range 10_000 {
			mustCreate(b, client, fmt.Sprintf("claim-%d", i))
		}
		measured(b, func(int) {
			all, err := client.CoreV1().PersistentVolumeClaims("").List(context.Background(), metav1.ListOptions{})
			require.NoError(b, err)
			require.Len(b, all.Items, 10_000)
		})
	})
}

// BenchmarkInformer writes with two clients while an informer watches.
func BenchmarkInformer(b *testing.B) {
	ways(b, func(b *testing.B, client *kubernetes.Clientset) {
		mustCreate(b, client, "claim-0")
		mustCreate(b, client, "claim-1")
		var seen atomic.Int64
		factory := informers.NewSharedInformerFactory(client, 0)
		_, err := factory.Core().V1().PersistentVolumeClaims().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(any, any) { seen.Add(1) },
		})
		require.NoError(b, err)
		stop := make(chan struct{})
		defer close(stop)
		factory.Start(stop)
		factory.WaitForCacheSync(stop)
		begun, n := time.Now(), 0
		measured(b, func(i int) {
			var both sync.WaitGroup
			for writer := range 2 {
				both.Go(func() { labelOnce(b, client, fmt.Sprintf("claim-%d", writer), i) })
			}
			both.Wait()
			n += 2
		})
		for seen.Load() < int64(n) {
			time.Sleep(time.Millisecond)
		}
		b.ReportMetric(float64(n)/time.Since(begun).Seconds(), "events/s")
	})
}
