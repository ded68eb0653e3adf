package live

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// keptPaths are the paths of objects that the tests of kept clusters make and compare.
var keptPaths = []string{
	"/api/v1/namespaces", "/api/v1/nodes", "/api/v1/persistentvolumes", "/api/v1/namespaces/default/persistentvolumeclaims", "/api/v1/namespaces/default/pods",
	"/apis/storage.k8s.io/v1/volumeattachments", "/apis/storage.k8s.io/v1/csidrivers", "/apis/storage.k8s.io/v1/storageclasses",
	"/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents", "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots",
	"/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "/apis/example.com/v1/namespaces/default/widgets", "/apis/apps/v1/namespaces/default/statefulsets",
}

// keptPlace is the place of clusters with one state.
type keptPlace struct {
	*clitest.Place
	t *testing.T
}

func newKeptPlace(t *testing.T) *keptPlace {
	t.Helper()
	clitest.NeedsMounts(t)
	p := clitest.NewPlace(t, clitest.Build(t))
	p.Write("cluster.yaml", clitest.Header+"images: {registry.local/shell: /bin/sh}\n"+
		strings.Replace(clitest.HostdirDriver, "[hostdir, ", "["+filepath.Join(p.Bin, "hostdir")+", ", 1)+clitest.HostdirObjects+
		"- {apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: {name: snap}, driver: hostdir.csi.csisim.dev, deletionPolicy: Delete}\n")
	return &keptPlace{p, t}
}

func (p *keptPlace) file() string  { return filepath.Join(p.Dir, "cluster.yaml") }
func (p *keptPlace) state() string { return filepath.Join(p.Dir, "s") }

func (p *keptPlace) start() *programCluster {
	p.t.Helper()
	l := startUp(p.t, "-f", p.file(), "--state", p.state())
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(p.t, err)
	return &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
}

// post creates an object of any kind.
func (c *programCluster) post(path, object string) {
	c.t.Helper()
	_, err := c.CoreV1().RESTClient().Post().AbsPath(path).Body([]byte(object)).DoRaw(c.t.Context())
	require.NoError(c.t, err)
}

// objects returns the identities of objects, by path and name, and the version of the last list.
func (c *programCluster) objects(paths ...string) (all map[string]string, version int) {
	c.t.Helper()
	all = map[string]string{}
	for _, path := range paths {
		text, err := c.CoreV1().RESTClient().Get().AbsPath(path).DoRaw(c.t.Context())
		require.NoError(c.t, err, path)
		var list struct {
			Metadata metav1.ListMeta
			Items    []struct{ Metadata metav1.ObjectMeta }
		}
		require.NoError(c.t, json.Unmarshal(text, &list))
		for _, item := range list.Items {
			m := item.Metadata
			all[path+"/"+m.Name] = fmt.Sprint(m.UID, " made ", m.CreationTimestamp, " generation ", m.Generation)
		}
		version, err = strconv.Atoi(list.Metadata.ResourceVersion)
		require.NoError(c.t, err)
	}
	return all, version
}

const keptClaim = `{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec":
	{"accessModes": ["ReadWriteOnce"], "storageClassName": "hostdir", "resources": {"requests": {"storage": "16Mi"}}}}`

const keptSet = `{"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "set"}, "spec": {"replicas": 1, "serviceName": "set",
	"selector": {"matchLabels": {"app": "set"}}, "template": {"metadata": {"labels": {"app": "set"}}, "spec": {"containers": [
	{"name": "c", "image": "registry.local/shell", "args": ["-c", "date +%N | tee -a /data/log /disk/log >> /memory/log; exec sleep 1000"], "volumeMounts": [
	{"name": "v", "mountPath": "/data"}, {"name": "disk", "mountPath": "/disk"}, {"name": "memory", "mountPath": "/memory"}]}],
	"terminationGracePeriodSeconds": 0, "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "disk", "emptyDir": {}},
	{"name": "memory", "emptyDir": {"medium": "Memory"}}]}}}}`

const keptSnapshot = `{"apiVersion": "snapshot.storage.k8s.io/v1", "kind": "VolumeSnapshot", "metadata": {"name": "shot"}, "spec":
	{"volumeSnapshotClassName": "snap", "source": {"persistentVolumeClaimName": "data"}}}`

