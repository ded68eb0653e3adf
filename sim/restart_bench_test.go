package sim_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// BenchmarkKubeletRestart restarts the kubelet of a node with 100 volumes with real mounts, and
// waits until it has published all of them again. It may take a second.
func BenchmarkKubeletRestart(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("mounting takes root")
	}
	hostdir := filepath.Join(b.TempDir(), "hostdir")
	out, err := exec.Command("go", "build", "-o", hostdir, "../drivers/hostdir").CombinedOutput()
	if err != nil {
		b.Fatal(err, string(out))
	}
	c, err := sim.Start(sim.Options{Nodes: []sim.Node{{Name: "node-a"}}, Drivers: []sim.Driver{{
		Name: benchDriver,
		Program: &sim.Program{Command: []string{
			hostdir, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}",
			"--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}",
		}},
	}}})
	must(b, err)
	defer func() { must(b, c.Close()) }()
	must(b, c.Boot())
	apply(b, c, benchClass())
	const volumes = 100
	for i := range volumes {
		name := fmt.Sprintf("v%d", i)
		apply(b, c, claim(name))
		apply(b, c, pod(name, "node-a"))
	}
	must(b, c.Settle(time.Hour))
	running := 0
	for p := range store.List[*corev1.Pod](c.World.Store, "") {
		if p.Status.Phase == corev1.PodRunning {
			running++
		}
	}
	if running != volumes {
		b.Fatalf("%d of %d pods run", running, volumes)
	}
	for b.Loop() {
		must(b, c.Kill(sim.Kubelet("node-a")))
		must(b, c.Start(sim.Kubelet("node-a")))
		must(b, c.Settle(time.Hour))
	}
}
