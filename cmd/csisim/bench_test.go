package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// BenchmarkUp measures the time from the start of the command until the API is ready. It may take
// 300 ms.
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

// ready reports whether the cluster of a kubeconfig serves; the file may not exist yet.
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

// built builds the command for the benchmark and returns its path.
func built(b *testing.B) string {
	program := filepath.Join(b.TempDir(), "csisim")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("build the command: %v\n%s", err, out)
	}
	return program
}

// BenchmarkThousandNodes runs a cluster that must work on a developer's machine: 1,000 nodes and
// 10,000 pods with a volume each. It uses the command, like a user. It may take 15 s and 1 GiB.
func BenchmarkThousandNodes(b *testing.B) { runLarge(b, 1000, 10_000) }

// BenchmarkTenThousandNodes runs ten times as many nodes and pods. It may take 200 s, 8 GiB, and
// 1.5 times the time per pod.
func BenchmarkTenThousandNodes(b *testing.B) { runLarge(b, 10_000, 100_000) }

func runLarge(b *testing.B, nodes, pods int) {
	program, scenario := built(b), largeScenario(b, nodes, pods)
	var peak int64
	var used time.Duration
	for b.Loop() {
		run := exec.Command(program, "run", scenario)
		run.Stderr = os.Stderr
		if err := run.Run(); err != nil {
			b.Fatal(err)
		}
		peak = max(peak, run.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
		used += run.ProcessState.UserTime() + run.ProcessState.SystemTime()
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/scenario")
	b.ReportMetric(float64(used.Microseconds())/float64(b.N*pods), "cpu-µs/pod")
	b.ReportMetric(float64(peak)/1024, "MiB-peak")
}

// largeScenario returns scenarios/large/thousand-nodes.yaml with the given numbers of nodes and
// pods.
func largeScenario(b testing.TB, nodes, pods int) string {
	dir := b.TempDir()
	for _, name := range []string{"thousand-nodes.yaml", "pod-with-claim.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../scenarios/large", name))
		if err != nil {
			b.Fatal(err)
		}
		sized := strings.NewReplacer(
			"nodes: 1000}", fmt.Sprintf("nodes: %d}", nodes), "copies: 10000}", fmt.Sprintf("copies: %d}", pods),
			"pod: web-9999,", fmt.Sprintf("pod: web-%d,", pods-1),
		).Replace(string(text))
		if err := os.WriteFile(filepath.Join(dir, name), []byte(sized), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return filepath.Join(dir, "thousand-nodes.yaml")
}
