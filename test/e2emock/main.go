// Command e2emock serves the CSI mock driver of Kubernetes' own end-to-end tests on a unix socket.
// In these tests, the driver is part of the test program and is reached through a proxy pod. Here
// it is a normal driver process.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	mockdriver "k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/driver"
	"k8s.io/kubernetes/test/e2e/storage/drivers/csi-test/mock/service"
)

func main() {
	config := service.Config{}
	endpoint := flag.String("endpoint", "", "socket to serve on, unix:///path or a path (required)")
	nodeID := flag.String("node-id", "", "node id to report (default: the driver's name, as the mock does)")
	flag.StringVar(&config.DriverName, "name", service.Name, "name of the driver")
	flag.BoolVar(&config.DisableAttach, "disable-attach", false, "do without ControllerPublishVolume")
	flag.Int64Var(&config.AttachLimit, "attach-limit", 0, "most volumes attached to the node; 0 means no limit")
	flag.BoolVar(&config.NodeExpansionRequired, "node-expand-required", false, "offer NodeExpandVolume and ask for it")
	flag.BoolVar(&config.DisableControllerExpansion, "disable-controller-expansion", false, "do without ControllerExpandVolume")
	flag.BoolVar(&config.DisableOnlineExpansion, "disable-online-expansion", false, "refuse to expand a volume that has been attached")
	flag.BoolVar(&config.PermissiveTargetPath, "permissive-target-path", false, "accept a target path that exists")
	flag.BoolVar(&config.VolumeMountGroupRequired, "volume-mount-group", false, "offer VOLUME_MOUNT_GROUP")
	flag.BoolVar(&config.NodeVolumeConditionRequired, "volume-condition", false, "offer the node's VOLUME_CONDITION")
	flag.BoolVar(&config.EnableTopology, "topology", false, "report one fixed topology segment")
	disableStage := flag.Bool("disable-stage", false, "do not offer STAGE_UNSTAGE_VOLUME")
	flag.Parse()

	if err := run(*endpoint, config, adapter{name: config.DriverName, nodeID: *nodeID, disableStage: *disableStage}); err != nil {
		fmt.Fprintln(os.Stderr, "e2emock:", err)
		os.Exit(1)
	}
}

// run serves until SIGTERM or SIGINT; closing the listener removes the socket.
func run(endpoint string, config service.Config, adapt adapter) error {
	if endpoint == "" {
		return fmt.Errorf("--endpoint is required")
	}
	path := strings.TrimPrefix(strings.TrimPrefix(endpoint, "unix:"), "//")
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSocket {
		if err := os.Remove(path); err != nil { // left by a killed process
			return err
		}
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	mock := service.New(config)
	driver := mockdriver.NewCSIDriver(&mockdriver.CSIDriverServers{Controller: mock, Identity: mock, Node: mock})
	if err := driver.Start(listener, adapt.intercept); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	<-ctx.Done()
	driver.Stop()
	return nil
}
