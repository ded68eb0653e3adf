package live

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// Given sockets with paths that are too long, relative, or shared by two drivers. When a scenario
// runs, then it works or names the cause, and leaves nothing behind.
func TestSocketsOfOddPaths(t *testing.T) {
	clitest.NeedsMounts(t)
	p := clitest.NewPlace(t, clitest.Build(t))
	driver := func(name, endpoint, more string) string {
		return fmt.Sprintf(`- {name: %s, program: {startTimeout: 1s, command: [%s, "--endpoint=%s", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}", "--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}"]%s}}
`, name, filepath.Join(p.Bin, "hostdir"), endpoint, more)
	}
	const one, other, shared = "a.example.com", "b.example.com", "unix:///run/x/csi.sock"
	began, runs := time.Now(), 0
	for name, of := range map[string]struct {
		drivers string
		says    string
	}{
		"108 bytes":         {driver(one, "unix:///csi/"+strings.Repeat("d", 99)+".sock", ""), "longer than the 107 bytes that a socket path may have"},
		"relative":          {driver(one, "unix://csi.sock", ""), "no process listens at the socket"},
		"relative and gone": {driver(one, "unix:csi/../csi.sock", ""), "bind: no such file or directory"},
		"both at /csi":      {driver(one, "unix:///csi/csi.sock", "") + driver(other, "unix:///csi/csi.sock", ""), "PASS"},
		"both at one path":  {driver(one, shared, ", pluginSocket: /run/x/csi.sock") + driver(other, shared, ", pluginSocket: /run/x/csi.sock"), "PASS"},
		"twice the same":    {driver(one, "{{.Endpoint}}", "") + driver(one, "{{.Endpoint}}", ""), "a.example.com"},
	} {
		p.Write("s.yaml", clitest.Header+"cluster: {nodes: 1}\ndrivers:\n"+of.drivers+"steps: [{settle: {}}]\n")
		for range large(1, 25) {
			out, err := p.Command("run", "s.yaml").CombinedOutput()
			assert.Equal(t, of.says == "PASS", err == nil, name)
			assert.Contains(t, string(out), of.says, name)
			runs++
		}
		assert.Empty(t, p.Leftovers(), name)
	}
	t.Logf("%d runs in %v", runs, time.Since(began))
}

// registrar answers with its information after a while. The information may be false.
type registrar struct {
	registration.UnimplementedRegistrationServer
	info *registration.PluginInfo
	late time.Duration
}

func (r registrar) GetInfo(ctx context.Context, _ *registration.InfoRequest) (*registration.PluginInfo, error) {
	select {
	case <-time.After(r.late):
	case <-ctx.Done():
	}
	return r.info, nil
}

func (registrar) NotifyRegistrationStatus(context.Context, *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	return &registration.RegistrationStatusResponse{}, nil
}

// serve serves the registrar at a socket until the test ends.
func (r registrar) serve(t *testing.T, at string) {
	listener, err := net.Listen("unix", at)
	require.NoError(t, err)
	server := grpc.NewServer()
	registration.RegisterRegistrationServer(server, r)
	go func() { _ = server.Serve(listener) }() // Stop ends it
	t.Cleanup(server.Stop)
}