const keptDefinition = `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "widgets.example.com"}, "spec":
	{"group": "example.com", "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"}, "versions": [{"name": "v1", "served": true, "storage": true,
	"schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}}`

const keptWidget = `{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": {"n": 12345678901}}`

const keptOnce = `
metadata: {name: once}
spec:
  restartPolicy: Never
  containers: [{name: c, image: registry.local/shell, args: ["-c", "exec sleep 1000"]}]
`

// restartedOnce reports whether a pod runs again after a reboot of its node.
func restartedOnce(pod *corev1.Pod) bool {
	return isReady(pod) && pod.Status.ContainerStatuses[0].RestartCount == 1
}

// Given a cluster with a volume that has data, a snapshot and a custom object, when it ends or is
// killed and starts again with the same state, then all objects and the data still exist, its nodes
// have been rebooted, and the cluster continues to work.
func TestAKeptClusterContinues(t *testing.T) {
	for name, end := range map[string]func(*programCluster){
		"after SIGTERM": func(c *programCluster) {
			require.NoError(t, c.command.Process.Signal(syscall.SIGTERM))
			assert.Zero(t, c.awaitEnd(), c.output.String())
		},
		"after kill -9": func(c *programCluster) {
			require.NoError(t, c.command.Process.Kill())
			c.awaitEnd()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // the test mostly waits
			p := newKeptPlace(t)
			c := p.start()
			c.post("/api/v1/namespaces/default/persistentvolumeclaims", keptClaim)
			c.post("/apis/apps/v1/namespaces/default/statefulsets", keptSet)
			c.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", keptDefinition)
			c.post("/apis/example.com/v1/namespaces/default/widgets", keptWidget)
			c.make(keptOnce, isReady)
			c.await("set-0", isReady)
			written := c.exec("set-0", "cat", "/data/log")
			c.post("/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots", keptSnapshot)
			c.awaitSnapshot()
			before, version := c.objects(keptPaths...)
			end(c)

			c = p.start()
			c.await("set-0", restartedOnce)
			after, now := c.objects(keptPaths...)
			assert.Equal(t, before, after)
			assert.Greater(t, now, version)
			again := c.exec("set-0", "cat", "/data/log")
			assert.True(t, strings.HasPrefix(again, written) && strings.Count(again, "\n") == 2, "%q, then %q", written, again)
			assert.Equal(t, again, c.exec("set-0", "cat", "/disk/log"))
			assert.Equal(t, again, written+c.exec("set-0", "cat", "/memory/log"))
			widget, err := c.CoreV1().RESTClient().Get().AbsPath("/apis/example.com/v1/namespaces/default/widgets/w").DoRaw(t.Context())
			require.NoError(t, err)
			assert.Contains(t, string(widget), `"n":12345678901`)
			assert.Contains(t, c.eventsAbout("node-a"), "Rebooted Node node-a has been rebooted: csisim up has started again")

			c.await("once", inPhase(corev1.PodFailed)) // K-POD-13

			require.NoError(t, c.CoreV1().Pods("default").Delete(t.Context(), "once", metav1.DeleteOptions{}))
			require.NoError(t, c.AppsV1().StatefulSets("default").Delete(t.Context(), "set", metav1.DeleteOptions{}))
			for _, path := range []string{
				"/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots/shot", "/api/v1/namespaces/default/persistentvolumeclaims/data",
				"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.example.com",
			} {
				require.NoError(t, c.CoreV1().RESTClient().Delete().AbsPath(path).Do(t.Context()).Error())
			}
			c.awaitNone("/api/v1/namespaces/default/pods", "/api/v1/persistentvolumes", "/apis/storage.k8s.io/v1/volumeattachments",
				"/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents")
			c.down()
			assert.Empty(t, p.Leftovers())
			for _, kind := range []string{"volumes", "snapshots"} {
				left, err := os.ReadDir(filepath.Join(p.state(), "state", "hostdir.csi.csisim.dev", kind))
				require.NoError(t, err)
				assert.Empty(t, left)
			}
		})
	}
}

