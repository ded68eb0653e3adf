// Tutorial is a small CSI driver with one mistake, which docs/tutorials/first-ten-minutes.md finds
// and corrects. A volume is a directory below a root that all nodes share. A node bind-mounts it at
// the path that a pod uses.
package main

import (
	"flag"
	"log"
	"net"
	"os"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
)

func main() {
	endpoint := flag.String("endpoint", "unix:///csi/csi.sock", "socket to serve at")
	id := flag.String("node-id", "", "ID of this node")
	root := flag.String("root", "/var/lib/tutorial", "directory of the volumes")
	flag.Parse()
	socket := strings.TrimPrefix(*endpoint, "unix://")
	if err := os.Remove(socket); err != nil && !os.IsNotExist(err) {
		log.Fatal(err)
	}
	listener, err := net.Listen("unix", socket)
	if err != nil {
		log.Fatal(err)
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, identity{})
	csi.RegisterControllerServer(server, &controller{root: *root})
	csi.RegisterNodeServer(server, &node{id: *id, root: *root})
	log.Fatal(server.Serve(listener))
}
