package clitest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"
)

// AsRegistrar makes a test binary behave like node-driver-registrar.
const AsRegistrar = "CSISIM_TEST_AS_REGISTRAR"

// registrarProgram registers the driver at --csi-address with the kubelet, until SIGTERM.
type registrarProgram struct {
	registration.UnimplementedRegistrationServer
	driver, endpoint string
}

func runRegistrar(args []string) error {
	given := map[string]string{}
	for _, a := range args {
		name, value, _ := strings.Cut(a, "=")
		given[name] = value
	}
	conn, err := grpc.NewClient("unix:"+given["--csi-address"], grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	info, err := csi.NewIdentityClient(conn).GetPluginInfo(ctx, &csi.GetPluginInfoRequest{}, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	p := registrarProgram{driver: info.GetName(), endpoint: given["--kubelet-registration-path"]}
	socket := path.Join("/registration", p.driver+"-reg.sock")
	_ = os.Remove(socket) // of an earlier registrar, if there was one
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	registration.RegisterRegistrationServer(server, p)
	asked, forget := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer forget()
	defer context.AfterFunc(asked, server.Stop)() // this also removes its socket
	return server.Serve(listener)
}

func (p registrarProgram) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{Type: registration.CSIPlugin, Name: p.driver, Endpoint: p.endpoint, SupportedVersions: []string{"1.0.0"}}, nil
}

func (p registrarProgram) NotifyRegistrationStatus(_ context.Context, s *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	if !s.GetPluginRegistered() {
		fmt.Fprintln(os.Stderr, s.GetError())
		os.Exit(1)
	}
	return &registration.RegistrationStatusResponse{}, nil
}
