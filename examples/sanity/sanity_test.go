// Package sanity tests the disk driver from both sides. csi-sanity makes each call separately and
// checks the answers against the CSI spec. csisim makes the calls in the order of Kubernetes.
package sanity

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/kubernetes-csi/csi-test/v5/pkg/sanity"
	"google.golang.org/grpc"

	"example.com/disk"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
	"github.com/csisim/csisim/sim/machine"
	"github.com/csisim/csisim/sim/namespaces"
)

// TestMain enters namespaces in which tests may mount.
func TestMain(m *testing.M) {
	namespaces.Enter()
	os.Exit(m.Run())
}

func TestSanity(t *testing.T) {
	if !namespaces.Entered() {
		t.Skip("this machine permits no namespaces, and the driver mounts")
	}
	dir, err := os.MkdirTemp("", "disk-") // the names of t.TempDir are too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "csi.sock")
	serve(t, socket, filepath.Join(dir, "volumes"))
	config := sanity.NewTestConfig()
	config.Address = "unix://" + socket
	config.TargetPath = filepath.Join(dir, "target")
	config.StagingPath = filepath.Join(dir, "staging")
	sanity.Test(t, config)
}

func serve(t *testing.T, socket, root string) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	csi.RegisterIdentityServer(server, disk.Identity{})
	csi.RegisterControllerServer(server, &disk.Controller{Files: disk.Host{}, Root: root})
	csi.RegisterNodeServer(server, &disk.Node{ID: "node", Files: disk.Host{}, Root: root})
	go server.Serve(listener)
	t.Cleanup(server.Stop)
}

// csi-sanity cannot test how Kubernetes continues after a restart of the kubelet.
func TestAPodThatIsDeletedWhileItsKubeletIsDownLeavesNothing(t *testing.T) {
	const root = "/var/lib/disk"
	c := sim.New(t, sim.WithServers(disk.Name, sim.Servers{
		Controller: sim.Services(disk.Identity{}, &disk.Controller{Files: machine.NewMemory("controller"), Root: root}),
		Node: func(node string, on machine.Machine) []machine.Service {
			return sim.Services(disk.Identity{}, &disk.Node{ID: node, Files: on, Root: root})
		},
	}))
	c.Apply("../inprocess/testdata/web.yaml")
	c.Until(expect.Object{Ref: "pod/web", Phase: "Running"})
	c.Kill(sim.Kubelet("node-a"))
	c.Delete("pod/web", "pvc/data")
	c.Settle()
	c.Start(sim.Kubelet("node-a"))
	c.Until(expect.Object{Ref: "pod/web", Gone: true}, expect.Object{Ref: "pv/*", Gone: true})
	c.ExpectCalls("NodePublishVolume", "NodeUnpublishVolume", "DeleteVolume")
}
