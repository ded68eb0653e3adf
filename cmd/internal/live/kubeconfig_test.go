package live

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// others is a kubeconfig with comments, blank lines and an order that csisim must keep.
const others = `# of the platform team
apiVersion: v1
kind: Config

current-context: work # production!
contexts:
- name: work
  context: {cluster: work, user: me}
clusters:
# the big one
- name: work
  cluster: {server: 'https://work.example.com'}

users:
- name: me
  user: {token: s3cret}
`

// startWith starts a cluster with an existing kubeconfig.
func startWith(t *testing.T, args ...string) *liveCluster {
	t.Helper()
	l := &liveCluster{t: t, home: t.TempDir()}
	require.NoError(t, os.WriteFile(l.kubeconfig(), []byte(others), 0o644))
	l.command = clitest.Command(t.Context(), l.environment(), append([]string{"up"}, args...)...)
	l.command.Stdout, l.command.Stderr = &l.output, &l.output
	require.NoError(t, l.command.Start())
	t.Cleanup(func() { _ = l.command.Process.Kill() })
	require.Eventually(t, func() bool { _, err := os.Stat(l.state()); return err == nil }, time.Minute, 5*time.Millisecond)
	return l
}

func modeOf(t *testing.T, file string) fs.FileMode {
	t.Helper()
	info, err := os.Stat(file)
	require.NoError(t, err)
	return info.Mode().Perm()
}

func textOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// A kubeconfig contains a cluster while it is up, and is restored afterwards, however the cluster
// ends.
func TestAKubeconfigIsRestored(t *testing.T) {
	for _, test := range []struct {
		name  string
		named bool
		end   func(l *liveCluster) string
	}{
		{"kubectl's own, Ctrl-C", false, interruptUp},
		{"one that is named, Ctrl-C", true, interruptUp},
		{"SIGKILL and down", true, func(l *liveCluster) string { return killUp(l, "down") }},
		{"SIGKILL and clean", false, func(l *liveCluster) string { return killUp(l, "clean", "--work-dir", l.home) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			var args []string
			l := &liveCluster{}
			if test.named {
				dir := t.TempDir()
				require.NoError(t, os.WriteFile(filepath.Join(dir, "named"), []byte(others), 0o644))
				args = []string{"--kubeconfig", filepath.Join(dir, "named")}
			}
			l = startWith(t, args...)
			file := l.kubeconfig()
			if test.named {
				file = args[1]
			}
			config, err := clientcmd.LoadFromFile(file)
			require.NoError(t, err)
			assert.Equal(t, "csisim", config.CurrentContext)
			assert.Contains(t, config.Clusters, "csisim")
			assert.Equal(t, "s3cret", config.AuthInfos["me"].Token)
			assert.Contains(t, textOf(t, file), "# the big one")
			assert.Equal(t, fs.FileMode(0o600), modeOf(t, file))

			out := test.end(l)
			assert.Equal(t, others, textOf(t, file), out)
			assert.Equal(t, fs.FileMode(0o644), modeOf(t, file))
			assert.NoFileExists(t, file+".lock")
			left, err := os.ReadDir(filepath.Dir(l.state()))
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

func interruptUp(l *liveCluster) string {
	require.NoError(l.t, l.command.Process.Signal(syscall.SIGINT))
	l.awaitEnd()
	return l.output.String()
}

func killUp(l *liveCluster, args ...string) string {
	require.NoError(l.t, l.command.Process.Kill())
	l.awaitEnd()
	got := clitest.RunIn(l.t, l.environment(), args...)
	assert.Zero(l.t, got.Code, got.Stderr)
	assert.Contains(l.t, got.Stdout, `luster "csisim"`)
	assert.Contains(l.t, got.Stdout, "out of the kubeconfig")
	return got.Stdout + got.Stderr
}

// Changes that other programs make meanwhile are kept, including comments.
func TestChangesOfOthersToAKubeconfigStay(t *testing.T) {
	l := startWith(t)
	text := strings.Replace(textOf(t, l.kubeconfig()), "https://work.example.com", "https://new.example.com", 1)
	require.NoError(t, os.WriteFile(l.kubeconfig(), []byte(text), 0o600))
	interruptUp(l)
	config, err := clientcmd.LoadFromFile(l.kubeconfig())
	require.NoError(t, err)
	assert.Equal(t, "work", config.CurrentContext)
	assert.NotContains(t, config.Clusters, "csisim")
	assert.NotContains(t, config.AuthInfos, "csisim")
	assert.Equal(t, "https://new.example.com", config.Clusters["work"].Server)
	assert.Contains(t, textOf(t, l.kubeconfig()), "# the big one")
	assert.Contains(t, textOf(t, l.kubeconfig()), "# of the platform team")
}

// kubectl and client-go lock a kubeconfig by creating a file beside it.
func TestALockedKubeconfigIsAwaited(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	l := &liveCluster{t: t, home: home}
	require.NoError(t, os.WriteFile(l.kubeconfig()+".lock", nil, 0o600))
	got := clitest.RunIn(t, l.environment(), "up")
	assert.Equal(t, clitest.ExitEnvironment, got.Code)
	assert.Contains(t, got.Stderr, l.kubeconfig()+".lock is there: another program changes the kubeconfig; remove it if none does")
	assert.NoFileExists(t, l.kubeconfig())
	assert.FileExists(t, l.kubeconfig()+".lock")
}

func TestNamesOfClustersAreChecked(t *testing.T) {
	home := t.TempDir()
	victim := filepath.Join(home, "victim.json")
	require.NoError(t, os.WriteFile(victim, []byte("{}"), 0o600))
	for _, args := range []string{"up", "down", "get kubeconfig"} {
		for _, name := range []string{"../../victim", "", "Web_1", "a/b", strings.Repeat("x", 64)} {
			got := clitest.RunIn(t, []string{"HOME=" + home, "XDG_CACHE_HOME=" + home}, append(strings.Fields(args), "--name", name)...)
			assert.Equal(t, clitest.ExitInput, got.Code, args)
			assert.Contains(t, got.Stderr, "csisim: --name ", args)
			assert.Equal(t, 2, strings.Count(got.Stderr, "\n"), got.Stderr)
		}
	}
	assert.FileExists(t, victim)
}

// If several processes claim one name at the same time, only one gets it.
func TestOneClusterHasAName(t *testing.T) {
	l := &liveCluster{t: t, home: t.TempDir()}
	const many = 6
	var all [many]*liveCluster
	for i := range all {
		all[i] = &liveCluster{t: t, home: l.home}
		all[i].command = clitest.Command(t.Context(), l.environment(), "up")
		all[i].command.Stdout, all[i].command.Stderr = &all[i].output, &all[i].output
		require.NoError(t, all[i].command.Start())
	}
	var ended sync.WaitGroup
	codes := make([]int, many)
	up := make(chan int, many)
	for i, one := range all {
		ended.Go(func() { codes[i] = one.awaitEnd(); up <- i })
	}
	for range many - 1 { // losers
		i := <-up
		assert.Equal(t, clitest.ExitInput, codes[i], all[i].output.String())
		assert.Regexp(t, `^csisim: cluster "csisim" is up already(, as process \d+)?; give this one another --name\n`, all[i].output.String())
	}
	require.Eventually(t, func() bool { _, err := os.Stat(l.state()); return err == nil }, time.Minute, 5*time.Millisecond)
	got := clitest.RunIn(t, l.environment(), "down")
	assert.Zero(t, got.Code, got.Stderr)
	ended.Wait()
	assert.Zero(t, codes[<-up])
	assert.NoFileExists(t, l.kubeconfig())
}
