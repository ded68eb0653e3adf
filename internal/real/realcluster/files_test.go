package realcluster

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A listing of a real node has the form of a listing of a simulated node. It names the source of a
// mount by the path on the node. It contains nothing below a mount, and no files that the cluster
// itself adds to each pod.
func TestAListingOfARealNode(t *testing.T) {
	const volume = "plugins/kubernetes.io/csi/disk.example.com/8a1f/globalmount"
	printed := strings.Join([]string{
		"60 50 254:0 /docker/volumes/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b/_data /var rw - ext4 /dev/vda rw\n" +
			"61 60 254:0 /docker/volumes/6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b/_data/lib/csisim/volumes/v1 /var/lib/kubelet/" + volume + " rw,relatime - ext4 /dev/vda rw\n",
		"d\t755\tplugins\t",
		"d\t755\t" + volume + "\t",
		"f\t644\t" + volume + "/report\t",
		"f\t640\tplugins/kubernetes.io/csi/disk.example.com/8a1f/vol_data.json\t",
		"s\t755\tplugins/disk.example.com/csi.sock\t",
		"d\t750\tpods/uid\t",
		"f\t644\tpods/uid/etc-hosts\t",
		"d\t755\tpods/uid/volumes/kubernetes.io~projected\t",
		"d\t777\tpods/uid/volumes/kubernetes.io~projected/kube-api-access-x\t",
		"d\t2775\tpods/uid/volumes/kubernetes.io~csi/pv/mount\t",
		"l\t777\tpods/uid/current\tdata",
		"",
		"plugins/kubernetes.io/csi/disk.example.com/8a1f/vol_data.json\t{\"specVolID\":\"pv\"}\n",
		"",
	}, "\x00")
	entries, err := readListing(printed)
	require.NoError(t, err)
	var lines []string
	for _, e := range entries {
		lines = append(lines, e.String())
	}
	assert.Equal(t, []string{
		"plugins/ 755",
		"plugins/disk.example.com/csi.sock (socket)",
		volume + "/ [mount ext4 rw,relatime src=/var/lib/csisim/volumes/v1] 755",
		`plugins/kubernetes.io/csi/disk.example.com/8a1f/vol_data.json = {"specVolID":"pv"}`,
		"pods/uid/ 750",
		"pods/uid/current -> data",
		"pods/uid/volumes/kubernetes.io~csi/pv/mount/ 775 setgid",
	}, lines)
}
