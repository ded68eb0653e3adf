package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// A driver's writes outside its own directories are discarded with the run and named in the report.
// Writes to directories given by --host-path stay.
func TestDriversDoNotWriteTheHost(t *testing.T) {
	clitest.NeedsNamespaces(t)
	bin := clitest.Build(t)
	for _, test := range []struct {
		name        string
		nobody, let bool
	}{
		{"root", false, false}, {"an ordinary user", true, false},
		{"root, let through", false, true}, {"an ordinary user, let through", true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPlace(t, bin)
			p.Write("s.yaml", clitest.Header+clitest.BadDriver("writes elsewhere", long))
			dir := filepath.Join(p.Dir, "elsewhere")
			require.NoError(t, os.Mkdir(dir, 0o777))
			if test.nobody && clitest.IsRoot() {
				require.NoError(t, os.Chown(dir, 65534, 65534))
			}
			for _, name := range []string{"changed", "removed"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("of the host"), 0o600))
				if test.nobody && clitest.IsRoot() {
					require.NoError(t, os.Chown(filepath.Join(dir, name), 65534, 65534))
				}
			}
			args := []string{"run", "s.yaml"}
			if test.let {
				args = append(args, "--host-path", dir)
			}
			c := p.Command(args...)
			c.Env = append(c.Env, "ELSEWHERE="+dir)
			if test.nobody {
				p.AsUnprivileged(c)
			}
			out, _ := c.CombinedOutput() // the driver leaves its volume behind
			var names []string
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			for _, e := range entries {
				names = append(names, e.Name())
			}
			if test.let {
				assert.Equal(t, []string{"changed", "made"}, names, string(out))
				assert.NotContains(t, string(out), "written outside the run")
				return
			}
			assert.Equal(t, []string{"changed", "removed"}, names, string(out))
			text, err := os.ReadFile(filepath.Join(dir, "changed"))
			require.NoError(t, err)
			assert.Equal(t, "of the host", string(text))
			assert.Contains(t, string(out), "written outside the run and thrown away (--host-path lets directories through): "+
				"control-plane: changed "+dir+"/changed, control-plane: made "+dir+"/made, control-plane: removed "+dir+"/removed, node-")
		})
	}
}

// The report card names these writes, too.
func TestTheCardNamesTheFilesThatADriverWrites(t *testing.T) {
	clitest.NeedsNamespaces(t)
	p := newPlace(t, clitest.Build(t))
	c := p.Command("check", "--only", "life/*", "--", "sh", "-c", "echo x >"+p.Dir+"/made; exec hostdir --endpoint={{.Endpoint}} --node-id={{.NodeID}} --state-dir={{.StateDir}}")
	out, _ := c.CombinedOutput()
	assert.Contains(t, string(out), "Written outside the run and thrown away; --host-path lets directories through:\n  made "+p.Dir+"/made\n")
	assert.NoFileExists(t, p.Dir+"/made")
}

func TestHostPathsAreChecked(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for path, says := range map[string]string{
		"/no/such/directory": "host path /no/such/directory: no such file or directory",
		file:                 "host path " + file + " is not a directory",
		"/":                  "host path / is all there is: name the directories that the programs write in",
		"/var/lib":           "host path /var/lib: each node has a directory of its own in it, /var/lib/kubelet: name the directories that the programs write in",
	} {
		for _, command := range []string{"run x.yaml", "check --profile hostdir", "up"} {
			got := clitest.Run(t, append(strings.Fields(command), "--host-path", path)...)
			assert.Equal(t, 2, got.Code, command)
			assert.Contains(t, got.Stderr, "csisim: --host-path: "+says+"\n", command)
		}
	}
}
