package data

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
)

// imaged is a machine with files in place of block devices.
type imaged struct{ *machine.Disk }

func (i imaged) DeviceBytes(path string) (int64, error) {
	info, err := os.Stat(i.Path(path))
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func TestACopyOfADeviceHasMoreThanItsFirstBlocks(t *testing.T) {
	const size = 1 << 20
	for _, c := range []struct {
		name  string
		bytes int // generation of the source that the copy has
		lost  bool
	}{
		{"all of it", size, false},
		{"the first blocks", 2 * BlockBytes, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := machine.NewDisk("node-a", t.TempDir())
			require.NoError(t, err)
			defer d.Close()
			require.NoError(t, d.WriteFile("/source", make([]byte, size), 0o600))
			check, got := New(), []verdict.Verdict(nil)
			check.OnViolation = func(_ Use, v verdict.Verdict) { got = append(got, v) }
			use := Use{Pod: "default/p", Volume: Volume{"d", "v"}, Name: "pv", Node: "node-a", Machine: imaged{d}, Path: "/source", Block: true, Writable: true}
			check.created(use.Volume, true)
			check.mark(use)
			check.Start(use)

			whole, err := d.ReadFile("/source")
			require.NoError(t, err)
			require.NoError(t, d.WriteFile("/copy", append(whole[:c.bytes:c.bytes], make([]byte, size-c.bytes)...), 0o600))
			use.Volume, use.Path = Volume{"d", "copy"}, "/copy"
			check.created(use.Volume, false)
			check.copies[use.Volume] = origin{volume: "d^v", oldest: 1, newest: 1}
			check.Start(use)
			assert.Equal(t, c.lost, len(got) > 0, "%v", got)
		})
	}
}
