package program_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/world/machine"
)

const (
	modeVariable   = "PROGRAM_TEST_MODE"
	socketVariable = "PROGRAM_TEST_SOCKET"
	driverName     = "tiny.csi.example.com"
	socket         = machine.KubeletDir + "/plugins/" + driverName + "/csi.sock"
)

// TestMain makes this binary a tiny driver if its environment says so.
func TestMain(m *testing.M) {
	if mode := os.Getenv(modeVariable); mode != "" {
		beDriver(mode, os.Getenv(socketVariable))
		return
	}
	goleak.VerifyTestMain(m)
}

// beDriver is the program under test: it behaves as mode says.
func beDriver(mode, socket string) {
	fmt.Println("tiny driver, mode", mode)
	switch mode {
	case "exit":
		fmt.Fprintln(os.Stderr, "no backend configured")
		os.Exit(3)
	case "deaf":
		select {}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	}
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	switch mode {
	case "garbage":
		for {
			if conn, err := listener.Accept(); err == nil {
				fmt.Fprintln(conn, "220 mail.example.com ESMTP")
				conn.Close()
			}
		}
	case "silent":
		select {} // accepts connections by the backlog, and never answers
	}
	server := grpc.NewServer()
	if mode != "not csi" {
		csi.RegisterIdentityServer(server, tiny{mode: mode})
	}
	if mode == "greedy" {
		go hoard()
	}
	_ = server.Serve(listener)
}

// hoard allocates more and more memory.
func hoard() {
	for all := []byte{}; ; time.Sleep(time.Millisecond) {
		all = append(all, make([]byte, 1<<20)...)
		for i := 0; i < len(all); i += 1 << 10 {
			all[i]++
		}
	}
}

type tiny struct {
	csi.UnimplementedIdentityServer
	mode string
}

func (d tiny) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	if d.mode == "not ready" {
		return &csi.ProbeResponse{Ready: wrapperspb.Bool(false)}, nil
	}
	return &csi.ProbeResponse{}, nil
}

func (d tiny) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	if d.mode == "other name" {
		return &csi.GetPluginInfoResponse{Name: "other.csi.example.com"}, nil
	}
	return &csi.GetPluginInfoResponse{Name: driverName}, nil
}

// newDisk returns a node on disk with a path short enough for sockets.
func newDisk(t *testing.T) *machine.Disk {
	dir, err := os.MkdirTemp("", "prg")
	require.NoError(t, err)
	d, err := machine.NewDisk("node-a", filepath.Join(dir, "n"))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, d.Close())
		require.NoError(t, os.RemoveAll(dir))
	})
	return d
}

// spec starts this binary in the given mode.
func spec(t *testing.T, mode string) program.Spec {
	return program.Spec{
		Driver:       driverName,
		NodeName:     "node-a",
		Command:      []string{os.Args[0]},
		Env:          map[string]string{modeVariable: mode, socketVariable: "{{.Socket}}"},
		Socket:       socket,
		LogDir:       t.TempDir(),
		StartTimeout: 20 * time.Second,
	}
}
