package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/cmd/internal/live"
	"github.com/csisim/csisim/cmd/internal/page"
	"github.com/csisim/csisim/internal/driver/certificate"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// bed is a cluster for --on PATH without a container engine: the simulation by the real clock
// behind its API. As on a real cluster, the pods of drivers run the proxy and the mock, which are
// programs of csisim. The sidecars are simulated; sidecarsOf makes them call through the proxy.
type bed struct {
	*sim.Simulation
	t          *testing.T
	kubeconfig string
	ports      map[string]int // of the proxies, by node; "controller" for the controller's
}

const bedDriver = "mock.csi.csisim.dev"

func newBed(t *testing.T) *bed {
	t.Helper()
	if !namespaces.Entered() {
		t.Skip("containers that run programs take a mount namespace")
	}
	t.Parallel() // the test mostly waits
	p := newPlace(t, "")
	b := &bed{t: t, kubeconfig: filepath.Join(p.Dir, "kubeconfig"), ports: map[string]int{}}
	for _, part := range []string{"controller", "node-a", "node-b", "backend", "orders"} {
		b.ports[part] = freePort(t)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	serving, authority, err := certificate.New()
	require.NoError(t, err)
	forwarded := newSidecars(b)
	b.Simulation, err = sim.Start(sim.Options{
		Start: time.Now(), OnDisk: true, WorkDir: p.Work, Token: "bed", Address: listener.Addr().String(), Authority: authority,
		Images:  b.programs(p.Dir),
		Drivers: []sim.Driver{{Name: bedDriver, NoNode: true, NoCSIDriver: true, Servers: &sim.Servers{Controller: forwarded.services()}}},
	})
	require.NoError(t, err)
	require.NoError(t, b.Boot())
	forwarded.observe()
	b.writeKubeconfig(listener.Addr().String(), authority)
	stop := page.Serve(page.NewPort(listener, serving), b.withPodProxy(b.API()))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Live(ctx, 1) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, stop())
		require.NoError(t, b.Close())
	})
	return b
}

// ports counts the ports that freePort has tried.
var ports atomic.Int32

// freePort returns each port only once, because a program listens on the port later. It is below
// the ports that the system assigns to connections and to listeners of port 0.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 10000 + (100*os.Getpid()+int(ports.Add(1)))%20000
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			require.NoError(t, listener.Close())
			return port
		}
	}
	require.FailNow(t, "no port is free")
	return 0
}

// programs writes the programs of the driver's containers: csisim and a registrar. All pods share
// this machine's network, so each proxy gets a separate port.
func (b *bed) programs(dir string) map[string]string {
	file := filepath.Join(dir, "csisim")
	script := fmt.Sprintf(`#!/bin/sh
export %s=1
port=%d
case "$*" in *"--node "*) [ "$NODE_NAME" = node-a ] && port=%d || port=%d ;; esac
for a; do
  shift
  case "$a" in
  :%d | :%d | :%d) a=127.0.0.1:$port ;;
  :9809 | *:9809) a=127.0.0.1:%d ;;
  :9810) a=127.0.0.1:%d ;;
  /csisim) a=%s ;;
  esac
  set -- "$@" "$a"
done
exec %s "$@"
`, clitest.AsCommand, b.ports["controller"], b.ports["node-a"], b.ports["node-b"], deploy.ProxyPort, deploy.Driver{}.OwnPort("node"), deploy.Driver{}.OwnPort("controller"), b.ports["backend"], b.ports["orders"], file, os.Args[0])
	require.NoError(b.t, os.WriteFile(file, []byte(script), 0o755))
	registrar := filepath.Join(dir, "registrar")
	require.NoError(b.t, os.WriteFile(registrar, fmt.Appendf(nil, "#!/bin/sh\nexport %s=1\nexec %s \"$@\"\n", clitest.AsRegistrar, os.Args[0]), 0o755))
	return map[string]string{
		"csisim.dev/" + deploy.Slug(bedDriver):                  file,
		"csisim.dev/csisim":                                     file,
		"registry.example.com/disk":                             file,
		"registry.k8s.io/sig-storage/csi-node-driver-registrar": registrar,
	}
}

func (b *bed) writeKubeconfig(address string, authority []byte) {
	served := live.State{Address: "https://" + address, Token: "bed", Authority: authority}
	require.NoError(b.t, clientcmd.WriteToFile(*served.Config("bed"), b.kubeconfig))
}

// podProxy matches the paths that a real API server forwards to a port of a pod.
var podProxy = regexp.MustCompile(`^/api/v1/namespaces/([^/]+)/pods/([^/:]+):([0-9]+)/proxy(/.*)$`)

// withPodProxy adds the proxy subresource of pods to the API, because the simulation does not serve
// it.
func (b *bed) withPodProxy(api http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := podProxy.FindStringSubmatch(r.URL.Path)
		if to == nil {
			api.ServeHTTP(w, r)
			return
		}
		pod, err := b.Client().CoreV1().Pods(to[1]).Get(r.Context(), to[2], metav1.GetOptions{})
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		part := "controller"
		if pod.Labels[deploy.PartLabel] == "node" || to[3] == fmt.Sprint(deploy.Driver{}.OwnPort("node")) {
			part = pod.Spec.NodeName
		}
		if to[3] == "9810" {
			part = "orders"
		}
		quiet := log.New(io.Discard, "", 0) // pods end while their records are read
		passed := httputil.ReverseProxy{FlushInterval: -1, ErrorLog: quiet, Rewrite: func(out *httputil.ProxyRequest) {
			out.SetURL(&url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", b.ports[part])})
			out.Out.URL.Path = to[4]
		}}
		passed.ServeHTTP(w, r)
	})
}

// args returns the arguments of a command that runs on the bed.
func (b *bed) args(command ...string) []string {
	return append(command, "--on", b.kubeconfig+"@bed", "--allow-context", "bed")
}

// managed returns the resources and names of all objects with csisim's label.
func (b *bed) managed() (all []string) {
	b.t.Helper()
	objects := b.DynamicClient()
	for _, r := range []schema.GroupVersionResource{
		{Version: "v1", Resource: "pods"}, {Version: "v1", Resource: "persistentvolumeclaims"}, {Version: "v1", Resource: "namespaces"}, {Version: "v1", Resource: "services"},
		{Group: "apps", Version: "v1", Resource: "daemonsets"}, {Group: "apps", Version: "v1", Resource: "deployments"},
		{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}, {Group: "storage.k8s.io", Version: "v1", Resource: "csidrivers"},
		{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	} {
		list, err := objects.Resource(r).List(b.t.Context(), metav1.ListOptions{LabelSelector: deploy.ManagedBy + "=" + deploy.By})
		require.NoError(b.t, err)
		for _, o := range list.Items {
			if r.Resource == "namespaces" && o.GetDeletionTimestamp() != nil {
				continue // the namespace controller begins 5 s after the deletion
			}
			all = append(all, r.Resource+"/"+o.GetName())
		}
	}
	return all
}
