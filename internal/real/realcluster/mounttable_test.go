package realcluster

import (
	"testing"

	"github.com/moby/sys/mountinfo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAMountTableIsRead(t *testing.T) {
	all, err := mountTable(`36 35 98:0 /mnt1 /var/lib/kubelet/a\040b rw,noatime shared:1 master:2 - ext3 /dev/root rw,errors=continue
37 36 0:29 / /proc rw - proc proc rw
`)
	require.NoError(t, err)
	assert.Equal(t, []*mountinfo.Info{
		{ID: 36, Parent: 35, Major: 98, Root: "/mnt1", Mountpoint: "/var/lib/kubelet/a b", Options: "rw,noatime", FSType: "ext3", Source: "/dev/root"},
		{ID: 37, Parent: 36, Minor: 29, Root: "/", Mountpoint: "/proc", Options: "rw", FSType: "proc", Source: "proc"},
	}, all)
}

func TestALineThatIsNoMountIsAnError(t *testing.T) {
	for _, line := range []string{"36 35 98:0 / /a rw", "36 35 98 / /a rw - ext3 /dev/root rw", "a b 98:0 / /a rw - ext3 x rw"} {
		_, err := mountTable(line)
		assert.ErrorContains(t, err, "read the mount table: ", line)
	}
}
