package machine_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// A power-off keeps the content that a node's programs have synced. A renamed but unsynced file
// keeps its name, but not its content.
func TestAPowerOffLosesUnsyncedWrites(t *testing.T) {
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
		"appended to":                  {`echo a >x; sync x; echo b >>x`, "x=a", 1},
		"appended to and synced":       {`echo a >x; sync x; echo b >>x; sync x`, "x=a\nb", 0},
		"appended to, renamed":         {`echo a >x; sync x; echo b >>x; mv -T x y`, "y=a", 1},
		"appended to when it was open": {`exec 3>x; echo a >&3; sync x; echo b >&3`, "x=a", 1},
		"opened to append nothing":     {`echo a >x; sync x; : >>x`, "x=a", 0},
		"overwritten, which is unseen": {`echo a >x; sync x; echo b 1<>x`, "x=b", 0},
		"cut and written again":        {`echo a >x; sync x; truncate -s 0 x; echo b >>x`, "x=", 1},
		"grown":                        {`echo a >x; sync x; truncate -s 9 x`, "x=a", 1},
		"on a mount that goes":         {`mkdir m y; mount --bind y m; echo a >m/x; umount m && rmdir m && mv y/x x && rmdir y`, "x=a", 0},
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

// The kernel writes unsynced content to the disk when it is half a minute old
// (vm.dirty_expire_centisecs), and finds it within five seconds (vm.dirty_writeback_centisecs).
func TestTheKernelWritesFilesToTheDiskAfterAWhile(t *testing.T) {
	const early, late = 34 * time.Second, 35 * time.Second
	for name, c := range map[string]struct {
		scripts []string
		between []time.Duration // after each of them
		want    string
		lost    int
	}{
		"soon":                              {[]string{`echo a >x`}, []time.Duration{early}, "x=", 1},
		"long ago":                          {[]string{`echo a >x`}, []time.Duration{late}, "x=a", 0},
		"long ago, emptied soon":            {[]string{`echo a >x`, `echo b >x`}, []time.Duration{late, early}, "x=", 1},
		"long ago, appended to soon":        {[]string{`echo a >x`, `echo b >>x`}, []time.Duration{late, early}, "x=a", 1},
		"appended to long ago":              {[]string{`echo a >x; sync x`, `echo b >>x`}, []time.Duration{late, late}, "x=a\nb", 0},
		"appended to before, with the rest": {[]string{`echo a >x`, `echo b >>x`}, []time.Duration{early, time.Second}, "x=a\nb", 0},
		"another one since":                 {[]string{`echo a >x`, `echo b >y`}, []time.Duration{late, early}, "x=a y=", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newNamespace(t)
			defer m.Close()
			now := time.Duration(0)
			for i, script := range c.scripts {
				p, begin := followed(t, m, script)
				begin()
				<-p.Done()
				now += c.between[i]
				m.ClockMoved(now)
			}
			require.NoError(t, m.PowerOff())
			assert.Equal(t, c.want, files(t, m))
			assert.Equal(t, c.lost, m.Lost())
		})
	}
}

// Unsynced content belongs to the file, not to the program: a restarted program may sync an earlier
// one's writes.
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

// A host directory is on a node's disk if the command says so. All other directories belong to
// another computer.
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

// An orderly shutdown syncs the files on a disk that is kept.
func TestAKeptDiskHasAllWritesAfterItsEnd(t *testing.T) {
	needRoot(t)
	dir, own := filepath.Join(shortDir(t), "n"), t.TempDir()
	m, err := machine.NewNamespace("node-a", dir, true, own)
	require.NoError(t, err)
	m.Keep()
	require.NoError(t, m.WriteFile(machine.KubeletDir+"/y", []byte("b\n"), 0o600))
	c := shell(`echo a >` + own + `/x`)
	c.Followed, c.OwnDirs = true, []string{own}
	p, err := m.Start(c)
	require.NoError(t, err)
	<-p.Done()
	require.NoError(t, m.Close())
	for file, want := range map[string]string{own + "/x": "a\n", dir + "/kubelet/y": "b\n"} {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, want, string(data))
	}
}
