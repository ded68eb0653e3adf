package promotion

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/csisim/csisim/internal/image"
	"github.com/csisim/csisim/internal/real/kindcluster"
	"github.com/csisim/csisim/internal/real/kindcluster/enginetest"
	"github.com/csisim/csisim/sim"
)

// An unusable cluster of a kubeconfig is one error with the cause. The exit code is 2 for a mistake
// of the user, and 3 for one of the cluster.
func TestAnUnusableClusterIsOneErrorWithItsCause(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"configmaps is forbidden: User \"jane\" cannot get"}`))
	}))
	t.Cleanup(refusing.Close)
	gone := httptest.NewServer(nil)
	gone.Close()
	dir := t.TempDir()
	write := func(name, server string) string {
		c := clientcmdapi.NewConfig()
		c.Clusters["it"] = &clientcmdapi.Cluster{Server: server}
		c.Contexts["mine"] = &clientcmdapi.Context{Cluster: "it"}
		c.CurrentContext = "mine"
		file := filepath.Join(dir, name)
		require.NoError(t, clientcmd.WriteToFile(*c, file))
		return file
	}
	broken := filepath.Join(dir, "broken")
	require.NoError(t, os.WriteFile(broken, []byte("clusters: [\n"), 0o600))

	config, environment := new(*sim.ConfigError), new(*sim.EnvironmentError)
	for name, c := range map[string]struct {
		on   string
		kind any
		says []string
	}{
		"a broken kubeconfig":            {broken, config, []string{"--on " + broken + ": neither kind, nor kind:NAME, nor a kubeconfig: yaml: line 1"}},
		"no kubeconfig":                  {filepath.Join(dir, "none"), config, []string{"neither kind, nor kind:NAME, nor a kubeconfig: open ", "no such file or directory"}},
		"a context that it has not":      {write("a", gone.URL) + "@other", config, []string{`the kubeconfig has no context "other"; it has mine`}},
		"a kubeconfig of a wrong server": {write("b", "::"), environment, []string{`reach the cluster of context "mine": parse "http://::": invalid port`}},
		"a cluster that does not answer": {write("c", gone.URL), environment, []string{`reach the cluster of context "mine": `, "connection refused"}},
		"a user without the permission":  {write("d", refusing.URL), environment, []string{`reach the cluster of context "mine": `, `User "jane" cannot get`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Open(t.Context(), nil, TargetOptions{On: c.on})
			require.ErrorAs(t, err, c.kind)
			for _, text := range c.says {
				assert.ErrorContains(t, err, text)
			}
		})
	}
}

// A full disk ends the run with an error about the machine, whether this machine or a node is full.
func TestAFullDiskIsAnEnvironmentError(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("it takes a device that is always full: ", err)
	}
	environment := (*sim.EnvironmentError)(nil)
	err := (&Target{}).write("/dev/full", []image.Image{{Names: []string{"example.com/disk:1"}, Files: map[string]string{"/disk": os.Args[0]}}})
	require.ErrorAs(t, err, &environment)
	assert.EqualError(t, err, "make images: write /dev/full: no space left on device")

	enginetest.Docker(t, "save", kindcluster.DefaultName)
	c, err := kindcluster.Find(kindcluster.Options{})
	require.NoError(t, err)
	_, err = c.Save([]string{"example.com/disk:1"}, "images.tar")
	require.ErrorAs(t, err, &environment)
	assert.EqualError(t, err, "save images of the engine: exit status 1: stand-in: save refused")
}
