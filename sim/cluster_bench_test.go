package sim_test

import (
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"github.com/csisim/csisim/sim"
)

// within is a test that lasts until end.
type within struct {
	*testing.B
	cleanups []func()
}

func (w *within) Cleanup(what func()) { w.cleanups = append(w.cleanups, what) }

func (w *within) end() {
	for i := len(w.cleanups) - 1; i >= 0; i-- {
		w.cleanups[i]()
	}
}

// BenchmarkClusterInTest measures a cluster of two nodes with a driver, from New to the end of the
// test. It may take 2 ms and 200 KiB, since a suite has a cluster in each test.
func BenchmarkClusterInTest(b *testing.B) {
	b.ReportAllocs()
	before := cpuTime(b)
	for b.Loop() {
		t := &within{B: b}
		sim.New(t, withMock)
		t.end()
	}
	b.ReportMetric(float64((cpuTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/cluster")
}

// BenchmarkParallelTestsWithInformers runs 50 tests at once, each with informers that see its pod
// run. It may take 1 s.
func BenchmarkParallelTestsWithInformers(b *testing.B) {
	before := cpuTime(b)
	for b.Loop() {
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				t := &within{B: b}
				defer t.end()
				seenByInformers(t)
			})
		}
		all.Wait()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/50-tests")
	b.ReportMetric((cpuTime(b)-before).Seconds()/float64(b.N), "cpu-s/50-tests")
}

func seenByInformers(t *within) {
	c := sim.New(t, withMock)
	factory := informers.NewSharedInformerFactory(c.Client(), 0)
	core, storageV1 := factory.Core().V1(), factory.Storage().V1()
	seen := make(chan struct{})
	once := sync.Once{}
	_, err := core.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, obj any) {
			if obj.(*corev1.Pod).Status.Phase == corev1.PodRunning {
				once.Do(func() { close(seen) })
			}
		},
	})
	must(t.B, err)
	core.PersistentVolumes().Informer()
	core.PersistentVolumeClaims().Informer()
	storageV1.VolumeAttachments().Informer()
	stop := make(chan struct{})
	factory.Start(stop)
	t.Cleanup(func() {
		close(stop)
		factory.Shutdown()
	})
	factory.WaitForCacheSync(stop)
	c.Apply(storage, pod("web", "node-a"))
	c.Until(running)
	select {
	case <-seen:
	case <-time.After(time.Minute):
		t.Error("the informer does not see the pod run")
	}
}