func (c *programCluster) awaitSnapshot() {
	c.t.Helper()
	require.Eventually(c.t, func() bool {
		text, err := c.CoreV1().RESTClient().Get().AbsPath("/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots/shot").DoRaw(c.t.Context())
		return err == nil && strings.Contains(string(text), `"readyToUse":true`)
	}, time.Minute, 20*time.Millisecond)
}

func (c *programCluster) awaitNone(paths ...string) {
	c.t.Helper()
	var left map[string]string
	require.Eventually(c.t, func() bool {
		left, _ = c.objects(paths...)
		return len(left) == 0
	}, time.Minute, 50*time.Millisecond, "%v", left)
}

// refused runs csisim up with the state of the place, and expects that it fails.
func (p *keptPlace) refused(args ...string) string {
	p.t.Helper()
	l := &liveCluster{t: p.t, home: p.t.TempDir()}
	got := clitest.RunIn(p.t, l.environment(), append([]string{"up", "--state", p.state()}, args...)...)
	assert.Equal(p.t, clitest.ExitInput, got.Code, got.Stderr)
	return got.Stderr
}

// Given the state of a cluster, when a different cluster is started with this state, then one error
// names the difference; an additional node is permitted.
func TestAStateIsOfOneCluster(t *testing.T) {
	t.Parallel() // the test mostly waits
	p := newKeptPlace(t)
	c := p.start()
	assert.Contains(t, p.refused("-f", p.file()), "another csisim up has it: stop that one, or give this one another directory")
	c.down()
	text, err := os.ReadFile(p.file())
	require.NoError(t, err)
	p.Write("renamed.yaml", strings.Replace(string(text), "nodes: 1", "nodes: [{name: other}]", 1))
	assert.Contains(t, p.refused("-f", filepath.Join(p.Dir, "renamed.yaml")), "its nodes are [node-a], and this cluster lacks node-a: want all of them")
	p.Write("without.yaml", clitest.Header+"images: {registry.local/shell: /bin/sh}\n")
	assert.Contains(t, p.refused("-f", filepath.Join(p.Dir, "without.yaml")), "its drivers are [hostdir.csi.csisim.dev], and this cluster lacks hostdir.csi.csisim.dev: want all of them")
	p.Write("older.yaml", strings.Replace(string(text), "kind: Scenario\n", "kind: Scenario\nkubernetes: \"1.30\"\n", 1))
	assert.Contains(t, p.refused("-f", filepath.Join(p.Dir, "older.yaml")), "it has the objects of Kubernetes 1.36, and this cluster has 1.30: want that version or a newer one")

	p.Write("cluster.yaml", strings.Replace(string(text), "nodes: 1", "nodes: 2", 1))
	c = p.start()
	nodes, _ := c.objects("/api/v1/nodes")
	assert.Len(t, nodes, 2)
	c.down()
	assert.Empty(t, p.Leftovers())

	journal := filepath.Join(p.state(), journalName)
	kept, err := os.ReadFile(journal)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(journal, []byte(strings.Replace(string(kept), `"csisimState":1`, `"csisimState":9`, 1)), 0o600))
	assert.Contains(t, p.refused("-f", p.file()), "cluster.json:1: found a state of format 9, want 1: it is of another release of csisim")
}

// Given no state yet, when the cluster cannot be kept, then one error says why.
func TestAStateTakesADriverAndADirectoryOfItsOwn(t *testing.T) {
	p := newKeptPlace(t)
	assert.Contains(t, p.refused(), "its volumes are in the memory of csisim and are lost with it: want a driver that is a program")
	assert.Contains(t, p.refused("-f", p.file(), "--work-dir", p.Work), "--state and --work-dir: the files of the cluster are in the directory of --state: leave one out")
	require.NoError(t, os.RemoveAll(p.state()))
	require.NoError(t, os.Mkdir(p.state(), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(p.state(), "photo.jpg"), nil, 0o600))
	assert.Contains(t, p.refused("-f", p.file()), "found photo.jpg in it, want a directory that is empty, missing or of an earlier csisim up --state")
	assert.FileExists(t, filepath.Join(p.state(), "photo.jpg"))
}
