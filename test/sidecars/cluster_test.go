package sidecars

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	snapshots "github.com/kubernetes-csi/external-snapshotter/client/v8/clientset/versioned"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// speed is the ratio of the cluster's clock to the real one: the kubelet checks expanded volumes
// once a minute.
const speed = "10"

// cluster is csisim up as a process with its own home directory, and clients of its API.
type cluster struct {
	*testing.T
	kubernetes.Interface
	snapshots snapshots.Interface
	dir       string
}

// up starts a live cluster from a file. At the end of the test, all its files and processes are
// removed.
func up(t *testing.T, file string, flags ...string) *cluster {
	dir, err := os.MkdirTemp("", "side") // t.TempDir's names are too long for a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	scenario := filepath.Join(dir, "cluster.yaml")
	require.NoError(t, os.WriteFile(scenario, []byte(file), 0o600))
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o700))
	c := &cluster{T: t, dir: dir}
	output, err := os.Create(c.outputFile())
	require.NoError(t, err)
	defer output.Close()
	live := c.command(append([]string{"up", "-f", scenario, "--kubeconfig", c.kubeconfig(), "--work-dir", work, "--speed", speed}, flags...)...)
	live.Stdout, live.Stderr = output, output
	require.NoError(t, live.Start())
	t.Cleanup(func() {
		assert.NoError(t, c.command("down").Run())
		assert.NoError(t, live.Wait(), c.output())
		left, err := os.ReadDir(work)
		assert.NoError(t, err)
		assert.Empty(t, left, "files of the run are left behind")
	})
	require.Eventually(t, func() bool { return c.command("get", "kubeconfig").Run() == nil }, time.Minute, 50*time.Millisecond, c.output())
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(t, err)
	c.Interface, c.snapshots = kubernetes.NewForConfigOrDie(config), snapshots.NewForConfigOrDie(config)
	return c
}

func (c *cluster) kubeconfig() string { return filepath.Join(c.dir, "kubeconfig") }
func (c *cluster) outputFile() string { return filepath.Join(c.dir, "output") }

// output returns the output of csisim up so far.
func (c *cluster) output() string {
	text, err := os.ReadFile(c.outputFile())
	require.NoError(c, err)
	return string(text)
}

// command returns csisim with the cluster's home.
func (c *cluster) command(args ...string) *exec.Cmd {
	command := exec.Command(filepath.Join(programs, "csisim"), args...)
	command.Env = append(os.Environ(), "HOME="+c.dir, "XDG_CACHE_HOME="+c.dir)
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return command
}

// controllerSocket returns the socket of the driver's controller plugin.
func (c *cluster) controllerSocket() string {
	out, err := c.command("get", "sockets").Output()
	require.NoError(c, err)
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); fields[1] == "control-plane" {
			return fields[2]
		}
	}
	c.Fatalf("no socket of a controller plugin in:\n%s", out)
	return ""
}

// start starts a sidecar that elects a leader. The sidecar ends before the cluster does.
func (c *cluster) start(name string, args ...string) {
	c.run(name, append(args, "--kubeconfig="+c.kubeconfig(), "--leader-election", "--leader-election-namespace=kube-system")...)
}

func (c *cluster) run(name string, args ...string) {
	sidecar := exec.Command(filepath.Join(programs, name), args...)
	var log bytes.Buffer
	sidecar.Stdout, sidecar.Stderr = &log, &log
	sidecar.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(c, sidecar.Start())
	c.Cleanup(func() {
		assert.NoError(c, sidecar.Process.Kill(), "%s has ended before", name)
		_ = sidecar.Wait() // it was killed
		if c.Failed() {
			c.Logf("the log of %s:\n%s", name, &log)
		}
	})
}

// await waits until a condition holds.
func (c *cluster) await(what string, holds func(ctx context.Context) (bool, error)) {
	c.Helper()
	var last error
	ok := assert.Eventually(c, func() bool {
		held, err := holds(c.Context())
		last = err
		return held && err == nil
	}, time.Minute, 100*time.Millisecond, "waiting for %s", what)
	if !ok {
		events, err := c.CoreV1().Events("").List(c.Context(), metav1.ListOptions{})
		require.NoError(c, err)
		for _, e := range events.Items {
			c.Logf("%s %s: %s: %s", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Reason, e.Message)
		}
		require.FailNow(c, "it did not happen", "%v", last)
	}
}
