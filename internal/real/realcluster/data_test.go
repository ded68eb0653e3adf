package realcluster

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/judge/data"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// here runs the commands of nodes on this machine. A node's file system is a directory.
type here struct {
	Machines
	root string
	ran  int
	then func() // after a command
}

func (h *here) Run(ctx context.Context, node string, command ...string) (string, error) {
	h.ran++
	args := make([]string, len(command))
	for i, arg := range command {
		args[i] = arg
		if strings.HasPrefix(arg, "/var/lib/kubelet") {
			args[i] = filepath.Join(h.root, node, arg)
		}
	}
	out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput()
	if h.then != nil {
		h.then()
	}
	return string(out), err
}

// dataWorld is a cluster with a driver's volume and a data check.
type dataWorld struct {
	*Cluster
	nodes *here
	t     *testing.T
}

func newDataWorld(t *testing.T) *dataWorld {
	w := &dataWorld{t: t, nodes: &here{root: t.TempDir()}}
	w.Cluster, _ = withPods(t)
	w.options.Machines, w.options.Drivers = w.nodes, []deploy.Driver{{Name: "disk.example.com"}}
	for _, node := range []string{"node-a", "node-b"} {
		seen(t, w.Cluster, "csinodes", &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "disk.example.com"}}}})
	}
	seen(t, w.Cluster, "persistentvolumes", &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "pv"}, Spec: corev1.PersistentVolumeSpec{PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: "disk.example.com", VolumeHandle: "vol"}}}})
	seen(t, w.Cluster, "persistentvolumeclaims", &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "claim"}, Spec: corev1.PersistentVolumeClaimSpec{VolumeName: "pv"}})
	return w
}

// pod returns a pod that uses the volume.
func (w *dataWorld) pod(name, node, image string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("u-" + name)},
		Spec: corev1.PodSpec{
			NodeName:   node,
			Containers: []corev1.Container{{Name: "main", Image: image, VolumeMounts: []corev1.VolumeMount{{Name: "data"}}}},
			Volumes:    []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}}}},
		},
		Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{{Name: "main", ContainerID: "containerd://" + name, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}},
	}
}

// published returns the directory of a pod's volume, with a file system there.
func (w *dataWorld) published(pod *corev1.Pod) string {
	w.t.Helper()
	dir := filepath.Join(w.nodes.root, pod.Spec.NodeName, fakekubelet.TargetPath(machine.KubeletDir, pod.UID, "pv"))
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	if err := syscall.Mount("volume", dir, "tmpfs", 0, ""); err != nil {
		w.t.Skipf("nothing can be mounted here: %v", err)
	}
	w.t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
	return dir
}

// show mounts a directory over the directory of a pod's volume.
func (w *dataWorld) show(pod *corev1.Pod, of string) {
	w.t.Helper()
	dir := filepath.Join(w.nodes.root, pod.Spec.NodeName, fakekubelet.TargetPath(machine.KubeletDir, pod.UID, "pv"))
	require.NoError(w.t, os.MkdirAll(dir, 0o755))
	require.NoError(w.t, syscall.Mount(of, dir, "", syscall.MS_BIND, ""))
	w.t.Cleanup(func() { _ = syscall.Unmount(dir, 0) })
}

// begin starts a pod and the data check of its containers.
func (w *dataWorld) begin(pod *corev1.Pod) {
	w.t.Helper()
	seen(w.t, w.Cluster, "pods", pod)
	w.data.follow(pod)
	w.pump()
}

const asleep = "registry.local/app:1"

// The containers of pods write and read their volumes as in a simulation. A driver that loses data
// is found on a real node, with the same message.
func TestPodsOfARealClusterFindTheirData(t *testing.T) {
	w := newDataWorld(t)
	first := w.pod("first", "node-a", asleep)
	dir := w.published(first)
	w.begin(first)
	text, err := os.ReadFile(filepath.Join(dir, data.FileName))
	require.NoError(t, err)
	assert.Contains(t, string(text), "csisim 1 disk.example.com^vol\n")

	second := w.pod("second", "node-b", asleep)
	w.show(second, dir)
	w.begin(second)
	w.ReadData()
	assert.Empty(t, w.data.lost)

	lost := w.pod("third", "node-b", asleep)
	w.published(lost)
	w.begin(lost)
	const want = "pod default/third does not find its data: volume pv at /var/lib/kubelet/pods/u-third/volumes/kubernetes.io~csi/pv/mount on node-b: expected generation 2, which pod default/second wrote on node-b, found an empty directory"
	lostData := w.Evidence().LostData()
	require.Len(t, lostData, 1)
	assert.Equal(t, []string{want}, lostData[0].Found)
	last := w.world.Trace.Events()[len(w.world.Trace.Events())-1]
	assert.Equal(t, trace.DataLost, last.Kind)
	assert.Equal(t, want, last.Message)
}