// Given registrars that announce other types, versions, drivers and endpoints, that never answer,
// or that are not servers at all. When they appear in the kubelet's directory, then only the true
// driver is registered, and the cluster works.
func TestRegistrarsWithWrongData(t *testing.T) {
	p := clitest.NewPlace(t, "")
	p.Write("cluster.yaml", clitest.Header+"cluster: {nodes: 1}\ndrivers: [{name: a.example.com, mock: {}}, {name: b.example.com, mock: {}, external: [node-driver-registrar]}]\n")
	l := startUp(t, "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work)
	sockets := regexp.MustCompile(`b.example.com +node-a +(\S+)`).FindStringSubmatch(clitest.RunIn(t, l.environment(), "get", "sockets").Stdout)
	require.Len(t, sockets, 2)
	directories := strings.Fields(clitest.RunIn(t, l.environment(), "get", "directories").Stdout)
	require.Len(t, directories, 2)
	registry := filepath.Join(directories[1], "plugins_registry")
	before := (&programCluster{liveCluster: l}).size().memoryMiB
	csi := func(name, endpoint string, versions ...string) *registration.PluginInfo {
		return &registration.PluginInfo{Type: registration.CSIPlugin, Name: name, Endpoint: endpoint, SupportedVersions: versions}
	}
	lies := map[string]registrar{
		"type":     {info: &registration.PluginInfo{Type: "Nonsense", Name: "x.example.com", Endpoint: "/x", SupportedVersions: []string{"1.0.0"}}},
		"version":  {info: csi("x.example.com", "/x", "nonsense", "9.0.0")},
		"none":     {info: csi("x.example.com", "/x")},
		"no-name":  {info: csi("", "/x", "1.0.0")},
		"odd-name": {info: csi("../../x\n", "/x", "1.0.0")},
		"long":     {info: csi(strings.Repeat("x", 1<<20), "/x", "1.0.0")},
		"nowhere":  {info: csi("x.example.com", "/nowhere.sock", "1.0.0")},
		"itself":   {info: csi("x.example.com", filepath.Join(registry, "itself-0.sock"), "1.0.0")},
		"late":     {info: csi("x.example.com", "/x", "1.0.0"), late: time.Hour},
	}
	number := large(1, 30)
	for i := range number {
		for name, lie := range lies {
			lie.serve(t, filepath.Join(registry, fmt.Sprintf("%s-%d.sock", name, i)))
		}
		require.NoError(t, os.WriteFile(filepath.Join(registry, fmt.Sprintf("file-%d.sock", i)), []byte("no socket"), 0o600))
		require.NoError(t, os.Symlink("/proc/self/mem", filepath.Join(registry, fmt.Sprintf("link-%d.sock", i))))
	}
	registrar{info: csi("b.example.com", sockets[1], "1.0.0")}.serve(t, filepath.Join(registry, "true.sock"))
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	client := kubernetes.NewForConfigOrDie(config)
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		node, err := client.StorageV1().CSINodes().Get(context.Background(), "node-a", metav1.GetOptions{})
		require.NoError(t, err)
		var names []string
		for _, d := range node.Spec.Drivers {
			names = append(names, d.Name)
		}
		assert.ElementsMatch(t, []string{"a.example.com", "b.example.com"}, names)
	}, time.Minute, 100*time.Millisecond, "the true one is registered, and no other")
	after := (&programCluster{liveCluster: l}).size().memoryMiB
	t.Logf("%d registrars that lie: %d MiB before, %d MiB after", number*(len(lies)+2), before, after)
	assert.Less(t, after, before+200)
	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd(), l.output.String())
}

// Given clients of exec that send meaningless frames, then these clients are disconnected, and
// other clients are served.
func TestWebsocketsWithRubbishFrames(t *testing.T) {
	c := startPrograms(t)
	c.make(`
metadata: {name: web}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: registry.local/shell, args: [-c, "sleep 1000"]}]}
`, inPhase(corev1.PodRunning))
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(t, err)
	trust, err := rest.TLSConfigFor(config)
	require.NoError(t, err)
	url := strings.Replace(config.Host, "https", "wss", 1) + "/api/v1/namespaces/default/pods/web/exec?container=c&stdin=true&stdout=true"
	random := rand.New(rand.NewPCG(1, 2))
	before, number, frames := c.size(), large(20, 1000), 0
	for i := range number {
		frames += sendRubbish(t, random, trust, url+[]string{"&command=cat&stderr=true", "&command=sleep&command=1&tty=true"}[i%2], config.BearerToken)
	}
	assert.Equal(t, "works\n", c.execIn("web", "c", "echo", "works"))
	require.Eventually(t, func() bool { return c.size().descriptors <= before.descriptors+descriptorsOfClients }, time.Minute, 50*time.Millisecond, "connections stay open")
	after := c.size()
	t.Logf("%d connections with %d frames: %+v before, %+v after", number, frames, before, after)
	assert.Less(t, after.memoryMiB, before.memoryMiB+300)
	c.down()
}

// sendRubbish sends frames until the server closes the connection, at most 50, and returns their
// number. The last bytes are no frame at all.
func sendRubbish(t *testing.T, random *rand.Rand, trust *tls.Config, url, token string) (sent int) {
	dialer := websocket.Dialer{TLSClientConfig: trust, Subprotocols: []string{"v5.channel.k8s.io"}, HandshakeTimeout: 10 * time.Second}
	conn, _, err := dialer.DialContext(t.Context(), url, map[string][]string{"Authorization": {"Bearer " + token}})
	require.NoError(t, err)
	defer conn.Close()
	for ; sent < random.IntN(50); sent++ {
		body := make([]byte, random.IntN(4096))
		for i := range body {
			body[i] = byte(random.Uint32())
		}
		kind := []int{websocket.TextMessage, websocket.BinaryMessage, websocket.PingMessage, websocket.PongMessage}[random.IntN(4)]
		if kind >= websocket.PingMessage {
			body = body[:min(len(body), 125)]
		}
		if conn.WriteMessage(kind, body) != nil {
			return sent
		}
	}
	rubbish := make([]byte, 256)
	for i := range rubbish {
		rubbish[i] = byte(random.Uint32())
	}
	_, _ = conn.NetConn().Write(rubbish) // the server may already be closed
	return sent
}

