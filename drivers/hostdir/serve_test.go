//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

// A stopping driver first answers the calls in flight, including those at the socket of CSI-Addons.
func TestCallsOfCSIAddonsInFlightAreAnsweredBeforeTheDriverStops(t *testing.T) {
	w := newWorld(t)
	d := w.start("node-a", "--csi-addons", "--addons-endpoint="+w.path("addons.sock"))
	conn, err := grpc.NewClient("unix://"+w.path("addons.sock"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	require.NoError(t, err)
	defer conn.Close()
	defer d.conn.Close()
	lock, err := os.OpenFile(w.path("backend", "lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))

	answered := make(chan error, 1)
	go func() {
		_, err := volumegroup.NewControllerClient(conn).CreateVolumeGroup(t.Context(), &volumegroup.CreateVolumeGroupRequest{Name: "g"})
		answered <- err
	}()
	until(func() bool { return awaited(t, lock) })
	require.NoError(t, d.cmd.Process.Signal(syscall.SIGTERM))
	until(func() bool { return !listens(w.path("addons.sock")) && !listens(d.socket) })
	require.NoError(t, lock.Close())
	assert.NoError(t, <-answered)
	assert.NoError(t, d.cmd.Wait())
}

func until(is func() bool) {
	for !is() {
		time.Sleep(time.Millisecond)
	}
}

// awaited reports whether a process waits for the lock of a file.
func awaited(t *testing.T, file *os.File) bool {
	var stat unix.Stat_t
	require.NoError(t, unix.Fstat(int(file.Fd()), &stat))
	locks, err := os.ReadFile("/proc/locks")
	require.NoError(t, err)
	for line := range strings.Lines(string(locks)) {
		if strings.Contains(line, "->") && strings.Contains(line, fmt.Sprintf(":%d ", stat.Ino)) {
			return true
		}
	}
	return false
}

func listens(socket string) bool {
	conn, err := net.Dial("unix", socket)
	if err == nil {
		conn.Close()
	}
	return err == nil
}
