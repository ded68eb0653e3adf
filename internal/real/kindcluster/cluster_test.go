package kindcluster

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/csisim/csisim/internal/real/kindcluster/enginetest"
	"github.com/csisim/csisim/sim"
)

// removed returns the orders that remove something.
func removed(orders []string) (all []string) {
	for _, o := range orders {
		if strings.HasPrefix(o, "rm ") || strings.HasPrefix(o, "kill ") || strings.HasPrefix(o, "network rm") || strings.HasPrefix(o, "volume rm") {
			all = append(all, o)
		}
	}
	return all
}

func TestTheErrorForAMissingEngineNamesARemedy(t *testing.T) {
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "")
	t.Setenv("PATH", t.TempDir())
	_, err := Create(context.Background(), Options{})
	environment := (*sim.EnvironmentError)(nil)
	require.ErrorAs(t, err, &environment)
	assert.ErrorContains(t, err, "neither docker nor podman nor nerdctl is in PATH: install one of them")

	enginetest.Docker(t, "info")
	_, err = Create(context.Background(), Options{})
	require.ErrorAs(t, err, &environment)
	assert.ErrorContains(t, err, "none answers: docker: stand-in: info refused. Start it, or allow this user to use it")
}

// An existing cluster is neither used nor deleted.
func TestAnExistingClusterIsLeftAlone(t *testing.T) {
	orders := enginetest.Docker(t, "never", "other", DefaultName)
	_, err := Create(context.Background(), Options{})
	config := (*sim.ConfigError)(nil)
	require.ErrorAs(t, err, &config)
	assert.ErrorContains(t, err, `use it with --on kind:csisim, or delete it with 'kind delete cluster --name csisim'`)
	assert.Empty(t, removed(orders()))
}

// A cluster that another command creates between the list and the first node is not touched either.
func TestAClusterMadeConcurrentlyIsLeftAlone(t *testing.T) {
	orders := enginetest.Docker(t, "never", "other")
	c, err := connect(Options{})
	require.NoError(t, err)
	_ = exec.Command("docker", "run", "somebody").Run()
	_, err = Create(context.Background(), Options{Image: "kindest/node:v0"})
	config := (*sim.ConfigError)(nil)
	require.ErrorAs(t, err, &config)
	assert.Equal(t, c.taken(), err)
	assert.Empty(t, removed(orders()))
}

// A cluster that fails to start is removed, but nothing of another cluster is removed.
func TestAFailedClusterIsRemoved(t *testing.T) {
	orders := enginetest.Docker(t, "run", "other")
	_, err := Create(context.Background(), Options{Nodes: []string{"node-a"}, Image: "kindest/node:v0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")})
	environment := (*sim.EnvironmentError)(nil)
	require.ErrorAs(t, err, &environment)
	assert.ErrorContains(t, err, `make the kind cluster "csisim"`)
	all := orders()
	assert.NotEmpty(t, removed(all))
	for _, o := range removed(all) {
		assert.Equal(t, "rm -f -v csisim-worker", o)
	}
	made := beginning(all, "run ")
	require.NotEmpty(t, made)
	for _, o := range made {
		assert.Contains(t, o, "kindest/node:v0")
		assert.Contains(t, o, "--label io.x-k8s.kind.cluster=csisim")
	}
}

// beginning returns the orders that begin with a text.
func beginning(orders []string, with string) (all []string) {
	for _, o := range orders {
		if strings.HasPrefix(o, with) {
			all = append(all, o)
		}
	}
	return all
}

// The configuration is kind's own, except for the names of the nodes, their shared directory, and
// the image of nodes without one.
func TestAClusterHasItsConfiguration(t *testing.T) {
	config := &v1alpha4.Cluster{
		Networking: v1alpha4.Networking{APIServerAddress: "127.0.0.2"},
		Nodes: []v1alpha4.Node{
			{Role: v1alpha4.WorkerRole, Image: "kindest/node:old", Labels: map[string]string{"disk": "ssd"}},
			{Role: v1alpha4.ControlPlaneRole, ExtraMounts: []v1alpha4.Mount{{HostPath: "/srv", ContainerPath: "/disks"}}},
		},
	}
	o := Options{Nodes: []string{"node-a", "node-b"}, Config: config, Usual: "kindest/node:usual", Shared: "/tmp/shared", SharedAt: "/shared"}
	made := o.config()
	require.Len(t, made.Nodes, 3)
	var images, mounts []string
	for _, n := range made.Nodes {
		images = append(images, n.Image)
		for _, m := range n.ExtraMounts {
			mounts = append(mounts, string(n.Role)+" "+m.HostPath)
		}
	}
	assert.Equal(t, []string{"kindest/node:usual", "kindest/node:old", "kindest/node:usual"}, images)
	assert.Equal(t, []string{"control-plane /srv", "control-plane /tmp/shared", "worker /tmp/shared", "worker /tmp/shared"}, mounts)
	assert.Equal(t, map[string]string{"disk": "ssd"}, made.Nodes[1].Labels)
	assert.Contains(t, made.Nodes[2].KubeadmConfigPatches[0], "name: node-b")
	assert.Equal(t, "127.0.0.2", made.Networking.APIServerAddress)
	assert.Equal(t, []string{noElection}, made.KubeadmConfigPatches)
	assert.Len(t, config.Nodes, 2, "the scenario's own stays as it is")

	for image, want := range map[string][]string{"": {"kindest/node:usual", "kindest/node:old"}, "kindest/node:flag": {"kindest/node:flag"}} {
		orders := enginetest.Docker(t, "run")
		o.Image, o.Kubeconfig = image, filepath.Join(t.TempDir(), "kubeconfig")
		_, err := Create(context.Background(), o)
		require.Error(t, err)
		found := map[string]bool{}
		for _, run := range beginning(orders(), "run ") {
			words := strings.Fields(run)
			found[words[len(words)-1]] = true
		}
		for image := range found {
			assert.Contains(t, want, image)
		}
		assert.NotEmpty(t, found)
	}
}

