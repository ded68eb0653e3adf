// Package library_test runs the scenario library, the folder scenarios of this repository.
package library_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/namespaces"
)

var update = flag.Bool("update", false, "write the call sequences that the scenarios give into their golden files")

func TestMain(m *testing.M) {
	namespaces.Enter()
	if err := os.Chdir("../../../scenarios"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestEveryScenarioPassesWithItsGoldenCallSequence runs all scenarios with mocks as drivers, twice.
func TestEveryScenarioPassesWithItsGoldenCallSequence(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(file, ".yaml"), func(t *testing.T) {
			s, err := scenario.Load(file)
			require.NoError(t, err)
			if slices.ContainsFunc(s.Drivers, func(d scenario.Driver) bool { return d.Mock == nil }) {
				t.Skip("needs a driver outside this process")
			}
			result, err := scenario.Run(context.Background(), s, scenario.RunOptions{CheckDeterminism: true, Guard: true})
			require.NoError(t, err)
			for _, f := range result.Failures {
				t.Error(f.Text(result.Names))
			}
			compare(t, strings.TrimSuffix(file, ".yaml")+".golden", scenario.CallSequence(result.Trace))
		})
	}
}

// TestConformance runs the scenarios for cases of Kubernetes' own suites, which their comments
// name.
func TestConformance(t *testing.T) { runAll(t, "conformance/*.yaml") }

// TestFacts runs the scenarios for observations in real clusters that were not recorded.
func TestFacts(t *testing.T) { runAll(t, "facts/*.yaml") }

// TestCSIAddons runs the scenarios of CSI-Addons.
func TestCSIAddons(t *testing.T) { runAll(t, "csi-addons/*.yaml") }

// TestPods runs the scenarios of the kubelet's decisions about pods and their containers.
func TestPods(t *testing.T) { runAll(t, "pods/*.yaml") }

// TestWorkloads runs the scenarios of the controllers that make and delete pods and claims.
func TestWorkloads(t *testing.T) { runAll(t, "workloads/*.yaml") }

// TestHistory runs the scenarios of mistakes in older versions of Kubernetes.
func TestHistory(t *testing.T) { runAll(t, "history/*.yaml") }

// TestCSIAddonsOfFaultyDrivers runs the scenarios of drivers that break a promise of CSI-Addons;
// each defect must be found.
func TestCSIAddonsOfFaultyDrivers(t *testing.T) {
	runAll(t, "csi-addons/broken/*.yaml")
	all := ""
	files, err := filepath.Glob("csi-addons/broken/*.yaml")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		all += string(text)
	}
	for _, m := range mock.Misbehaviours() {
		if strings.HasPrefix(m.Breaks, "CSI-Addons") {
			require.Contains(t, all, "faulty: ["+m.Name+"]")
		}
	}
}

func runAll(t *testing.T, pattern string) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			s, err := scenario.Load(file)
			require.NoError(t, err)
			result, err := scenario.Run(context.Background(), s, scenario.RunOptions{Guard: true})
			require.NoError(t, err)
			for _, f := range result.Failures {
				t.Error(f.Text(result.Names))
			}
		})
	}
}

// TestScenariosWithDriverProgramsReallyMount runs driver programs: the reference driver with real
// mounts, and the public drivers in PATH.
func TestScenariosWithDriverProgramsReallyMount(t *testing.T) {
	withHostdir(t)
	mounts := mountTable(t)
	files, err := filepath.Glob("programs/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			s, err := scenario.Load(file)
			require.NoError(t, err)
			needPrograms(t, s)
			result, err := scenario.Run(context.Background(), s, scenario.RunOptions{})
			require.NoError(t, err)
			for _, f := range result.Failures {
				t.Error(f.Text(result.Names))
			}
		})
	}
	require.Equal(t, mounts, mountTable(t), "the host's mount table is as before")
}

// needPrograms skips the test of a scenario with a driver program that is not in PATH.
func needPrograms(t *testing.T, s *scenario.Scenario) {
	t.Helper()
	for _, d := range s.Drivers {
		if d.Program == nil {
			continue
		}
		if _, err := exec.LookPath(d.Program.Command[0]); errors.Is(err, exec.ErrNotFound) {
			t.Skipf("%s is not in PATH: %s says where it comes from", d.Program.Command[0], s.File)
		}
	}
}

// withHostdir puts the reference driver with real mounts into PATH.
func withHostdir(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	bin := t.TempDir()
	out, err := exec.Command("go", "build", "-o", bin, "../drivers/hostdir").CombinedOutput()
	require.NoError(t, err, string(out))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func mountTable(t *testing.T) string {
	t.Helper()
	table, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(t, err)
	return string(table)
}

func compare(t *testing.T, golden, got string) {
	t.Helper()
	if *update && !t.Failed() {
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	if string(want) != got {
		t.Errorf("calls are not those of %s (rewrite it with -update):\n%s", golden, got)
	}
}
