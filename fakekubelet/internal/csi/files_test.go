package csi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// onNode runs a process with a plugin on a node with these directories and files.
func onNode(t *testing.T, dirs, files []string, do func(*Plugin, *kernel.Process)) *machine.Memory {
	k := kernel.New(kernel.Options{})
	t.Cleanup(k.Close)
	world := component.NewWorld(k, kind.NewStore(store.Options{}), trace.NewRecorder(k))
	m := machine.NewMemory("node-a")
	for _, dir := range dirs {
		require.NoError(t, m.MkdirAll(dir, 0o750))
	}
	for _, file := range files {
		require.NoError(t, m.WriteFile(file, nil, 0o644))
	}
	pl := New(world.Start("kubelet", "node-a"), Options{Machine: m})
	k.Spawn(nil, "test", func(p *kernel.Process) { do(pl, p) })
	k.Run(kernel.Until{})
	require.NoError(t, k.Err())
	return m
}

func TestTidyingUpAfterAnUnmount(t *testing.T) { // K-STAGE-8
	const parent = "/var/lib/kubelet/v"
	const mount, data = parent + "/mount", parent + "/vol_data.json"
	for _, c := range []struct {
		name        string
		dirs, files []string
		mounted     bool
		fails       bool
		left        []string
	}{
		{"all goes", []string{mount}, []string{data}, false, false, nil},
		{"a missing file is fine", []string{parent}, nil, false, false, nil},
		{"all is missing", nil, nil, false, false, nil},
		{"a mount stays, and that is success", []string{mount}, []string{data}, true, false, []string{parent, mount, data}},
		{"a directory that is not empty stays, and so does the data", []string{mount}, []string{data, mount + "/f"}, false, true, []string{parent, mount, data}},
		{"a neighbour keeps the parent", []string{mount}, []string{data, parent + "/f"}, false, true, []string{parent}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			m := onNode(t, c.dirs, c.files, func(pl *Plugin, p *kernel.Process) {
				if c.mounted {
					require.NoError(t, pl.machine.MkdirAll("/content", 0o755))
					require.NoError(t, pl.machine.BindMount("/content", mount, false))
				}
				err = pl.files(p).removeMountDir(mount)
			})
			assert.Equal(t, c.fails, err != nil, "%v", err)
			var left []string
			for _, name := range []string{parent, mount, data} {
				if _, err := m.Lstat(name); err == nil {
					left = append(left, name)
				}
			}
			assert.Equal(t, c.left, left)
		})
	}
}

// conformance: unit-metadata-file-roundtrip
func TestVolumeData(t *testing.T) { // K-PATH-10
	const dir = "/var/lib/kubelet/v"
	spec := persistentSpec("h1")
	m := onNode(t, []string{dir}, nil, func(pl *Plugin, p *kernel.Process) {
		require.NoError(t, pl.files(p).writeData(dir, pl.podData(spec, "h1")))
		read, err := pl.ReadData(dir)
		require.NoError(t, err)
		assert.Equal(t, pl.podData(spec, "h1"), read)
	})
	text, err := m.ReadFile(dir + "/vol_data.json")
	require.NoError(t, err)
	assert.Equal(t, `{"attachmentID":"`+ // sha256 of h1d.example.comnode-a
		`csi-56e96c2339834ad8f38ffcbd6ff5f142830c24d75cd610d967becb01de5d8fb1`+
		`","driverName":"d.example.com","nodeName":"node-a","specVolID":"pv-h1","volumeHandle":"h1"}`+"\n", string(text))
	assert.Equal(t, Data{"driverName": "d.example.com", "volumeHandle": "h1"}, stagingData("d.example.com", "h1"))
}

func TestUnreadableData(t *testing.T) { // K-RACE-29
	const dir = "/var/lib/kubelet/v"
	onNode(t, []string{dir}, []string{dir + "/vol_data.json"}, func(pl *Plugin, _ *kernel.Process) {
		_, err := pl.ReadData(dir)
		assert.ErrorContains(t, err, "failed to parse volume data file [/var/lib/kubelet/v/vol_data.json]")
		_, err = pl.ReadData("/nowhere")
		assert.ErrorContains(t, err, "failed to open volume data file [/nowhere/vol_data.json]")
	})
}
