// Package sanity runs the CSI project's conformance suite against the reference drivers, each in a
// separate process.
package sanity

import (
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	"github.com/stretchr/testify/require"
)

// run is one run of the suite against a driver that already serves.
type run struct {
	Dir        string
	AccessType string
}

// suiteRun carries the run, as JSON, to the process that executes the suite, because the suite can
// run only once per process.
const suiteRun = "SANITY_RUN"

func TestHostdirPassesSanity(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	binary := build(t, "./drivers/hostdir")
	for name, tt := range map[string]struct {
		accessType string
		options    []string
	}{
		"file system":                       {accessType: "mount"},
		"block":                             {accessType: "block"},
		"file system, no attach, no stage":  {accessType: "mount", options: []string{"--no-attach", "--no-stage"}},
		"block, no attach, no stage":        {accessType: "block", options: []string{"--no-attach", "--no-stage"}},
		"file system with topology, limits": {accessType: "mount", options: []string{"--topology", "topology.hostdir.csisim.dev/zone=a", "--max-volumes", "8"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "sanity-") // t.TempDir's names are too long for a socket
			require.NoError(t, err)
			defer os.RemoveAll(dir)
			args := append([]string{binary,
				"--endpoint", "unix://" + socket(dir), "--node-id", "node-a", "--state-dir", filepath.Join(dir, "backend"),
			}, tt.options...)
			runSuite(t, run{dir, tt.accessType}, args)
		})
	}
}

// TestSuite runs the suite, in the process that runSuite starts.
func TestSuite(t *testing.T) {
	text := os.Getenv(suiteRun)
	if text == "" {
		t.Skip("runs for each driver in a process of its own")
	}
	var r run
	require.NoError(t, json.Unmarshal([]byte(text), &r))
	config := sanity.NewTestConfig()
	config.Address = "unix://" + socket(r.Dir)
	config.TargetPath = filepath.Join(r.Dir, "target")
	config.StagingPath = filepath.Join(r.Dir, "staging")
	config.TestVolumeAccessType = r.AccessType
	config.TestNodeVolumeAttachLimit = true
	sanity.Test(t, config)
}

// runSuite starts the driver in its own mount namespace, so that its mounts are invisible outside,
// and the suite next to it. The driver must exit cleanly.
func runSuite(t *testing.T, r run, driverArgs []string) {
	driver := exec.Command(driverArgs[0], driverArgs[1:]...)
	if testing.Verbose() {
		driver.Stderr = os.Stderr
	}
	driver.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	require.NoError(t, driver.Start())
	defer func() {
		require.NoError(t, driver.Process.Signal(syscall.SIGTERM))
		require.NoError(t, driver.Wait())
	}()
	require.Eventually(t, func() bool {
		conn, err := net.Dial("unix", socket(r.Dir))
		if err == nil {
			conn.Close()
		}
		return err == nil
	}, time.Minute, 10*time.Millisecond)

	text, err := json.Marshal(r)
	require.NoError(t, err)
	suite := exec.Command("/proc/self/exe", "-test.run=^TestSuite$", "-test.v", "-ginkgo.no-color")
	suite.Env = append(os.Environ(), suiteRun+"="+string(text))
	output, err := suite.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Logf("%s", summary(string(output)))
}

func socket(dir string) string { return filepath.Join(dir, "csi.sock") }

// summary returns the line in which the suite counts its specs.
func summary(output string) string {
	for line := range strings.Lines(output) {
		if strings.Contains(line, " Passed") {
			return strings.TrimSpace(line)
		}
	}
	return "no summary"
}

// build compiles a driver of the main module with that module's own versions.
func build(t *testing.T, pkg string) string {
	binary := filepath.Join(t.TempDir(), filepath.Base(pkg))
	compile := exec.Command("go", "build", "-o", binary, pkg)
	compile.Dir = filepath.Join("..", "..")
	output, err := compile.CombinedOutput()
	require.NoError(t, err, "build %s: %s", pkg, output)
	return binary
}
