package sim_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

const benchDriver = "mock.csi.csisim.dev"

// benchCluster returns a cluster with the mock driver and a storage class for it. Its sidecars are
// configured for scale. Their default limit of five API requests per second would stretch thousands
// of volumes over hours of virtual time. C-LIB-7
func benchCluster(b *testing.B, nodes int) *sim.Simulation {
	b.Helper()
	scale := sim.SidecarFlags{KubeAPIQPS: sidecar.Unlimited}
	o := sim.Options{Drivers: []sim.Driver{{
		Name: benchDriver, Mock: &mock.Options{},
		Sidecars: sim.Sidecars{Provisioner: sim.ProvisionerOptions{Flags: scale}, Attacher: sim.AttacherOptions{Flags: scale}},
	}}}
	for i := range nodes {
		o.Nodes = append(o.Nodes, sim.Node{Name: fmt.Sprintf("node-%d", i)})
	}
	c, err := sim.Start(o)
	must(b, err)
	must(b, c.Boot())
	apply(b, c, benchClass())
	return c
}

func benchClass() *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "mock"}, Provisioner: benchDriver}
}

func must(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func apply(b *testing.B, c *sim.Simulation, obj store.Object) {
	b.Helper()
	_, err := c.Apply(obj)
	must(b, err)
}

func claim(name string) *corev1.PersistentVolumeClaim {
	class := "mock"
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
	}}
}

func pod(name, node string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
		NodeSelector: map[string]string{corev1.LabelHostname: node},
		Containers: []corev1.Container{{Name: "c", Image: "registry.local/sleep:1", VolumeMounts: []corev1.VolumeMount{
			{Name: "data", MountPath: "/data"},
		}}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}}},
	}}
}

func remove(b *testing.B, c *sim.Simulation, resource, name string) {
	b.Helper()
	res, _ := store.ResourceNamed(resource)
	must(b, c.Delete(res, store.Key{Namespace: "default", Name: name}))
}

// lifecycles takes n volumes through their lives: claim, pod, attach, stage, publish, and all steps
// back. All volumes exist at the same time, spread over the nodes.
func lifecycles(b *testing.B, c *sim.Simulation, n int) {
	b.Helper()
	nodes := c.Nodes()
	for i := range n {
		name := fmt.Sprintf("v%d", i)
		apply(b, c, claim(name))
		apply(b, c, pod(name, nodes[i%len(nodes)]))
	}
	must(b, c.Settle(time.Hour))
	for i := range n {
		remove(b, c, "pods", fmt.Sprintf("v%d", i))
	}
	must(b, c.Settle(time.Hour))
	for i := range n {
		remove(b, c, "persistentvolumeclaims", fmt.Sprintf("v%d", i))
	}
	must(b, c.Settle(time.Hour))
	if left := c.Leftovers(); len(left) > 0 {
		b.Fatal(left[0])
	}
}

// cpuTime returns the CPU time of the process so far, garbage collection included.
func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	must(b, syscall.Getrusage(syscall.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkVolumeLifecycle measures the cost of one volume. A core handles 1,000 volumes in a
// second. With a hundred times as many volumes, the cost of each volume grows at most by the factor
// 1.3.
func BenchmarkVolumeLifecycle(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("volumes=%d", n), func(b *testing.B) {
			var used time.Duration
			for b.Loop() {
				b.StopTimer()
				c := benchCluster(b, max(2, n/50))
				before := cpuTime(b)
				b.StartTimer()
				lifecycles(b, c, n)
				b.StopTimer()
				used += cpuTime(b) - before
				must(b, c.Close())
				b.StartTimer()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/lifecycle")
			b.ReportMetric(float64(used.Microseconds())/float64(b.N*n), "cpu-µs/lifecycle")
		})
	}
}

// BenchmarkThousandNodes is the largest cluster that a developer's machine must handle: 1,000 nodes
// and 10,000 pods with a volume each, in 15 s and 1 GiB.
func BenchmarkThousandNodes(b *testing.B) {
	for b.Loop() {
		c := benchCluster(b, 1000)
		lifecycles(b, c, 10000)
		must(b, c.Close())
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/scenario")
	b.ReportMetric(peakMemory(b), "MiB-peak")
}

// peakMemory returns the highest memory usage of the process so far, in MiB.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	must(b, err)
	var kilobytes float64
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscanf(peak, "%f kB", &kilobytes)
	must(b, err)
	return kilobytes / 1024
}

// BenchmarkBasicScenario measures a cluster with the life of one volume, from the start of the
// cluster to its end. It may take 5 ms, since a suite has hundreds of such scenarios.
func BenchmarkBasicScenario(b *testing.B) {
	for b.Loop() {
		c := benchCluster(b, 2)
		lifecycles(b, c, 1)
		must(b, c.Close())
	}
}
