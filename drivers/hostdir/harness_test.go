//go:build linux

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

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/csisim/csisim/internal/world/namespaces"
)

const asDriver = "HOSTDIR_RUN_MAIN"

// TestMain runs this binary as the driver, or runs the tests and then checks that no loop device is
// left.
func TestMain(m *testing.M) {
	if os.Getenv(asDriver) != "" {
		main()
		return
	}
	namespaces.Enter()
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "hostdir-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	os.Setenv("TMPDIR", dir)
	code := m.Run()
	if left := loopsBelow(dir); len(left) > 0 {
		fmt.Fprintln(os.Stderr, "the tests left loop devices behind:", left)
		return 1
	}
	return code
}

// loopsBelow lists the loop devices with images below dir.
func loopsBelow(dir string) []string {
	var devices []string
	files, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, file := range files {
		image, err := os.ReadFile(file)
		if err == nil && strings.HasPrefix(string(image), dir+"/") {
			devices = append(devices, "/dev/"+strings.Split(file, "/")[3])
		}
	}
	return devices
}

// world is a directory with a backend and the drivers that use it.
type world struct {
	t   *testing.T
	dir string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("mounting needs root")
	}
	dir, err := os.MkdirTemp("", "") // t.TempDir's names are too long for a socket
	require.NoError(t, err)
	w := &world{t: t, dir: dir}
	t.Cleanup(w.sweep)
	return w
}

// sweep removes the leftovers of broken drivers.
func (w *world) sweep() {
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	require.NoError(w.t, err)
	for line := range strings.Lines(string(mounts)) {
		if path := strings.Fields(line)[4]; strings.HasPrefix(path, w.dir+"/") {
			require.NoError(w.t, unix.Unmount(path, unix.MNT_DETACH))
		}
	}
	for _, device := range loopsBelow(w.dir) {
		fd, err := unix.Open(device, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		require.NoError(w.t, err)
		require.NoError(w.t, unix.IoctlSetInt(fd, unix.LOOP_CLR_FD, 0))
		require.NoError(w.t, unix.Close(fd))
	}
	require.NoError(w.t, os.RemoveAll(w.dir))
}

func (w *world) path(elements ...string) string {
	return filepath.Join(append([]string{w.dir}, elements...)...)
}

func (w *world) mkdir(elements ...string) string {
	dir := w.path(elements...)
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	return dir
}

// driver is one driver process and its clients.
type driver struct {
	csi.IdentityClient
	csi.ControllerClient
	csi.GroupControllerClient
	csi.NodeClient
	w      *world
	args   []string
	socket string
	cmd    *exec.Cmd
	conn   *grpc.ClientConn
	log    strings.Builder
	// withoutPrivilege starts the driver without CAP_SYS_ADMIN.
	withoutPrivilege bool
}

// start runs a driver for a node until the test ends.
func (w *world) start(nodeID string, args ...string) *driver {
	w.t.Helper()
	d := &driver{w: w, socket: w.path(nodeID + ".sock")}
	d.args = append([]string{
		"--endpoint", "unix://" + d.socket, "--node-id", nodeID, "--state-dir", w.path("backend"),
	}, args...)
	d.launch()
	w.t.Cleanup(func() {
		if d.cmd.ProcessState == nil {
			d.kill()
		}
	})
	return d
}

func (d *driver) launch() {
	t := d.w.t
	t.Helper()
	d.cmd = exec.Command("/proc/self/exe", d.args...)
	d.cmd.Env = append(os.Environ(), asDriver+"=1")
	d.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if d.withoutPrivilege {
		d.cmd.SysProcAttr.Cloneflags = syscall.CLONE_NEWUSER
		id := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 1}}
		d.cmd.SysProcAttr.UidMappings, d.cmd.SysProcAttr.GidMappings = id, id
	}
	d.log.Reset()
	d.cmd.Stderr = &d.log
	require.NoError(t, d.cmd.Start())
	conn, err := grpc.NewClient("unix://"+d.socket,
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 5 * time.Millisecond, Multiplier: 1, MaxDelay: 5 * time.Millisecond},
			MinConnectTimeout: time.Second,
		}),
		grpc.WithDefaultCallOptions(grpc.WaitForReady(true)))
	require.NoError(t, err)
	d.conn = conn
	d.IdentityClient, d.ControllerClient, d.GroupControllerClient, d.NodeClient =
		csi.NewIdentityClient(conn), csi.NewControllerClient(conn), csi.NewGroupControllerClient(conn), csi.NewNodeClient(conn)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = d.Probe(ctx, &csi.ProbeRequest{})
	require.NoError(t, err, "the driver said: %s", d.log.String())
}

func (d *driver) kill() {
	_ = d.conn.Close()
	require.NoError(d.w.t, d.cmd.Process.Kill())
	_ = d.cmd.Wait()
}

// crash kills the driver and restarts it.
func (d *driver) crash() {
	d.w.t.Helper()
	d.kill()
	d.launch()
}

// crashWith kills the driver and restarts it with other arguments.
func (d *driver) crashWith(args ...string) {
	d.w.t.Helper()
	d.args = append(d.args, args...)
	d.crash()
}
