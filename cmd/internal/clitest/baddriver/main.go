// Command baddriver is a CSI driver that misbehaves in the ways named by the environment variable
// BAD_DRIVER. It serves at the unix socket given as its argument; its volumes are file systems in
// memory.
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
)

const name = "bad.csi.example.com"

func main() {
	way := os.Getenv("BAD_DRIVER")
	switch way {
	case "exits":
		fmt.Fprintln(os.Stderr, "no backend is configured")
		os.Exit(3)
	case "never listens":
		select {}
	}
	d := &driver{way: way}
	if d.goes("leaves children") {
		leaveChildren()
	}
	if d.goes("writes elsewhere") {
		writeElsewhere(os.Getenv("ELSEWHERE"))
	}
	if d.goes("ignores SIGTERM") {
		signal.Ignore(syscall.SIGTERM)
	}
	socket := os.Args[1]
	_ = os.Remove(socket)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	switch way {
	case "talks garbage":
		talkGarbage(listener)
	case "accepts only":
		acceptOnly(listener)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(d.hang))
	csi.RegisterIdentityServer(server, d)
	csi.RegisterControllerServer(server, d)
	csi.RegisterNodeServer(server, d)
	if err := server.Serve(listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func talkGarbage(listener net.Listener) {
	for {
		if connection, err := listener.Accept(); err == nil {
			fmt.Fprintln(connection, "220 mail.example.com ESMTP")
			connection.Close()
		}
	}
}

func acceptOnly(listener net.Listener) {
	for {
		if connection, err := listener.Accept(); err == nil {
			go io.Copy(io.Discard, connection)
		}
	}
}

type driver struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedControllerServer
	csi.UnimplementedNodeServer
	way  string
	hung atomic.Bool
}

// goes reports whether BAD_DRIVER contains the name of a misbehaviour.
func (d *driver) goes(way string) bool { return slices.Contains(strings.Split(d.way, ", "), way) }

// hang never answers the call that BAD_DRIVER names: "hangs in CreateVolume" or, for only the first
// call, "hangs once in CreateVolume". It keeps hanging after the caller cancels, and creates the
// file HANGING when it begins to hang.
func (d *driver) hang(ctx context.Context, request any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	call := path.Base(info.FullMethod)
	always := strings.HasPrefix(d.way+",", "hangs in "+call+",")
	once := strings.HasPrefix(d.way, "hangs once in "+call)
	if always || once && d.hung.CompareAndSwap(false, true) {
		if d.goes("fills its disk") {
			_ = fill() // filling a disk always ends with an error
		}
		if mark := os.Getenv("HANGING"); mark != "" {
			_ = os.WriteFile(mark, nil, 0o644) // the test waits for the file and reports the error
		}
		select {}
	}
	return handler(ctx, request)
}

func (d *driver) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}

func (d *driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	if d.way == "has another name" {
		return &csi.GetPluginInfoResponse{Name: "other.csi.example.com"}, nil
	}
	return &csi.GetPluginInfoResponse{Name: name, VendorVersion: "1"}, nil
}

func (d *driver) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{
		Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}},
	}}}, nil
}

func (d *driver) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: []*csi.ControllerServiceCapability{{
		Type: &csi.ControllerServiceCapability_Rpc{Rpc: &csi.ControllerServiceCapability_RPC{Type: csi.ControllerServiceCapability_RPC_CREATE_DELETE_VOLUME}},
	}}}, nil
}

func (d *driver) CreateVolume(_ context.Context, r *csi.CreateVolumeRequest) (*csi.CreateVolumeResponse, error) {
	v := &csi.Volume{VolumeId: r.GetName(), CapacityBytes: r.GetCapacityRange().GetRequiredBytes()}
	switch d.way {
	case "fills its disk":
		return nil, fill()
	case "leaks memory":
		leak()
	case "names no volume":
		v.VolumeId = ""
	case "answers nothing":
		v = nil
	case "names it at length":
		v.VolumeId += strings.Repeat("-", 140-len(v.VolumeId))
	}
	return &csi.CreateVolumeResponse{Volume: v}, nil
}

func (d *driver) DeleteVolume(context.Context, *csi.DeleteVolumeRequest) (*csi.DeleteVolumeResponse, error) {
	return &csi.DeleteVolumeResponse{}, nil
}

func (d *driver) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{}, nil
}

func (d *driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	if d.way == "names no node" {
		return &csi.NodeGetInfoResponse{}, nil
	}
	return &csi.NodeGetInfoResponse{NodeId: "n"}, nil
}

// writeElsewhere writes and removes files outside the driver's directories.
func writeElsewhere(dir string) {
	_ = os.WriteFile(path.Join(dir, "made"), []byte("x"), 0o600)
	_ = os.WriteFile(path.Join(dir, "changed"), []byte("x"), 0o600)
	_ = os.Remove(path.Join(dir, "removed"))
}
