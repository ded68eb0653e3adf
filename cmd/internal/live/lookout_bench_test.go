package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// cpuSoFar returns the processor time that this process has used.
func cpuSoFar() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		panic(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// BenchmarkReportOfALifecycle alternates a basic lifecycle with and without a report. A report may
// add 15 ms and have 400 KB.
func BenchmarkReportOfALifecycle(b *testing.B) {
	benchmarkReport(b, "../../../scenarios/rwo-filesystem.yaml")
}

func benchmarkReport(b *testing.B, file string) {
	s, err := scenario.Load(file)
	if err != nil {
		b.Fatal(err)
	}
	var page bytes.Buffer
	var spent [2]time.Duration
	for b.Loop() {
		for with := range 2 {
			began := cpuSoFar()
			var o scenario.RunOptions
			shown := view.NewEncoder()
			if with == 1 {
				o.Sinks = []trace.Sink{shown.Sink}
			}
			result, err := scenario.Run(context.Background(), s, o)
			if err != nil {
				b.Fatal(err)
			}
			if page.Reset(); with == 1 {
				if err := report.Page(&page, report.Run{Result: result, File: file}, shown); err != nil {
					b.Fatal(err)
				}
			}
			spent[with] += cpuSoFar() - began
		}
	}
	b.ReportMetric(float64((spent[1]-spent[0]).Microseconds())/1000/float64(b.N), "added-cpu-ms")
	b.ReportMetric(float64(page.Len())/1000, "KB")
}

// BenchmarkReportOf10000Calls measures the report of 10,000 calls from repeated lifecycles. It may
// have 3 MB.
func BenchmarkReportOf10000Calls(b *testing.B) {
	for b.Loop() {
		shown := view.NewEncoder()
		c := churning(b, sim.Options{Sinks: []trace.Sink{shown.Sink}})
		calls := 0
		for round := 0; calls < 10_000; round++ {
			churn(b, c, round, 50)
			calls = 0
			for _, e := range c.World.Trace.Events() {
				if e.Kind == trace.Call {
					calls++
				}
			}
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
		chunks, err := shown.Chunks()
		if err != nil {
			b.Fatal(err)
		}
		size := counter(0)
		if err := view.Write(&size, view.Report{Name: "many", Verdict: "passed"}, chunks); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(calls), "calls")
		b.ReportMetric(float64(size)/1e6, "MB")
	}
}

// counter counts the written bytes.
type counter int

func (c *counter) Write(text []byte) (int, error) {
	*c += counter(len(text))
	return len(text), nil
}

var _ io.Writer = (*counter)(nil)

// BenchmarkFollowing measures the cost of following a cluster, per second in which ten pods with
// volumes are created and deleted. The additional processor time, including the pauses of the
// cluster for the page, is at most 3 % of the time without a follower. Another processor encodes
// the chunks and the answer while the cluster runs.
//
// The benchmark follows one of two clusters, and switches to the other one after some rounds. Each
// cluster runs first in half of the rounds, and garbage is collected between the measurements.
func BenchmarkFollowing(b *testing.B) {
	const clusters, turn = 2, 10 // rounds until the other cluster is followed
	var all [clusters]*sim.Simulation
	var lookouts [clusters]*lookout
	for i := range all {
		all[i] = churning(b, sim.Options{})
		lookouts[i] = newLookout(all[i], "bench")
	}
	var spent [4]time.Duration
	const byItself, whileFollowed, still, beside = 0, 1, 2, 3
	measure := func(what int, do func()) {
		runtime.GC()
		began := cpuSoFar()
		do()
		spent[what] += cpuSoFar() - began
	}
	var more []float64 // of each round, in percent
	for round := 0; b.Loop(); round++ {
		followed := round / turn % clusters
		if round%turn == 0 { // a page that opens receives all previous events
			before := spent
			follow(b, lookouts[followed], measure, still, beside)
			spent = before
		}
		what := [clusters]int{byItself, byItself}
		what[followed] = whileFollowed
		before := spent
		for i := range all {
			c := (round + i) % clusters
			measure(what[c], func() { churn(b, all[c], round, 10) })
		}
		follow(b, lookouts[followed], measure, still, beside)
		took := func(what int) time.Duration { return spent[what] - before[what] }
		more = append(more, percent(took(whileFollowed)+took(still)-took(byItself), took(byItself)))
	}
	for _, c := range all {
		if err := c.Close(); err != nil {
			b.Error(err)
		}
	}
	slices.Sort(more)
	// The median, since single rounds vary by more than the cost. The true median is between the
	// two other values with a probability of 95 %.
	b.ReportMetric(more[len(more)/2], "%more-in-it")
	// 1.96 standard deviations of the position of the median.
	reach := int(math.Sqrt(float64(len(more))))
	b.ReportMetric(more[max(len(more)/2-reach, 0)], "%at-least")
	b.ReportMetric(more[min(len(more)/2+reach, len(more)-1)], "%at-most")
	b.ReportMetric(percent(spent[beside], time.Duration(b.N)*time.Second), "%of-a-processor-beside-it")
	b.ReportMetric(float64(spent[still].Microseconds())/1000/float64(b.N), "still-ms/s")
	b.ReportMetric(float64(spent[byItself].Microseconds())/1000/float64(b.N), "it-ms/s")
}

func percent(part, of time.Duration) float64 { return 100 * float64(part) / float64(of) }

// follow handles one poll of a page.
func follow(b *testing.B, look *lookout, measure func(what int, do func()), still, beside int) {
	b.Helper()
	var fresh []*trace.Event
	n := news{}
	measure(still, func() { fresh, n.Mounts = look.gather(), look.mounts() })
	measure(beside, func() {
		for _, e := range fresh {
			look.encoder.Sink(e)
		}
		var err error
		if n.Chunks, err = look.encoder.Chunks(); err != nil {
			b.Fatal(err)
		}
		if _, err := json.Marshal(n); err != nil {
			b.Fatal(err)
		}
	})
}

// churning returns a cluster for churn. The API does not limit the rate of its sidecars.
func churning(b *testing.B, o sim.Options) *sim.Simulation {
	b.Helper()
	flags := sim.SidecarFlags{KubeAPIQPS: sidecar.Unlimited}
	o.Drivers = []sim.Driver{{
		Name: "mock.csi.csisim.dev", Mock: &mock.Options{},
		Sidecars: sim.Sidecars{Provisioner: sim.ProvisionerOptions{Flags: flags}, Attacher: sim.AttacherOptions{Flags: flags}},
	}}
	c, err := sim.Start(o)
	if err == nil {
		err = c.Boot()
	}
	if err == nil {
		_, err = c.Apply(&storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "mock"}, Provisioner: "mock.csi.csisim.dev"})
	}
	if err != nil {
		b.Fatal(err)
	}
	return c
}

// churn creates and deletes n pods with a volume each.
func churn(b *testing.B, c *sim.Simulation, round, n int) {
	b.Helper()
	class := "mock"
	each := func(do func(name string) error) {
		for i := range n {
			if err := do(fmt.Sprintf("v%d-%d", round, i)); err != nil {
				b.Fatal(err)
			}
		}
		if err := c.Settle(time.Hour); err != nil {
			b.Fatal(err)
		}
	}
	remove := func(resource string) func(string) error {
		res, _ := store.ResourceNamed(resource)
		return func(name string) error { return c.Delete(res, store.Key{Namespace: "default", Name: name}) }
	}
	each(func(name string) error {
		_, err := c.Apply(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		}})
		if err != nil {
			return err
		}
		_, err = c.Apply(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "registry.local/sleep:1", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}},
			Volumes:    []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name}}}},
		}})
		return err
	})
	each(remove("pods"))
	each(remove("persistentvolumeclaims"))
}
