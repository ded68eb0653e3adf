package realcluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

func TestMain(m *testing.M) {
	namespaces.Enter() // volumes are mounted
	os.Exit(m.Run())
}

// onVolume runs a script like on a node, and returns the volume's refusal.
func onVolume(t *testing.T, script, dir, name string, args ...string) (out, refusal string) {
	t.Helper()
	text, err := exec.Command("sh", append([]string{"-c", script, "sh", dir, name}, args...)...).CombinedOutput()
	require.NoError(t, err, "%s", text)
	if problem, is := strings.CutPrefix(string(text), refused); is {
		return "", problem
	}
	return string(text), ""
}

// mounted returns the directory of a published volume.
func mounted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("volume", dir, "tmpfs", 0, ""); err != nil {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, 0)) })
	return dir
}

// A file with any content that was written into a volume is read with its owner and permissions. In
// a setgid directory it has the directory's group.
func TestFilesOfAVolumeOfARealNode(t *testing.T) {
	const content, encoded = "100 %\n$1 'quoted'\x00", "MTAwICUKJDEgJ3F1b3RlZCcA"
	dir := mounted(t)
	write := func(name string) {
		_, refusal := onVolume(t, writeCommand, dir, name, encoded, "0", "0", "640")
		assert.Empty(t, refusal)
	}
	read := func(name string) sim.VolumeFile {
		out, refusal := onVolume(t, readCommand, dir, name)
		assert.Empty(t, refusal)
		f, err := readVolumeFile(out)
		require.NoError(t, err)
		return f
	}
	write("report")
	assert.Equal(t, sim.VolumeFile{Content: content, Mode: 0o640}, read("report"))

	require.NoError(t, os.WriteFile(filepath.Join(dir, "empty"), nil, 0o600))
	assert.Equal(t, sim.VolumeFile{Mode: 0o600}, read("empty"))

	if err := os.Chown(dir, -1, 2000); err != nil {
		t.Skipf("an ordinary user has no other groups: %v", err)
	}
	require.NoError(t, os.Chmod(dir, 0o775|os.ModeSetgid))
	write("late")
	assert.Equal(t, sim.VolumeFile{Content: content, GID: 2000, Mode: 0o640}, read("late"))
}

// A refusal of the volume has a reason, and is not an error of the node.
func TestARefusalOfAVolumeIsNoErrorOfTheNode(t *testing.T) {
	dir := mounted(t)
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(dir, "link")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	elsewhere := t.TempDir()
	write := []string{"eA==", "0", "0", "644"}
	for _, c := range []struct{ dir, name, why string }{
		{elsewhere, "report", "nothing is mounted at " + elsewhere},
		{dir, "link", dir + "/link is a symbolic link, not a regular file"},
		{dir, "pipe", dir + "/pipe is not a regular file"},
	} {
		_, refusal := onVolume(t, writeCommand, c.dir, c.name, write...)
		assert.Equal(t, c.why, refusal)
		_, refusal = onVolume(t, readCommand, c.dir, c.name)
		assert.Equal(t, c.why, refusal)
	}
	_, refusal := onVolume(t, readCommand, dir, "report")
	assert.Contains(t, refusal, "No such file or directory")

	require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	_, refusal = onVolume(t, writeCommand, dir, "report", write...)
	assert.Contains(t, refusal, "Read-only file system")
	assert.NoFileExists(t, filepath.Join(elsewhere, "report"))
}

// On a shared cluster, a PersistentVolume of the scenario has another name and therefore another
// directory. An inline volume has its name in the pod, and a volume that the cluster has
// provisioned has a generated name.
func TestTheDirectoryOfAVolumeInACluster(t *testing.T) {
	c, _ := withPods(t)
	c.options.Deploy.Scope = "-z0a1bgg"
	for _, name := range []string{"disk", "pvc-8a78"} {
		seen(t, c, "persistentvolumes", &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	assert.Equal(t, "disk-z0a1bgg", c.volumeInCluster("disk"))
	assert.Equal(t, "pvc-8a78", c.volumeInCluster("pvc-8a78"))
	assert.Equal(t, "scratch", c.volumeInCluster("scratch"))
}
