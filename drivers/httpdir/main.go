//go:build linux

// Command httpdir is a small CSI driver. It keeps its volumes at a storage system with an HTTP API.
// Their content is in directories, which nodes bind-mount. csisim's stand-in for HTTP services is
// such a storage system: see testdata/profile.yaml.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

type options struct {
	endpoint, name, nodeID, dataDir, url string
	broken                               defects
}

func main() {
	o, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = serve(o)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "httpdir:", err)
		os.Exit(1)
	}
}

func parse(args []string, out io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("httpdir", flag.ContinueOnError)
	flags.SetOutput(out)
	flags.StringVar(&o.endpoint, "endpoint", "", "socket to serve on, unix:///path (required)")
	flags.StringVar(&o.name, "driver-name", "httpdir.csi.csisim.dev", "name of the driver")
	flags.StringVar(&o.nodeID, "node-id", "", "id of this node")
	flags.StringVar(&o.dataDir, "data-dir", "", "directory for the content of volumes, which all nodes share (required)")
	flags.StringVar(&o.url, "url", "", "where the storage system is (required)")
	flags.Func("broken", "misbehave as `names` say, separated by commas:\n"+defectsHelp(), func(text string) (err error) {
		o.broken, err = parseDefects(text)
		return err
	})
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.endpoint == "" || o.dataDir == "" || o.url == "" {
		return o, errors.New("--endpoint, --data-dir and --url are required")
	}
	return o, nil
}

// serve answers calls until a signal ends it.
func serve(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	socket := strings.TrimPrefix(o.endpoint, "unix://")
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	busy := &busy{keys: map[string]bool{}}
	server := grpc.NewServer(grpc.UnaryInterceptor(busy.intercept))
	storage := newStorage(o.url, o.broken)
	csi.RegisterIdentityServer(server, &identity{name: o.name})
	csi.RegisterControllerServer(server, &controller{storage: storage, dataDir: o.dataDir})
	csi.RegisterNodeServer(server, &node{id: o.nodeID, storage: storage, dataDir: o.dataDir})
	go func() {
		<-ctx.Done()
		server.GracefulStop()
	}()
	return server.Serve(listener)
}

// busy is the set of volumes with calls in progress.
type busy struct {
	lock sync.Mutex
	keys map[string]bool
}

// intercept answers ABORTED to a call about a volume while another call about it is in progress.
func (b *busy) intercept(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	key := ""
	switch r := request.(type) {
	case interface{ GetVolumeId() string }:
		key = r.GetVolumeId()
	case interface{ GetName() string }:
		key = r.GetName()
	}
	if key == "" {
		return handle(ctx, request)
	}
	b.lock.Lock()
	taken := b.keys[key]
	b.keys[key] = true
	b.lock.Unlock()
	if taken {
		return nil, status.Errorf(codes.Aborted, "a call for %s is under way", key)
	}
	defer func() {
		b.lock.Lock()
		delete(b.keys, key)
		b.lock.Unlock()
	}()
	return handle(ctx, request)
}

type identity struct {
	csi.UnimplementedIdentityServer
	name string
}

func (i *identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: i.name, VendorVersion: "1"}, nil
}

func (*identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{
		Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}},
	}}}, nil
}

func (*identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}
