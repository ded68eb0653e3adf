package scenario

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePlacesOfADriverProgram(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	for _, c := range []struct{ what, program, want string }{
		{"an absolute path stays", "/opt/driver", "/opt/driver"},
		{"./ is relative to the scenario", "./driver", filepath.Join(dir, "driver")},
		{"../ is relative to the scenario", "../driver", filepath.Join(filepath.Dir(dir), "driver")},
		{"another path is relative to the working directory", "testdata/driver", filepath.Join(here, "testdata/driver")},
		{"a bare name in PATH stays", "sh", "sh"},
		{"a bare name that is only here is the file here", "driver_test.go", filepath.Join(here, "driver_test.go")},
		{"a bare name that is nowhere stays", "no-such-driver", "no-such-driver"},
	} {
		assert.Equal(t, []string{c.want, "--flag"}, located([]string{c.program, "--flag"}, dir), c.what)
	}
}

func TestAProfileDescribesTheStartOfItsDriver(t *testing.T) {
	dir := t.TempDir()
	own := "apiVersion: csisim.dev/v1alpha1\nkind: DriverProfile\ndriver: own.example.com\nbinary: {name: ./ownplugin}\narguments: [--own]\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own.yaml"), []byte(own), 0o600))
	s, err := Parse(filepath.Join(dir, "x.yaml"), []byte(`
apiVersion: csisim.dev/v1alpha1
kind: Scenario
cluster: {nodes: 1}
drivers:
- {profile: hostpath, binary: /opt/hostpath}
- {profile: own.yaml}
- {profile: hostdir, name: renamed.example.com, binary: ./hostdir, noController: true}
`))
	require.NoError(t, err)

	hostpath := s.Drivers[0].options(dir)
	assert.Equal(t, "hostpath.csi.k8s.io", hostpath.Name)
	assert.Equal(t, "/opt/hostpath", hostpath.Program.Command[0])
	assert.True(t, hostpath.Program.Single)
	assert.True(t, *hostpath.CSIDriver.AttachRequired)

	ownDriver := s.Drivers[1].options(dir)
	assert.Equal(t, "own.example.com", ownDriver.Name)
	assert.Equal(t, []string{filepath.Join(dir, "ownplugin"), "--own"}, ownDriver.Program.Command)

	hostdir := s.Drivers[2].options(dir)
	assert.Equal(t, "renamed.example.com", hostdir.Name)
	assert.Equal(t, filepath.Join(dir, "hostdir"), hostdir.Program.Command[0])
	assert.True(t, hostdir.NoController)
}