// A single control plane elects no leader, unless the user's own patches enable that.
func TestOneControlPlaneElectsNoLeader(t *testing.T) {
	const own = "kind: ClusterConfiguration\ncontrollerManager: {extraArgs: {leader-elect: \"true\"}}\n"
	alone := Options{Nodes: []string{"node-a"}, Config: &v1alpha4.Cluster{KubeadmConfigPatches: []string{own}}}
	assert.Equal(t, []string{noElection, own}, alone.config().KubeadmConfigPatches)
	one := v1alpha4.Node{Role: v1alpha4.ControlPlaneRole}
	several := Options{Nodes: []string{"node-a"}, Config: &v1alpha4.Cluster{Nodes: []v1alpha4.Node{one, one, one}}}
	assert.Empty(t, several.config().KubeadmConfigPatches)
}

// A failure of the engine is reported with the engine's message, and nothing is left behind.
func TestFailuresOfTheEngineAreReported(t *testing.T) {
	for _, fails := range []string{"ps -a", "network ls", "run", "exec"} {
		t.Run(fails, func(t *testing.T) {
			orders := enginetest.Docker(t, fails)
			_, err := Create(context.Background(), Options{Image: "kindest/node:v0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")})
			environment := (*sim.EnvironmentError)(nil)
			require.ErrorAs(t, err, &environment)
			if len(beginning(orders(), "run ")) > 0 {
				assert.NotEmpty(t, removed(orders()))
			}
		})
	}
}

// An interrupt ends the creation of a cluster at once, at any step of kind, and leaves no node
// behind.
func TestAnInterruptEndsTheCreationOfACluster(t *testing.T) {
	orders := enginetest.Docker(t, "none")
	enginetest.Hangs(t, "logs")
	ctx, interrupt := context.WithCancelCause(t.Context())
	cause := errors.New("interrupted")
	ended := make(chan error, 1)
	go func() {
		_, err := Create(ctx, Options{Image: "kindest/node:v0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")})
		ended <- err
	}()
	require.Eventually(t, func() bool { return len(beginning(orders(), "logs ")) > 0 }, time.Minute, 10*time.Millisecond)
	interrupt(cause)
	select {
	case err := <-ended:
		assert.ErrorIs(t, err, cause)
	case <-time.After(time.Minute):
		t.Fatal("kind goes on")
	}
	assert.NotEmpty(t, removed(orders()))
}

// An image that the registry lacks ends the creation of a cluster, and no node is started.
func TestAMissingNodeImageIsAnError(t *testing.T) {
	orders := enginetest.Docker(t, "pull", "other")
	enginetest.Without(t, "kindest/node:v0")
	_, err := Create(context.Background(), Options{Image: "kindest/node:v0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")})
	environment := (*sim.EnvironmentError)(nil)
	require.ErrorAs(t, err, &environment)
	assert.ErrorContains(t, err, "kindest/node:v0")
	assert.Empty(t, beginning(orders(), "run "))
}

// kind panics if its list of nodes is empty. This is reported as an ordinary error.
func TestAPanicOfKindIsAnError(t *testing.T) {
	c := &Cluster{name: "x", provider: nil}
	err := c.create()
	assert.ErrorContains(t, err, "kind panicked")
	assert.ErrorContains(t, err, "its nodes did not come up")
}

// If a node cannot be started or is missing, the error contains the engine's message.
func TestANodeThatCannotBeStartedIsAnError(t *testing.T) {
	orders := enginetest.Docker(t, "start", DefaultName)
	_ = exec.Command("docker", "run", "a node").Run()
	c, err := Find(Options{})
	require.NoError(t, err)
	require.NotNil(t, c)
	assert.NoError(t, c.PowerOff(t.Context(), DefaultName+"-worker"))
	assert.EqualError(t, c.PowerOn(t.Context(), DefaultName+"-worker"), "docker start csisim-worker: exit status 1: stand-in: start refused")
	assert.EqualError(t, c.PowerOn(t.Context(), "none"), `the kind cluster "csisim" has no node none`)
	assert.NotEmpty(t, beginning(orders(), "kill csisim-worker"))
}
