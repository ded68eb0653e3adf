package live

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// hugeArchive writes an image with a file of zeros of the given size. The archive is sparse and
// takes no disk space.
func hugeArchive(t *testing.T, at string, size int64) {
	t.Helper()
	var layer bytes.Buffer
	require.NoError(t, tar.NewWriter(&layer).WriteHeader(&tar.Header{Name: "huge", Typeflag: tar.TypeReg, Mode: 0o644, Size: size}))
	config, err := json.Marshal(v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH, Config: v1.Config{Cmd: []string{"/huge"}},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{{Algorithm: "sha256", Hex: strings.Repeat("0", 64)}}}})
	require.NoError(t, err)
	manifest, err := json.Marshal(tarball.Manifest{{Config: "config.json", RepoTags: []string{"registry.local/huge:1"}, Layers: []string{"layer.tar"}}})
	require.NoError(t, err)

	file, err := os.Create(at)
	require.NoError(t, err)
	archive := tar.NewWriter(file)
	for _, content := range []struct {
		name string
		text []byte
	}{{"config.json", config}, {"manifest.json", manifest}} {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: content.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content.text))}))
		_, err := archive.Write(content.text)
		require.NoError(t, err)
	}
	end := int64(2 * 512)
	require.NoError(t, archive.WriteHeader(&tar.Header{Name: "layer.tar", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(layer.Len()) + size + end}))
	_, err = file.Write(layer.Bytes())
	require.NoError(t, err)
	written, err := file.Seek(0, io.SeekCurrent)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(written+size+2*end))
	require.NoError(t, file.Close())
}

// Given an image that takes a long time to unpack, when csisim is interrupted during the unpacking,
// then csisim ends and no part of the image remains.
func TestAnInterruptEndsTheUnpackingOfAnImage(t *testing.T) {
	clitest.NeedsNamespaces(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := clitest.NewPlace(t, clitest.Build(t))
		hugeArchive(t, filepath.Join(p.Dir, "huge.tar"), 1<<40)
		p.Write("cluster.yaml", clitest.Header+"cluster: {nodes: 1}\nimages: {registry.local/huge: ./huge.tar}\n")
		up := p.Command("up", "-f", "cluster.yaml", "--kubeconfig", filepath.Join(p.Dir, "config"))
		up.Env = append(up.Env, "HOME="+p.Dir, "XDG_CACHE_HOME="+p.Dir)
		r := clitest.StartCommand(t, p, up, func() bool {
			unpacked, err := filepath.Glob(filepath.Join(p.Work, "csisim-*/images/0/huge"))
			return err == nil && len(unpacked) > 0
		})
		r.Signal(t, s)
		r.AwaitEnd(t, clitest.Interrupted)
		assert.Empty(t, r.Leftovers())
	}
}

// Given a disk with room for little more than two images, when a pod fills the disk and keeps
// filling freed space, then other pods keep running, and new pods fail to start with the system's
// error. They start when there is room again.
func TestAVolumeThatFillsTheDiskDisturbsNoOther(t *testing.T) {
	clitest.NeedsRoot(t)
	t.Parallel() // the test mostly waits
	p := clitest.NewPlace(t, "")
	require.NoError(t, unix.Mount("small", p.Work, "tmpfs", 0, "size=48m"))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(p.Work, unix.MNT_DETACH)) })
	c := startImagesIn(t, p)
	c.make(`
metadata: {name: neighbour}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: c, image: "registry.local/tools:1", args: ["sleep 1000"]}]
`, inPhase(corev1.PodRunning))
	c.make(`
metadata: {name: full}
spec:
  terminationGracePeriodSeconds: 0
  volumes: [{name: data, emptyDir: {}}]
  containers:
  - name: c
    image: registry.local/tools:1
    args: ["while :; do cat /dev/zero >>/data/file; sleep 0.05; done 2>/dev/null"]
    volumeMounts: [{name: data, mountPath: /data}]
`, inPhase(corev1.PodRunning))
	require.Eventually(t, func() bool {
		var disk unix.Statfs_t
		return unix.Statfs(p.Work, &disk) == nil && disk.Bavail == 0
	}, time.Minute, 20*time.Millisecond)
	_, err := c.CoreV1().Pods("default").Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "late"},
		Spec: corev1.PodSpec{
			TerminationGracePeriodSeconds: new(int64(0)),
			Containers:                    []corev1.Container{{Name: "c", Image: "registry.local/tools:1", Args: []string{"sleep 1000"}}},
		},
	}, metav1.CreateOptions{})
	require.NoError(t, err)
	require.EventuallyWithT(t, func(t *assert.CollectT) {
		assert.Contains(t, c.eventsAbout("late"), "no space left on device")
	}, 2*time.Minute, 50*time.Millisecond)
	assert.Equal(t, "here\n", c.exec("neighbour", "sh", "-c", "echo here"))
	require.NoError(t, c.CoreV1().Pods("default").Delete(t.Context(), "full", metav1.DeleteOptions{}))
	require.Eventually(t, func() bool {
		late, err := c.CoreV1().Pods("default").Get(t.Context(), "late", metav1.GetOptions{})
		return err == nil && late.Status.Phase == corev1.PodRunning
	}, time.Minute, 50*time.Millisecond)
	c.down()
}
