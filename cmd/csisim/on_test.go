package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

const lifecycle = "../../scenarios/rwo-filesystem.yaml"

// A scenario runs on a cluster given by its kubeconfig.
func TestAScenarioOnAClusterByItsKubeconfig(t *testing.T) {
	b := newBed(t)
	t.Run("a cluster that csisim did not make has to be allowed", func(t *testing.T) {
		for _, args := range [][]string{{"run", lifecycle}, {"compare", lifecycle}, {"clean"}} {
			got := clitest.Run(t, append(args, "--on", b.kubeconfig)...)
			assert.Equal(t, exitInput, got.Code, got.Stdout)
			assert.Contains(t, got.Stderr, `context "bed": csisim did not make this cluster`)
			assert.Contains(t, got.Stderr, "allow it with --allow-context bed")
		}
		assert.Empty(t, b.managed())
	})
	t.Run("it passes there, and the simulation is equal to it", b.compares)
	t.Run("a driver is deployed by its own manifests, with proxies in its pods", b.deploysOwn)
	t.Run("a driver comes later, and its storage system is reached behind Kubernetes' back", b.installsLater)
	t.Run("only the leftovers of a killed run are removed", b.isCleaned)
}

func (b *bed) compares(t *testing.T) {
	report := filepath.Join(t.TempDir(), "report.md")
	got := clitest.Run(t, b.args("compare", lifecycle, "--times", "1", "--report", report)...)
	assert.LessOrEqual(t, got.Code, exitFailed, got.Stderr)
	assert.Contains(t, got.Stdout, "Real run 1 of 1:\nPASS rwo-filesystem")
	// Times and races depend on the machine's load.
	for _, level := range []string{"calls", "requests"} {
		assert.Regexp(t, `(?m)^✓ `+level+` +equal +[1-9]`, got.Stdout)
	}
	lines := strings.Split(strings.TrimSpace(got.Stdout), "\n")
	verdict := lines[len(lines)-1]
	assert.Equal(t, got.Code == exitPassed, strings.HasPrefix(verdict, "equal"), verdict)
	text, err := os.ReadFile(report)
	require.NoError(t, err)
	assert.Contains(t, string(text), "**"+verdict+"**")
	assert.Empty(t, b.managed())
}

func (b *bed) deploysOwn(t *testing.T) {
	const own = "testdata/own/scenario.yaml"
	got := clitest.Run(t, b.args("compare", own, "--times", "1")...)
	assert.LessOrEqual(t, got.Code, exitFailed, got.Stderr)
	assert.Contains(t, got.Stdout, "Real run 1 of 1:\nPASS own-manifests", got.Stderr)
	for _, level := range []string{"calls", "requests"} {
		assert.Regexp(t, `(?m)^✓ `+level+` +equal +[1-9]`, got.Stdout)
	}
	assert.Empty(t, b.managed())

	require.Eventually(t, func() bool {
		_, err := b.Client().CoreV1().Namespaces().Get(t.Context(), "disk-system", metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	}, 2*time.Minute, 100*time.Millisecond)
	_, err := b.Client().CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "disk-system"}}, metav1.CreateOptions{})
	require.NoError(t, err)
	got = clitest.Run(t, b.args("run", own)...)
	assert.Equal(t, exitInput, got.Code, got.Stdout)
	assert.Contains(t, got.Stdout+got.Stderr, "the cluster has namespaces/disk-system already, which csisim did not make: delete that deployment of the driver first")
	assert.Empty(t, b.managed())
	_, err = b.Client().CoreV1().ServiceAccounts("disk-system").Get(t.Context(), "disk", metav1.GetOptions{})
	assert.True(t, apierrors.IsNotFound(err), "nothing was applied: %v", err)
}

func (b *bed) installsLater(t *testing.T) {
	got := clitest.Run(t, b.args("run", "testdata/later/scenario.yaml")...)
	assert.Zero(t, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "PASS scenario")
	assert.Empty(t, b.managed())
}

func (b *bed) isCleaned(t *testing.T) {
	own := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "somebody-elses", Namespace: "default"}}
	_, err := b.Client().CoreV1().ConfigMaps("default").Create(t.Context(), own, metav1.CreateOptions{})
	require.NoError(t, err)
	run := clitest.StartCommand(t, nil, clitest.Command(t.Context(), nil, b.args("run", "testdata/stays/scenario.yaml")...), func() bool {
		pod, err := b.Client().CoreV1().Pods("default").Get(t.Context(), "web", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning
	})
	run.Signal(t, syscall.SIGKILL)
	<-run.Ended
	require.NotEmpty(t, b.managed())

	got := clitest.Run(t, b.args("clean")...)
	require.Zero(t, got.Code, got.Stderr)
	for _, what := range []string{"pods/web in default", "persistentvolumeclaims/data in default", "storageclasses/standard", "the records of calls on nodes/node-a", "the records of calls on nodes/node-b", "daemonsets/mock-csi-csisim-dev-node in csisim-system", "namespaces/csisim-system"} {
		assert.Contains(t, got.Stdout, "deleted "+what+"\n")
	}
	assert.Empty(t, b.managed())
	volumes, err := b.Client().CoreV1().PersistentVolumes().List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	assert.Empty(t, volumes.Items, "a volume goes while its driver is there")
	_, err = b.Client().CoreV1().ConfigMaps("default").Get(t.Context(), own.Name, metav1.GetOptions{})
	assert.NoError(t, err)
	assert.Equal(t, "nothing of csisim is there", strings.TrimSpace(clitest.Run(t, b.args("clean")...).Stdout))
}