// Given an archive with paths and links that lead out of its directory, when it is unpacked in a
// pod as kubectl cp does, then nothing outside of the container is written.
func TestCopiesOfHostileArchives(t *testing.T) {
	c := startImages(t)
	c.make(`
metadata: {name: web}
spec: {terminationGracePeriodSeconds: 0, containers: [{name: c, image: "registry.local/tools:1", args: ["sleep 1000"]}]}
`, inPhase(corev1.PodRunning))
	marker := filepath.Join(t.TempDir(), "marker")
	var out bytes.Buffer
	w, entries := tar.NewWriter(&out), 0
	add := func(h tar.Header) {
		h.Mode = 0o666
		require.NoError(t, w.WriteHeader(&h))
		_, err := w.Write(make([]byte, h.Size))
		require.NoError(t, err)
		entries++
	}
	for i := range large(10, 2000) {
		add(tar.Header{Name: strings.Repeat("../", i%20) + marker[1:], Size: 1, Typeflag: tar.TypeReg})
		add(tar.Header{Name: marker, Size: 1, Typeflag: tar.TypeReg})
		add(tar.Header{Name: fmt.Sprint("out", i), Linkname: strings.Repeat("../", i%20) + "/", Typeflag: tar.TypeSymlink})
		add(tar.Header{Name: fmt.Sprint("out", i, marker), Size: 1, Typeflag: tar.TypeReg})
		add(tar.Header{Name: fmt.Sprint("hard", i), Linkname: "../../proc/1/root" + marker, Typeflag: tar.TypeLink})
	}
	require.NoError(t, w.Close())
	began := time.Now()
	config, err := clientcmd.BuildConfigFromFlags("", c.kubeconfig())
	require.NoError(t, err)
	request := c.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("web").SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{Command: []string{"tar", "xPmf", "-", "-C", "/"}, Stdin: true, Stdout: true, Stderr: true}, scheme.ParameterCodec)
	executor, err := remotecommand.NewWebSocketExecutor(config, "GET", request.URL().String())
	require.NoError(t, err)
	var said bytes.Buffer
	require.NoError(t, executor.StreamWithContext(t.Context(), remotecommand.StreamOptions{Stdin: &out, Stdout: &said, Stderr: &said}), "%s", &said)
	t.Logf("%d entries in %v", entries, time.Since(began))
	assert.NoFileExists(t, marker)
	assert.Equal(t, "marker\n", c.exec("web", "ls", filepath.Dir(marker)), "in the container it is there")
	c.down()
}

// Given a container with a tar that answers with entries above the destination and through links,
// when kubectl copies from it, then kubectl writes only below the destination.
func TestKubectlCopiesFromAHostileContainer(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	c := startPrograms(t)
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	add := func(h tar.Header) {
		h.Mode, h.Size = 0o644, 0
		require.NoError(t, w.WriteHeader(&h))
	}
	add(tar.Header{Name: "x/file"})
	for i, above := range []string{"../", "x/../../", "../../../../../../.." + c.home + "/", c.home + "/"} {
		add(tar.Header{Name: fmt.Sprint(above, "escaped", i)})
	}
	add(tar.Header{Name: "x/link", Typeflag: tar.TypeSymlink, Linkname: c.home})
	add(tar.Header{Name: "x/link/escaped"})
	add(tar.Header{Name: "x/hard", Typeflag: tar.TypeLink, Linkname: c.kubeconfig()})
	require.NoError(t, w.Close())
	programs := filepath.Join(c.home, "programs")
	require.NoError(t, os.Mkdir(programs, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(programs, "archive"), archive.Bytes(), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(programs, "tar"), fmt.Appendf(nil, "#!/bin/sh\nexec cat %s/archive\n", programs), 0o755))
	c.make(fmt.Sprintf(`
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: registry.local/shell, args: [-c, sleep 1000], env: [{name: PATH, value: "%s:/usr/bin:/bin"}]}]
`, programs), inPhase(corev1.PodRunning))
	to := filepath.Join(c.home, "copies", "to")
	require.NoError(t, os.MkdirAll(to, 0o755))
	out, _ := c.runKubectl("cp", "web:x", to) // kubectl may refuse the archive
	assert.FileExists(t, filepath.Join(to, "file"), out)
	err := filepath.WalkDir(c.home, func(path string, _ os.DirEntry, err error) error {
		assert.NotContains(t, filepath.Base(path), "escaped", out)
		return err
	})
	require.NoError(t, err)
	c.down()
}