// If each node has separate content, as with the reference driver in memory, a pod on another node
// finds an empty volume.
func TestVolumesOfTheReferenceDriverHaveContentOnEachNode(t *testing.T) {
	w := newDataWorld(t)
	w.options.Drivers[0].Apart = true
	for _, node := range []string{"node-a", "node-b"} {
		pod := w.pod("on-"+node, node, asleep)
		w.published(pod)
		w.begin(pod)
	}
	assert.Empty(t, w.data.lost)
}

// A pod that ends during the check is no evidence against its driver.
func TestAPodThatEndsDuringTheCheckHasLostNothing(t *testing.T) {
	w := newDataWorld(t)
	first := w.pod("first", "node-a", asleep)
	dir := w.published(first)
	w.begin(first)
	require.NoError(t, syscall.Unmount(dir, 0))
	w.nodes.then = func() {
		ended := first.DeepCopy()
		ended.DeletionTimestamp = &metav1.Time{}
		seen(t, w.Cluster, "pods", ended)
	}
	w.ReadData()
	assert.Empty(t, w.data.lost)

	w.nodes.then = nil
	seen(t, w.Cluster, "pods", first)
	w.ReadData()
	require.Len(t, w.data.lost, 1)
	assert.Contains(t, w.data.lost[0].Found[0], "found a directory on which nothing is mounted")
}

// The check skips containers with their own programs, scenarios without a data check, and nodes on
// which csisim cannot run commands. It reports such nodes.
func TestVolumesThatTheCheckSkips(t *testing.T) {
	w := newDataWorld(t)
	w.begin(w.pod("program", "node-a", "docker.io/library/postgres:17"))
	w.options.NoDataCheck = true
	w.begin(w.pod("first", "node-a", asleep))
	w.options.NoDataCheck = false
	w.dark["node-b"] = true
	w.begin(w.pod("second", "node-b", asleep))
	assert.Zero(t, w.nodes.ran)
	assert.Equal(t, []string{"the data of pods on node-b: the node has no power"}, w.data.unseenVolumes())
}

// The check distinguishes the possible states of a published volume.
func TestTheStatesOfAPublishedVolume(t *testing.T) {
	dir := mounted(t)
	elsewhere := t.TempDir()
	look := func(at publishedAt) *published {
		w := newDataWorld(t)
		w.options.Machines = &here{}
		found, err := w.lookAt(at)
		require.NoError(t, err)
		return found
	}
	verdict := func(path string) string { return look(publishedAt{node: "node-a", path: path}).verdict }
	assert.Equal(t, "absent", verdict(elsewhere+"/nothing"))
	assert.Equal(t, "unmounted", verdict(elsewhere))
	assert.Equal(t, "empty", verdict(dir))

	require.NoError(t, os.Mkdir(filepath.Join(dir, "lost+found"), 0o755))
	assert.Equal(t, "others", verdict(dir))
	file := filepath.Join(dir, data.FileName)
	require.NoError(t, os.Symlink("/etc/passwd", file))
	irregular := look(publishedAt{node: "node-a", path: dir})
	_, err := irregular.ReadVolumeFile(dir, data.FileName)
	assert.EqualError(t, err, file+" is a symbolic link, not a regular file")

	require.NoError(t, os.Remove(file))
	w := newDataWorld(t)
	w.options.Machines = &here{}
	mounted := &published{publishedAt: publishedAt{node: "node-a", path: dir}, cluster: w.Cluster}
	require.NoError(t, mounted.WriteVolumeFile(dir, data.FileName, []byte("100 %\n"), 0o644))
	assert.Equal(t, "100 %\n", string(look(mounted.publishedAt).contents))

	device := publishedAt{node: "node-a", path: filepath.Join(elsewhere, "device"), block: true}
	assert.Equal(t, "absent", look(device).verdict)
	require.NoError(t, os.WriteFile(device.path, make([]byte, 3*data.BlockBytes), 0o600))
	assert.Equal(t, make([]byte, data.BlockBytes), look(device).contents)
	require.NoError(t, (&published{publishedAt: device, cluster: w.Cluster}).WriteStart("", []byte("first")))
	assert.Equal(t, "first", strings.TrimRight(string(look(device).contents), "\x00"))
	whole, err := os.Stat(device.path)
	require.NoError(t, err)
	assert.EqualValues(t, 3*data.BlockBytes, whole.Size())
}
