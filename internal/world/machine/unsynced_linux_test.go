package machine_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// What reaches the disk of a node is what its programs have synced: a file's name, when it was renamed, but not its content.
func TestALossOfPowerEmptiesFilesThatWereNotSynced(t *testing.T) {
	for name, c := range map[string]struct {
		script, want string
		lost         int
	}{
		"not synced":                   {`echo a >x`, "x=", 1},
		"synced":                       {`echo a >x; sync x`, "x=a", 0},
		"synced by its data alone":     {`echo a >x; sync -d x`, "x=a", 0},
		"with all files":               {`echo a >x; sync`, "x=a", 0},
		"with its file system":         {`echo a >x; sync -f x`, "x=a", 0},
		"renamed and not synced":       {`echo a >x; mv -T x y`, "y=", 1},
		"synced and renamed":           {`echo a >x; sync x; mv -T x y`, "y=a", 0},
		"replaced by one not synced":   {`echo a >y; sync y; echo b >x; mv -T x y`, "y=", 1},
		"not synced, replaced":         {`echo a >y; echo b >x; sync x; mv -T x y`, "y=b", 0},
		"emptied and written again":    {`echo a >x; sync x; echo b >x`, "x=", 1},
		"written each time with sync":  {`echo a | dd of=x oflag=dsync 2>/dev/null`, "x=a", 0},
		"made with a name of its own":  {`mv -T $(mktemp -p . ) x; echo a >>x`, "x=", 1},
		"appended to, which is unseen": {`echo a >x; sync x; echo b >>x`, "x=a\nb", 0},
		"removed":                      {`echo a >x; rm x`, "", 0},
		"one of two":                   {`echo a >x; echo b >y; sync y`, "x= y=b", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newNamespace(t)
			defer m.Close()
			p, begin := followed(t, m, c.script)
			begin()
			<-p.Done()
			require.NoError(t, m.PowerOff())
			assert.Equal(t, c.want, files(t, m))
			assert.Equal(t, c.lost, m.Lost())
		})
	}
}

// The file counts as it is now, whoever has begun it: a program that starts again may sync what an earlier one has written.
func TestFilesOfAnEarlierProgramAreLostOrSynced(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	for _, script := range []string{`echo a >x; echo b >y`, `sync y`} {
		p, begin := followed(t, m, script)
		begin()
		<-p.Done()
	}
	require.NoError(t, m.PowerOff())
	assert.Equal(t, "x= y=b", files(t, m))
}

// A directory of the host is on a node's disk if the command says so; what lies elsewhere is another computer's.
func TestDirectoriesOfTheHostMayBeOnANodesDisk(t *testing.T) {
	own, other := t.TempDir(), t.TempDir()
	m, err := machine.NewNamespace("node-a", filepath.Join(shortDir(t), "n"), false, own, other)
	require.NoError(t, err)
	defer m.Close()
	c := shell(`echo a >` + own + `/x; echo b >` + other + `/x`)
	c.Followed, c.OwnDirs = true, []string{own}
	p, err := m.Start(c)
	require.NoError(t, err)
	<-p.Done()
	require.NoError(t, m.PowerOff())
	content := func(dir string) string {
		data, err := m.ReadFile(dir + "/x")
		require.NoError(t, err)
		return string(data)
	}
	assert.Equal(t, "", content(own))
	assert.Equal(t, "b\n", content(other))
}
