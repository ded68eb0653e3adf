// Diskplugin serves the disk driver on a unix socket, for CSI sidecars and the kubelet.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"

	"example.com/disk"
)

func main() {
	endpoint := flag.String("endpoint", "unix:///csi/csi.sock", "where to serve")
	node := flag.String("node-id", "", "the node's id")
	root := flag.String("root", "/var/lib/disk", "where the volumes are")
	flag.Parse()
	if err := serve(strings.TrimPrefix(*endpoint, "unix://"), *node, *root); err != nil {
		fmt.Fprintln(os.Stderr, "diskplugin:", err)
		os.Exit(1)
	}
}

func serve(socket, node, root string) error {
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		return err
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, disk.Identity{})
	csi.RegisterControllerServer(server, &disk.Controller{Files: disk.Host{}, Root: root})
	csi.RegisterNodeServer(server, &disk.Node{ID: node, Files: disk.Host{}, Root: root})
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	go func() {
		<-stop
		server.GracefulStop()
	}()
	return server.Serve(listener)
}
