package promotion

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/kindcluster"
	"github.com/csisim/csisim/internal/real/kindcluster/enginetest"
	"github.com/csisim/csisim/sim"
)

// plainSubject has no drivers.
var plainSubject = Subject{Name: "plain.yaml", Nodes: []string{"node-a", "node-b"}, Options: func(ctx context.Context) sim.Options { return sim.Options{Context: ctx} }}

// One cluster serves all files and has the nodes of all files. The files agree on the cluster's
// version and configuration.
func TestOneClusterServesSeveralFiles(t *testing.T) {
	old := Subject{Name: "old.yaml", Kubernetes: 34, Nodes: []string{"node-a", "node-b"}}
	plain := Subject{Name: "plain.yaml", Nodes: []string{"node-a", "node-b", "node-c"}}
	ipv6 := Subject{Name: "ipv6.yaml", Nodes: []string{"z", "node-a"}, Kind: &v1alpha4.Cluster{
		Networking: v1alpha4.Networking{IPFamily: v1alpha4.IPv6Family}, Nodes: []v1alpha4.Node{{Role: v1alpha4.WorkerRole, Image: "mine"}},
	}}
	dual := Subject{Name: "dual.yaml", Kind: &v1alpha4.Cluster{Networking: v1alpha4.Networking{IPFamily: v1alpha4.DualStackFamily}}}

	o, err := kindOptions([]Subject{plain, ipv6}, TargetOptions{})
	require.NoError(t, err)
	assert.Equal(t, []string{"z", "node-a", "node-b", "node-c"}, o.Nodes, "the configuration's workers are in their order")
	assert.EqualValues(t, "ipv6", o.Config.Networking.IPFamily)
	assert.Equal(t, deploy.NodeImage(36), o.Usual)
	assert.Empty(t, o.Image)

	_, err = kindOptions([]Subject{ipv6, dual}, TargetOptions{})
	assert.EqualError(t, err, "dual.yaml: cluster.kind is another than in ipv6.yaml: one cluster serves all files of a command")
	_, err = kindOptions([]Subject{plain, old}, TargetOptions{})
	assert.EqualError(t, err, "old.yaml: it is of Kubernetes 1.34, plain.yaml of 1.36: one cluster serves all files of a command; --node-image names its version")
	o, err = kindOptions([]Subject{plain, old}, TargetOptions{NodeImage: "mine"})
	require.NoError(t, err)
	assert.Equal(t, "mine", o.Image)

	assert.Contains(t, NodeImage(old, TargetOptions{}), "kindest/node:v1.34.11@sha256:")
	assert.Equal(t, "mine, "+deploy.NodeImage(36), NodeImage(ipv6, TargetOptions{}))
}

// The directory of a killed run's cluster is removed after the cluster, and not before.
func TestDirectoriesOfDeletedClustersAreRemoved(t *testing.T) {
	work := t.TempDir()
	for _, name := range []string{"there", "gone"} {
		require.NoError(t, os.MkdirAll(filepath.Join(sharedDir(work, name), "volumes"), 0o755))
	}
	require.NoError(t, os.Mkdir(filepath.Join(work, "other"), 0o755))

	enginetest.Docker(t, "info")
	removed, err := CleanShared(work)
	require.ErrorContains(t, err, sharedDir(work, "gone")+", "+sharedDir(work, "there")+" may be of a kind cluster that does not exist any more: ", "the existing clusters are unknown")
	assert.ErrorContains(t, err, "none answers: docker: stand-in: info refused")
	assert.Empty(t, removed)

	enginetest.Docker(t, "never", "there")
	removed, err = CleanShared(work)
	require.NoError(t, err)
	assert.Equal(t, []string{sharedDir(work, "gone")}, removed)
	assert.DirExists(t, sharedDir(work, "there"))
	assert.NoDirExists(t, sharedDir(work, "gone"))
	assert.DirExists(t, filepath.Join(work, "other"))
}

// Wildcards in a path are taken literally.
func TestWildcardsInAPathAreLiteral(t *testing.T) {
	work := filepath.Join(t.TempDir(), "[a]*")
	require.NoError(t, os.MkdirAll(sharedDir(work, "gone"), 0o755))
	enginetest.Docker(t, "never")
	removed, err := CleanShared(work)
	require.NoError(t, err)
	assert.Equal(t, []string{sharedDir(work, "gone")}, removed)
}

// kind does not list a cluster before its first node exists, which may need a long pull. The
// cluster's directory is locked until then.
func TestTheDirectoryOfAClusterInCreationIsLocked(t *testing.T) {
	work := t.TempDir()
	dir := sharedDir(work, "")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "volumes", "stale"), 0o755))
	lock, err := newShared(dir, "csisim")
	require.NoError(t, err)
	assert.NoDirExists(t, filepath.Join(dir, "volumes"), "it was of a deleted cluster")

	enginetest.Docker(t, "never")
	removed, err := CleanShared(work)
	require.NoError(t, err)
	assert.Empty(t, removed)
	_, err = Open(t.Context(), []Subject{plainSubject}, TargetOptions{On: "kind", WorkDir: work})
	assert.EqualError(t, err, `cluster "csisim": another run is making it, or cleans up after it: wait for that run`)
	assert.DirExists(t, dir)

	require.NoError(t, lock.Close())
	removed, err = CleanShared(work)
	require.NoError(t, err)
	assert.Equal(t, []string{dir}, removed)
}

// The root user of the nodes has written files that the user cannot remove. A node empties the
// directory before the cluster is deleted.
func TestANodeEmptiesTheDirectoryBeforeTheClusterIsDeleted(t *testing.T) {
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

// If a cluster cannot be created, its directory is removed. The directory of an existing cluster
// stays unchanged.
func TestTheDirectoryOfAFailedClusterIsRemoved(t *testing.T) {
	work := t.TempDir()
	plain := plainSubject
	enginetest.Docker(t, "run")
	_, err := Open(t.Context(), []Subject{plain}, TargetOptions{On: "kind", WorkDir: work})
	assert.ErrorContains(t, err, `make the kind cluster "csisim"`)
	left, err := os.ReadDir(work)
	require.NoError(t, err)
	assert.Empty(t, left)

	volumes := filepath.Join(sharedDir(work, ""), "volumes")
	require.NoError(t, os.MkdirAll(volumes, 0o755))
	enginetest.Docker(t, "never", "csisim")
	_, err = Open(t.Context(), []Subject{plain}, TargetOptions{On: "kind", WorkDir: work})
	assert.ErrorContains(t, err, "kind has one of that name")
	assert.DirExists(t, volumes)
}
