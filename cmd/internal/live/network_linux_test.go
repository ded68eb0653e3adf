package live

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/portforward"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/cmd/internal/network"
)

// networked is a cluster of two nodes. Containers of one image contain only its program, and
// containers of the other image see the node's files.
const networked = clitest.Header + `cluster: {nodes: 2}
images: {registry.local/alone: ./alone.tar, registry.local/program: %s}
drivers: [{name: a.example.com, mock: {}}]
`

func needsNetworks(t *testing.T) {
	clitest.NeedsNamespaces(t)
	if err := network.Permitted(1); err != nil {
		t.Skip("no networks of their own: ", err)
	}
}

// startNetwork starts a live cluster in which pods have their own networks.
func startNetwork(t *testing.T) *programCluster {
	needsNetworks(t)
	t.Parallel() // the test mostly waits
	p := clitest.NewPlace(t, "")
	alone(t, filepath.Join(p.Dir, "alone.tar"))
	p.Write("cluster.yaml", fmt.Sprintf(networked, filepath.Join(clitest.Binaries, "alone")))
	l := startUp(t, "--network", "cluster", "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	return &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
}

// server creates a pod on a node that answers with its name, always on the same port.
func (c *programCluster) server(name, image, node string) (address string) {
	c.t.Helper()
	pod := c.make(fmt.Sprintf(`
metadata: {name: %s, labels: {app: web}}
spec:
  nodeName: %s
  terminationGracePeriodSeconds: 0
  containers:
  - name: main
    image: %s
    args: [serve, "8080", %[1]s]
    ports: [{name: http, containerPort: 8080}]
    readinessProbe: {httpGet: {port: http}, periodSeconds: 1}
    livenessProbe: {tcpSocket: {port: 8080}, periodSeconds: 1}
`, name, node, image), isReady)
	return pod.Status.PodIP
}

// answers returns the responses that a pod gets from URLs.
func (c *programCluster) answers(name, image string, urls ...string) []string {
	c.t.Helper()
	c.make(fmt.Sprintf(`
metadata: {name: %s}
spec:
  restartPolicy: Never
  containers: [{name: main, image: %s, args: [ask, "%s"]}]
`, name, image, strings.Join(urls, `", "`)), inPhase(corev1.PodSucceeded))
	return strings.Split(strings.TrimSpace(c.log(name, corev1.PodLogOptions{})), "\n")
}

// forwarded returns the response from a forwarded port of a pod.
func (c *programCluster) forwarded(pod, port string) string {
	c.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(c.t, err)
	target := c.CoreV1().RESTClient().Post().Resource("pods").Namespace("default").Name(pod).SubResource("portforward").URL()
	dialer, err := portforward.NewSPDYOverWebsocketDialerForStreaming(target, config)
	require.NoError(c.t, err)
	stop, ready, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	forwarder, err := portforward.NewForStreaming(dialer, []string{"0:" + port}, stop, ready, io.Discard, io.Discard)
	require.NoError(c.t, err)
	go func() { ended <- forwarder.ForwardPorts() }()
	select {
	case <-ready:
	case err := <-ended:
		c.t.Fatal(err)
	}
	ports, err := forwarder.GetPorts()
	require.NoError(c.t, err)
	answer, err := http.Get(fmt.Sprintf("http://127.0.0.1:%d", ports[0].Local))
	require.NoError(c.t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	require.NoError(c.t, err)
	close(stop)
	require.NoError(c.t, <-ended)
	return string(text)
}

const (
	aloneImage   = "registry.local/alone:1"
	programImage = "registry.local/program:1"
)

// Pods that listen on the same port of one node reach each other by address, and the pods of a
// service by its names. The API and the machine that runs csisim have names, too.
func TestPodsHaveSeparateNetworks(t *testing.T) {
	c := startNetwork(t)
	one, two, far := c.server("one", aloneImage, "node-a"), c.server("two", programImage, "node-a"), c.server("far", aloneImage, "node-b")
	assert.Equal(t, []string{"10.244.0.2", "10.244.0.3", "10.244.1.2"}, []string{one, two, far})
	service := &corev1.Service{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
metadata: {name: web}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: http}]}
`), service))
	_, err := c.CoreV1().Services("default").Create(t.Context(), service, metav1.CreateOptions{})
	require.NoError(t, err)
	laptop := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "laptop") }))
	defer laptop.Close()
	_, port, err := net.SplitHostPort(laptop.Listener.Addr().String())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		answer, err := c.CoreV1().Services("default").ProxyGet("", "web", "80", "/", nil).DoRaw(t.Context())
		return err == nil && strings.HasSuffix(string(answer), " to 10.245.0.1")
	}, time.Minute, 50*time.Millisecond, "the API server passes requests on to a service")

	for i, image := range []string{aloneImage, programImage} {
		answers := c.answers(fmt.Sprintf("client-%d", i), image, "http://"+one+":8080", "http://"+two+":8080", "http://"+far+":8080",
			"http://web", "http://web.default.svc.cluster.local", "http://"+network.HostName+":"+port,
			"https://kubernetes.default/version", "https://10.96.0.1/version", "http://"+one+":8081", "http://nobody.default.svc.cluster.local", "http://127.0.0.1:"+port)
		pod, err := c.CoreV1().Pods("default").Get(t.Context(), fmt.Sprintf("client-%d", i), metav1.GetOptions{})
		require.NoError(t, err)
		own := pod.Status.PodIP
		text := strings.Join(answers, "\n")
		assert.Equal(t, []string{"one to " + own, "two to " + own, "far to " + own}, answers[:3])
		for _, by := range answers[3:5] {
			assert.Regexp(t, "^(one|two|far) to 10.245.0.1$", by, "a service's pods see the proxy")
		}
		assert.Equal(t, "laptop", answers[5])
		assert.Equal(t, 2, strings.Count(text, `"gitVersion"`), "the API's certificate is good for its name and its address")
		assert.Contains(t, text, "dial tcp "+one+":8081: connect: connection refused")
		assert.Contains(t, text, "lookup nobody.default.svc.cluster.local on 10.96.0.10:53: no such host")
		assert.Contains(t, text, "dial tcp 127.0.0.1:"+port+": connect: connection refused", "loopback is the pod's own")
	}
	answer, err := c.CoreV1().Pods("default").ProxyGet("", "far", "8080", "/", nil).DoRaw(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "far to 10.245.0.1", string(answer))
	assert.Equal(t, "two to 127.0.0.1", c.forwarded("two", "8080"), "port-forward leads to loopback of the pod")
	c.down()
}

// Each pod of a DaemonSet with hostNetwork listens on the same port of its own node.
func TestPodsInTheNetworksOfTheirNodesListenOnOnePort(t *testing.T) {
	c := startNetwork(t)
	set := &appsv1.DaemonSet{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(`
metadata: {name: plugin}
spec:
  selector: {matchLabels: {app: plugin}}
  template:
    metadata: {labels: {app: plugin}}
    spec:
      hostNetwork: true
      terminationGracePeriodSeconds: 0
      containers:
      - {name: main, image: "registry.local/alone:1", args: [serve, "8080", plugin], livenessProbe: {httpGet: {port: 8080}, periodSeconds: 1}}
`), set))
	_, err := c.AppsV1().DaemonSets("default").Create(t.Context(), set, metav1.CreateOptions{})
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		set, err := c.AppsV1().DaemonSets("default").Get(t.Context(), "plugin", metav1.GetOptions{})
		return err == nil && set.Status.NumberReady == 2
	}, time.Minute, 50*time.Millisecond)
	nodes, err := c.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var urls []string
	pod := c.server("one", aloneImage, "node-a")
	for i, n := range nodes.Items {
		assert.Equal(t, fmt.Sprintf("10.245.0.%d", 2+i), n.Status.Addresses[0].Address)
		urls = append(urls, "http://"+n.Status.Addresses[0].Address+":8080")
	}
	assert.Equal(t, "10.244.0.2", pod, "a pod on the same port of the same node")
	answers := c.answers("client", aloneImage, urls...)
	client, err := c.CoreV1().Pods("default").Get(t.Context(), "client", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"plugin to " + client.Status.PodIP, "plugin to " + client.Status.PodIP}, answers)
	c.down()
}

// networks returns the network namespaces of all processes.
func networks(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	found, err := filepath.Glob("/proc/[0-9]*/ns/net")
	require.NoError(t, err)
	for _, file := range found {
		if at, err := os.Readlink(file); err == nil { // it may have ended
			all[at] = true
		}
	}
	return all
}

// A killed cluster leaves no networks.
func TestNetworksEndWithAClusterThatIsKilled(t *testing.T) {
	needsNetworks(t)
	p := clitest.NewPlace(t, clitest.Build(t))
	alone(t, filepath.Join(p.Dir, "alone.tar"))
	p.Write("cluster.yaml", fmt.Sprintf(networked, filepath.Join(clitest.Binaries, "alone"))+`objects:
- {apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: main, image: "registry.local/alone:1", args: [serve, "8080", web]}]}}
`)
	up := p.Marked("up", "--network", "cluster", "-f", "cluster.yaml", "--kubeconfig", "kubeconfig", "--name", "killed-network")
	before := networks(t)
	// Two nodes, one pod.
	r := clitest.StartCommand(t, p, up, func() bool { return len(networks(t)) >= len(before)+3 })
	r.Signal(t, syscall.SIGKILL)
	assert.Equal(t, -1, r.AwaitEnd(t, clitest.Interrupted))
	r.AwaitNoPrograms(t)
	assert.Eventually(t, func() bool {
		for at := range networks(t) {
			if !before[at] {
				return false
			}
		}
		return true
	}, time.Minute, 50*time.Millisecond)
	out, err := p.Command("clean").CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestANetworkIsOneOfThree(t *testing.T) {
	r := clitest.Run(t, "up", "--network", "bridge")
	assert.Equal(t, clitest.ExitInput, r.Code)
	assert.Contains(t, r.Stderr, `unknown mode of --network "bridge"`)
}

// If the machine permits no networks, csisim up prints the reason; it fails only if --network
// cluster was given.
func TestWithoutPermissionProgramsShareTheNetworkOfTheMachine(t *testing.T) {
	clitest.NeedsMounts(t)
	needsNetworks(t)
	require.NoError(t, unix.Mount("none", "/dev/net", "tmpfs", 0, ""))
	defer func() { require.NoError(t, unix.Unmount("/dev/net", 0)) }()
	p := clitest.NewPlace(t, "")
	alone(t, filepath.Join(p.Dir, "alone.tar"))
	p.Write("cluster.yaml", fmt.Sprintf(networked, filepath.Join(clitest.Binaries, "alone")))
	file := filepath.Join(p.Dir, "cluster.yaml")
	const why = "make the network of 10.245.0.1: open /dev/net/tun: no such file or directory"

	refused := clitest.Run(t, "up", "--network", "cluster", "-f", file, "--work-dir", p.Work, "--kubeconfig", filepath.Join(p.Dir, "config"), "--name", "none")
	assert.Equal(t, clitest.ExitEnvironment, refused.Code)
	assert.Contains(t, refused.Stderr, "networks of pods and nodes: "+why+"; --network host has all share that of this machine")

	l := startUp(t, "-f", file, "--work-dir", p.Work)
	assert.Contains(t, l.output.String(), "Pods and nodes share the network of this machine, so that of two that listen on one port one fails: "+why+"\n")
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	c := &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
	assert.Equal(t, "127.0.0.1", c.server("one", aloneImage, "node-a"))
	c.down()
}
