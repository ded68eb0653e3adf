package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// BenchmarkThousandNodes runs the largest cluster that a developer's machine has to
// bear as a user would: 1,000 nodes and 10,000 pods with a volume each, through the
// command. At most 15 s and 1 GiB.
func BenchmarkThousandNodes(b *testing.B) {
	program := filepath.Join(b.TempDir(), "csisim")
	if out, err := exec.Command("go", "build", "-trimpath", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("build the command: %v\n%s", err, out)
	}
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
