package profile_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/sim"
)

func TestEveryBuiltInProfileCanBeInstalled(t *testing.T) {
	names := profile.Names()
	require.Equal(t, []string{"cinder", "digitalocean", "hcloud", "hostdir", "hostpath", "httpdir", "nfs"}, names)
	for _, name := range names {
		p, err := profile.Load(name, "")
		require.NoError(t, err, name)
		assert.Equal(t, name, p.Name)
		assert.NotEmpty(t, p.Description, name)
		assert.NotEmpty(t, p.Binary.Build, name)
		assert.Equal(t, p.Binary.Name, p.Install("", "").Program.Command[0])
	}
}

func TestAProfileDescribesTheStartOfADriver(t *testing.T) {
	p, err := profile.Parse("my/tiny.yaml", []byte(`
apiVersion: csisim.dev/v1alpha1
kind: DriverProfile
driver: tiny.example.com
binary: {name: tinyplugin}
arguments: ['--endpoint={{.Endpoint}}', --node]
controllerArguments: ['--endpoint={{.Endpoint}}']
env: {NODE: '{{.NodeID}}'}
startTimeout: 3s
memory: 4Gi
csiDriver: {attachRequired: false}
`))
	require.NoError(t, err)
	assert.Equal(t, "tiny", p.Name)
	assert.Equal(t, []string{"Filesystem"}, p.VolumeModes)
	assert.Equal(t, []string{"ReadWriteOnce"}, p.AccessModes)
	assert.Equal(t, "16Mi", p.VolumeSize.String())

	d := p.Install("other.example.com", "/opt/tiny")
	assert.Equal(t, "other.example.com", d.Name)
	assert.Equal(t, &sim.Program{
		Command:           []string{"/opt/tiny", "--endpoint={{.Endpoint}}", "--node"},
		ControllerCommand: []string{"/opt/tiny", "--endpoint={{.Endpoint}}"},
		Env:               map[string]string{"NODE": "{{.NodeID}}"},
		StartTimeout:      3 * time.Second,
		Memory:            4 << 30,
	}, d.Program)
	assert.False(t, *d.CSIDriver.AttachRequired)
}

func TestMistakesInAProfileAreReported(t *testing.T) {
	const head = "apiVersion: csisim.dev/v1alpha1\nkind: DriverProfile\ndriver: tiny.example.com\nbinary: {name: tiny}\n"
	for _, c := range []struct{ what, text, want string }{
		{"an unknown field", head + "argument: [a]\n",
			`p.yaml:5:1: argument: found unknown field "argument", want one of the 29 fields of Profile; did you mean "arguments"?`},
		{"an unknown field of the CSIDriver spec", head + "csiDriver: {attach: false}\n",
			`p.yaml:5:13: csiDriver.attach: found unknown field "attach", want one of attachRequired, `},
		{"no driver", "apiVersion: csisim.dev/v1alpha1\nkind: DriverProfile\nbinary: {name: tiny}\n",
			`p.yaml:1:1: driver: found no field "driver", want a string such as "nfs.csi.k8s.io"`},
		{"another kind", "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\ndriver: a.b\nbinary: {name: tiny}\n",
			`p.yaml:2:7: kind: found "Scenario"`},
		{"a bad driver name", "apiVersion: csisim.dev/v1alpha1\nkind: DriverProfile\ndriver: a b\nbinary: {name: tiny}\n",
			`p.yaml:3:9: driver: found name "a b", want a CSI driver's name`},
		{"a template field that there is not", head + "arguments: ['{{.Node}}']\n",
			`p.yaml:5:13: arguments[0]: found template "{{.Node}}", want a template with .Endpoint`},
		{"a volume mode that there is not", head + "volumeModes: [Tape]\n",
			`p.yaml:5:15: volumeModes[0]: found "Tape"`},
		{"a size that is none", head + "volumeSize: large\n",
			`p.yaml:5:13: volumeSize: found string "large", want a Quantity such as 1Gi`},
		{"an unknown stand-in", head + "standIns: {smb: {}}\n",
			`p.yaml:5:12: standIns.smb: found unknown field "smb"`},
		{"an export that is no path", head + "standIns: {nfs: {server: a, exports: [b]}}\n",
			`p.yaml:5:17: standIns.nfs: found export "b" is not a clean absolute path, want a server's name and`},
		{"a multiattach type that is no type", head + "standIns: {openstack: {multiattach: [shared]}}\n",
			`p.yaml:5:23: standIns.openstack: found multiattach type "shared" is none of types, want `},
		{"a collection that is no path", head + "standIns: {http: {collections: [{path: volumes}]}}\n",
			`p.yaml:5:18: standIns.http: found path "volumes" is not a clean absolute path, want collections or routes`},
	} {
		_, err := profile.Parse("p.yaml", []byte(c.text))
		assert.ErrorContains(t, err, c.want, c.what)
	}
}

func TestTheLoadedProfile(t *testing.T) {
	dir := t.TempDir()
	text := "apiVersion: csisim.dev/v1alpha1\nkind: DriverProfile\ndriver: own.example.com\nbinary: {name: own}\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "own.yaml"), []byte(text), 0o600))

	p, err := profile.Load("./own.yaml", dir)
	require.NoError(t, err)
	assert.Equal(t, "own.example.com", p.Driver)
	assert.Equal(t, filepath.Join(dir, "own.yaml"), p.File)

	_, err = profile.Load("missing.yaml", dir)
	assert.ErrorIs(t, err, os.ErrNotExist)

	var unknown *profile.UnknownError
	_, err = profile.Load("hostpth", dir)
	require.ErrorAs(t, err, &unknown)
	assert.ErrorContains(t, err, `unknown driver profile "hostpth"; did you mean "hostpath"? `)
}
