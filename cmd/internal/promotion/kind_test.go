package promotion

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/deploy"
	"github.com/csisim/csisim/cmd/internal/kindcluster"
	"github.com/csisim/csisim/cmd/internal/kindcluster/enginetest"
	"github.com/csisim/csisim/cmd/internal/scenario"
)

func parse(t *testing.T, name, text string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse(name, []byte("apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n"+text))
	require.NoError(t, err)
	return s
}

// One cluster serves all files: they agree on its version and its configuration, and it has the nodes of all.
func TestTheClusterOfSeveralFiles(t *testing.T) {
	old := parse(t, "old.yaml", "kubernetes: 1.34\n")
	plain := parse(t, "plain.yaml", "cluster: {nodes: 3}\n")
	ipv6 := parse(t, "ipv6.yaml", "cluster: {nodes: [{name: z}, {name: node-a}], kind: {networking: {ipFamily: ipv6}, nodes: [{role: worker, image: mine}]}}\n")
	dual := parse(t, "dual.yaml", "cluster: {kind: {networking: {ipFamily: dual}}}\n")

	o, err := kindOptions([]*scenario.Scenario{plain, ipv6}, TargetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"z", "node-a", "node-b", "node-c"}, o.Nodes, "the configuration's workers are in their order")
	assert.EqualValues(t, "ipv6", o.Config.Networking.IPFamily)
	assert.Equal(t, deploy.NodeImage(36), o.Usual)
	assert.Empty(t, o.Image)

	_, err = kindOptions([]*scenario.Scenario{ipv6, dual}, TargetOptions{})
	assert.EqualError(t, err, "dual.yaml: cluster.kind is another than in ipv6.yaml: one cluster serves all files of a command")
	_, err = kindOptions([]*scenario.Scenario{plain, old}, TargetOptions{})
	assert.EqualError(t, err, "old.yaml: it is of Kubernetes 1.34, plain.yaml of 1.36: one cluster serves all files of a command; --node-image names its version")
	o, err = kindOptions([]*scenario.Scenario{plain, old}, TargetOptions{NodeImage: "mine"})
	require.NoError(t, err)
	assert.Equal(t, "mine", o.Image)

	assert.Contains(t, nodeImage(old, TargetOptions{}), "kindest/node:v1.34.11@sha256:")
	assert.Equal(t, "mine, "+deploy.NodeImage(36), nodeImage(ipv6, TargetOptions{}))
}

// What a killed run leaves of a cluster goes when the cluster is gone, and not before.
func TestTheDirectoriesOfClustersThatAreGone(t *testing.T) {
	work := t.TempDir()
	for _, name := range []string{"there", "gone"} {
		require.NoError(t, os.MkdirAll(filepath.Join(sharedDir(work, name), "volumes"), 0o755))
	}
	require.NoError(t, os.Mkdir(filepath.Join(work, "other"), 0o755))

	enginetest.Docker(t, "info")
	removed, err := CleanShared(work)
	require.NoError(t, err)
	assert.Empty(t, removed, "who knows which clusters there are")

	enginetest.Docker(t, "never", "there")
	removed, err = CleanShared(work)
	require.NoError(t, err)
	assert.Equal(t, []string{sharedDir(work, "gone")}, removed)
	assert.DirExists(t, sharedDir(work, "there"))
	assert.NoDirExists(t, sharedDir(work, "gone"))
	assert.DirExists(t, filepath.Join(work, "other"))
}

// A pattern's characters in a path are only characters.
func TestTheDirectoriesInAPathWithBrackets(t *testing.T) {
	work := filepath.Join(t.TempDir(), "[a]*")
	require.NoError(t, os.MkdirAll(sharedDir(work, "gone"), 0o755))
	enginetest.Docker(t, "never")
	removed, err := CleanShared(work)
	require.NoError(t, err)
	assert.Equal(t, []string{sharedDir(work, "gone")}, removed)
}

// kind does not know a cluster before its first node, which may take a long pull: nobody else removes its directory.
func TestTheDirectoryOfAClusterThatIsBeingMade(t *testing.T) {
	work := t.TempDir()
	dir := sharedDir(work, "")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "volumes", "stale"), 0o755))
	lock, err := newShared(dir, "csisim")
	require.NoError(t, err)
	assert.NoDirExists(t, filepath.Join(dir, "volumes"), "it was of a cluster that is gone")

	enginetest.Docker(t, "never")
	removed, err := CleanShared(work)
	require.NoError(t, err)
	assert.Empty(t, removed)
	_, err = Open(t.Context(), []*scenario.Scenario{parse(t, "plain.yaml", "")}, TargetOptions{On: "kind", WorkDir: work})
	assert.EqualError(t, err, `cluster "csisim": another run is making it, or cleans up after it: wait for that run`)
	assert.DirExists(t, dir)

	require.NoError(t, lock.Close())
	removed, err = CleanShared(work)
	require.NoError(t, err)
	assert.Equal(t, []string{dir}, removed)
}

// The nodes' root has written what a user cannot remove: a node empties the directory before the cluster is deleted.
func TestANodeEmptiesTheDirectoryBeforeItGoes(t *testing.T) {
	work := t.TempDir()
	require.NoError(t, os.MkdirAll(sharedDir(work, ""), 0o755))
	orders := enginetest.Docker(t, "never", "csisim")
	require.NoError(t, exec.Command("docker", "run", "a node").Run())
	found, err := kindcluster.Find(kindcluster.Options{Kubeconfig: filepath.Join(work, "kubeconfig")})
	require.NoError(t, err)
	require.NotNil(t, found)
	require.NoError(t, (&Target{options: TargetOptions{WorkDir: work}, kind: found}).removeShared())
	all := orders()
	emptied := slices.IndexFunc(all, func(o string) bool {
		return strings.HasSuffix(o, "csisim-worker find /var/lib/csisim-shared -xdev -mindepth 1 ! -path /var/lib/csisim-shared/.lock -delete")
	})
	deleted := slices.IndexFunc(all, func(o string) bool { return strings.HasPrefix(o, "rm ") })
	assert.True(t, 0 <= emptied && emptied < deleted, strings.Join(all, "\n"))
	assert.NoDirExists(t, sharedDir(work, ""))
}

// A cluster that does not come up leaves no directory; that of a cluster which is there already stays as it is.
func TestTheDirectoryOfAClusterThatIsNotMade(t *testing.T) {
	work := t.TempDir()
	plain := parse(t, "plain.yaml", "")
	enginetest.Docker(t, "run")
	_, err := Open(t.Context(), []*scenario.Scenario{plain}, TargetOptions{On: "kind", WorkDir: work})
	assert.ErrorContains(t, err, `make the kind cluster "csisim"`)
	left, err := os.ReadDir(work)
	require.NoError(t, err)
	assert.Empty(t, left)

	volumes := filepath.Join(sharedDir(work, ""), "volumes")
	require.NoError(t, os.MkdirAll(volumes, 0o755))
	enginetest.Docker(t, "never", "csisim")
	_, err = Open(t.Context(), []*scenario.Scenario{plain}, TargetOptions{On: "kind", WorkDir: work})
	assert.ErrorContains(t, err, "kind has one of that name")
	assert.DirExists(t, volumes)
}
