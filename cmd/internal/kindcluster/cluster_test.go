package kindcluster

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim"
)

// engine puts a stand-in for docker into PATH, alone, which records how it is called. It says that there are clusters of these
// names, and that one has a node once it was asked to run it; it fails at the order that begins with fails.
func engine(t *testing.T, fails string, clusters ...string) (orders func() []string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "orders")
	script := `#!/bin/sh
echo "$*" >> ` + log + `
case "$*" in
"` + fails + `"*) echo "stand-in: $1 refused" >&2; exit 1 ;;
"info --format {{.OSType}}") echo linux ;;
info*) echo '{"CgroupDriver":"systemd","CgroupVersion":"2","MemoryLimit":true,"PidsLimit":true,"CPUShares":true,"SecurityOptions":[]}' ;;
"ps -a --filter label=io.x-k8s.kind.cluster --format"*) printf '%s\n' ` + strings.Join(clusters, " ") + ` ;;
"ps -a --filter label=io.x-k8s.kind.cluster="*) while read -r order; do case "$order" in "run "*) echo ` + DefaultName + `-worker; break ;; esac; done <` + log + ` ;;
"network ls"*) echo 0123456789ab ;;
"network inspect"*) echo '[{"Id":"0123456789ab","Containers":{}}]' ;;
esac
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docker"), []byte(script), 0o755))
	t.Setenv("PATH", dir)
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "")
	return func() []string {
		text, err := os.ReadFile(log)
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

// removed are the orders that take something away.
func removed(orders []string) (all []string) {
	for _, o := range orders {
		if strings.HasPrefix(o, "rm ") || strings.HasPrefix(o, "kill ") || strings.HasPrefix(o, "network rm") || strings.HasPrefix(o, "volume rm") {
			all = append(all, o)
		}
	}
	return all
}

func TestWithoutAnEngineTheErrorSaysWhatToDo(t *testing.T) {
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "")
	t.Setenv("PATH", t.TempDir())
	_, err := Create(context.Background(), Options{})
	environment := (*sim.EnvironmentError)(nil)
	require.ErrorAs(t, err, &environment)
	assert.ErrorContains(t, err, "neither docker nor podman nor nerdctl is in PATH: install one of them")

	engine(t, "info")
	_, err = Create(context.Background(), Options{})
	require.ErrorAs(t, err, &environment)
	assert.ErrorContains(t, err, "none answers: docker: stand-in: info refused. Start it, or allow this user to use it")
}

// A cluster that is there already is neither used nor deleted.
func TestAClusterOfThatNameIsLeftAlone(t *testing.T) {
	orders := engine(t, "never", "other", DefaultName)
	_, err := Create(context.Background(), Options{})
	config := (*sim.ConfigError)(nil)
	require.ErrorAs(t, err, &config)
	assert.ErrorContains(t, err, `use it with --on kind:csisim, or delete it with 'kind delete cluster --name csisim'`)
	assert.Empty(t, removed(orders()))
}

// The name is taken between the look at the list and the first node: that cluster is left alone, too.
func TestAClusterThatSomebodyElseMakesMeanwhileIsLeftAlone(t *testing.T) {
	orders := engine(t, "never", "other")
	c, err := connect(Options{})
	require.NoError(t, err)
	_ = exec.Command("docker", "run", "somebody").Run()
	_, err = Create(context.Background(), Options{Image: "kindest/node:v0"})
	config := (*sim.ConfigError)(nil)
	require.ErrorAs(t, err, &config)
	assert.Equal(t, c.taken(), err)
	assert.Empty(t, removed(orders()))
}

// What was begun is taken away, and nothing of another cluster.
func TestAClusterThatDoesNotComeUpIsTakenAway(t *testing.T) {
	orders := engine(t, "run", "other")
	_, err := Create(context.Background(), Options{Nodes: []string{"node-a"}, Image: "kindest/node:v0", Kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")})
	environment := (*sim.EnvironmentError)(nil)
	require.ErrorAs(t, err, &environment)
	assert.ErrorContains(t, err, `make the kind cluster "csisim"`)
	all := orders()
	assert.NotEmpty(t, removed(all))
	for _, o := range removed(all) {
		assert.Equal(t, "rm -f -v csisim-worker", o)
	}
	var made []string
	for _, o := range all {
		if strings.HasPrefix(o, "run ") {
			made = append(made, o)
		}
	}
	require.NotEmpty(t, made)
	for _, o := range made {
		assert.Contains(t, o, "kindest/node:v0")
		assert.Contains(t, o, "--label io.x-k8s.kind.cluster=csisim")
	}
}
