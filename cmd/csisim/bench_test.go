package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// BenchmarkUp is the time from the start of the command until the API says that it
// is ready. At most 300 ms.
func BenchmarkUp(b *testing.B) {
	program := built(b)
	for b.Loop() {
		kubeconfig := filepath.Join(b.TempDir(), "config")
		up := exec.Command(program, "up", "--kubeconfig", kubeconfig)
		up.Env = append(os.Environ(), "XDG_CACHE_HOME="+b.TempDir())
		if err := up.Start(); err != nil {
			b.Fatal(err)
		}
		for !ready(kubeconfig) {
			time.Sleep(time.Millisecond)
		}
		b.StopTimer()
		_ = up.Process.Signal(syscall.SIGINT)
		if err := up.Wait(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

// ready asks the cluster of a kubeconfig, which may not be there yet.
func ready(kubeconfig string) bool {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return false
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return false
	}
	text, err := client.RESTClient().Get().AbsPath("/readyz").DoRaw(context.Background())
	return err == nil && string(text) == "ok"
}

// built is the command, built for the benchmark.
func built(b *testing.B) string {
	program := filepath.Join(b.TempDir(), "csisim")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("build the command: %v\n%s", err, out)
	}
	return program
}

// BenchmarkThousandNodes runs the largest cluster that a developer's machine has to
// bear as a user would: 1,000 nodes and 10,000 pods with a volume each, through the
// command. At most 15 s and 1 GiB.
func BenchmarkThousandNodes(b *testing.B) {
	program := built(b)
	var peak int64
	for b.Loop() {
		run := exec.Command(program, "run", "../../scenarios/large/thousand-nodes.yaml")
		run.Stderr = os.Stderr
		if err := run.Run(); err != nil {
			b.Fatal(err)
		}
		peak = max(peak, run.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/scenario")
	b.ReportMetric(float64(peak)/1024, "MiB-peak")
}
