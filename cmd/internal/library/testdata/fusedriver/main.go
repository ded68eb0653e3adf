// Command fusedriver is a CSI driver of a test: its volumes are directories that bindfs shows at
// the targets of pods. The daemon is a child of the driver or, with --helper, of a second instance
// of this program, which --serve starts: a mount pod that outlives the driver's.
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

var (
	name     = flag.String("name", "", "name of the driver")
	endpoint = flag.String("endpoint", "", "socket to serve at")
	node     = flag.String("node-id", "", "id of the node")
	state    = flag.String("state-dir", "", "directory of the volumes")
	helper   = flag.String("helper", "", "socket of the mount pod that runs the daemons")
	again    = flag.String("mount-again", "", "when the driver starts, mount its volumes again: over the dead mount, or after-unmount")
	serve    = flag.String("serve", "", "socket at which this instance is the mount pod")
)

type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer
	csi.UnimplementedNodeServer
}

func (driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: *name, VendorVersion: "1"}, nil
}

func (driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

func (driver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{Type: &csi.PluginCapability_Service_{
		Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}}}}}, nil
}

func (driver) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: []*csi.ControllerServiceCapability{{Type: &csi.ControllerServiceCapability_Rpc{
		Rpc: &csi.ControllerServiceCapability_RPC{Type: csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME}}}}}, nil
}

func (driver) CreateVolume(_ context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	return &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: r.Name, CapacityBytes: r.CapacityRange.GetRequiredBytes()}}, os.MkdirAll(filepath.Join(*state, r.Name), 0o777)
}

func (driver) DeleteVolume(_ context.Context, r *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	return &csi.DeleteVolumeResponse{}, os.RemoveAll(filepath.Join(*state, r.VolumeId))
}

func (driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{NodeId: *node}, nil
}

func (driver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (driver) NodePublishVolume(_ context.Context, r *csi.NodePublishVolumeRequest) (*csi.NodePublishVolumeResponse, error) {
	target := r.TargetPath
	if err := os.MkdirAll(target, 0o750); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	if mounted(target) {
		return &csi.NodePublishVolumeResponse{}, nil
	}
	source := filepath.Join(*state, r.VolumeId)
	err := error(nil)
	if *helper == "" {
		err = bind(source, target)
	} else {
		err = ask(source, target)
	}
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodePublishVolumeResponse{}, nil
}

func (driver) NodeUnpublishVolume(_ context.Context, r *csi.NodeUnpublishVolumeRequest) (*csi.NodeUnpublishVolumeResponse, error) {
	for mounted(r.TargetPath) {
		if err := syscall.Unmount(r.TargetPath, 0); err != nil {
			return nil, status.Error(codes.Internal, err.Error())
		}
	}
	if err := os.Remove(r.TargetPath); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// mountAllAgain mounts all volumes again that have lost their daemons.
func mountAllAgain() error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(table)) {
		place, system, _ := strings.Cut(line, " - ")
		target, fields := strings.Fields(place)[4], strings.Fields(system)
		if !strings.HasPrefix(fields[0], "fuse") || syscall.Statfs(target, &syscall.Statfs_t{}) != syscall.ENOTCONN {
			continue // stat(2) may answer from the kernel's cache for a second
		}
		if err := mountAgain(fields[1], target); err != nil {
			return err
		}
	}
	return nil
}

func mountAgain(source, target string) error {
	if *again == "after-unmount" {
		if err := syscall.Unmount(target, 0); err != nil {
			return err
		}
		return bind(source, target)
	}
	// bindfs refuses a dead mount point.
	first, err := os.MkdirTemp("", "mounted")
	if err != nil {
		return err
	}
	if err := bind(source, first); err != nil {
		return err
	}
	if err := syscall.Mount(first, target, "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	return syscall.Unmount(first, 0)
}

func mounted(target string) bool {
	table, _ := os.ReadFile("/proc/self/mountinfo")
	return strings.Contains(string(table), " "+target+" ")
}

// bind starts the FUSE daemon of a volume.
func bind(source, target string) error {
	if out, err := exec.Command("bindfs", source, target).CombinedOutput(); err != nil {
		return fmt.Errorf("bindfs: %w: %s", err, out)
	}
	return nil
}

// ask has the mount pod start the daemon.
func ask(source, target string) error {
	conn, err := net.Dial("unix", *helper)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintln(conn, source, target)
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if answer = strings.TrimSpace(answer); err == nil && answer != "ok" {
		err = errors.New(answer)
	}
	return err
}

func answerAsks(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		var source, target string
		answer := "ok"
		if _, err := fmt.Fscanln(conn, &source, &target); err != nil {
			answer = err.Error()
		} else if err := bind(source, target); err != nil {
			answer = strings.ReplaceAll(err.Error(), "\n", " ")
		}
		fmt.Fprintln(conn, answer)
		conn.Close()
	}
}

func main() {
	flag.Parse()
	if *serve != "" {
		_ = os.MkdirAll(filepath.Dir(*serve), 0o755)
		_ = os.Remove(*serve)
		listener, err := net.Listen("unix", *serve)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		go answerAsks(listener)
	}
	if *again != "" {
		if err := mountAllAgain(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	socket := strings.TrimPrefix(*endpoint, "unix://")
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, driver{})
	csi.RegisterControllerServer(server, driver{})
	csi.RegisterNodeServer(server, driver{})
	ctx, end := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer end()
	context.AfterFunc(ctx, server.Stop)
	_ = server.Serve(listener)
}
