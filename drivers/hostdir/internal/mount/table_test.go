//go:build linux

package mount

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const mountinfo = `22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:30 / /srv rw - tmpfs tmpfs rw
40 22 0:30 /backend/vol /pods/a ro,relatime - tmpfs tmpfs rw
41 22 8:1 /data /pods/b rw - ext4 /dev/vda rw
42 41 0:30 /backend/vol /pods/b rw - tmpfs tmpfs rw
43 22 0:30 /backend/vol//deleted /pods/gone rw - tmpfs tmpfs rw
44 22 8:1 /data/with\040blank /pods/c\040d rw - ext4 /dev/vda rw
`

func TestShowsComparesTheTopmostMountWithTheSource(t *testing.T) {
	table, err := parse(mountinfo)
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		source, path string
		want         bool
	}{
		"bind mount of the source":             {"/srv/backend/vol", "/pods/a", true},
		"another source":                       {"/srv/backend/other", "/pods/a", false},
		"the topmost counts":                   {"/srv/backend/vol", "/pods/b", true},
		"a mount below does not count":         {"/data", "/pods/b", false},
		"a mount is a source too":              {"/pods/a", "/pods/b", true},
		"a deleted source is not shown":        {"/srv/backend/vol", "/pods/gone", false},
		"blanks are escaped":                   {"/data/with blank", "/pods/c d", true},
		"below a mount is not mounted":         {"/srv/backend/vol", "/pods/a/x", false},
		"same path in another file system":     {"/backend/vol", "/pods/a", false},
		"a path that only starts the same way": {"/srv/backend/vo", "/pods/a", false},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tt.want, table.Shows(tt.source, tt.path))
		})
	}
	top, mounted := table.At("/pods/a")
	assert.True(t, mounted)
	assert.True(t, top.ReadOnly)
}

func TestMountOptions(t *testing.T) {
	flags, err := ParseFlags([]string{"ro", "noexec"})
	require.NoError(t, err)
	assert.Equal(t, ReadOnly|Flags(unix.MS_NOEXEC), flags)

	_, err = ParseFlags([]string{"discard"})
	assert.ErrorContains(t, err, "discard")
}
