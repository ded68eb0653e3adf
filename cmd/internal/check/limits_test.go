package check

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/trace"
)

const device = "/var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/publish/pv/pod"

func published(capability *csi.VolumeCapability, message, injected string) []*trace.Event {
	return []*trace.Event{{
		Site: &trace.Site{Kind: trace.Call, Method: "Node/NodePublishVolume"},
		Exchange: &trace.Exchange{
			Request: &csi.NodePublishVolumeRequest{TargetPath: device, VolumeCapability: capability}, Code: "Internal", Injected: injected,
		},
		Message: message,
	}}
}

var (
	asBlock = &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}}
	asMount = &csi.VolumeCapability{AccessType: &csi.VolumeCapability_Mount{}}
)

// A driver may change its published device node or create files in /dev, which the isolation
// refuses. A read-only volume is the driver's own responsibility.
func TestAChangeInDevIsImpossibleOnTheMachine(t *testing.T) {
	for message, beyondIt := range map[string]bool{
		"chmod " + device + ": read-only file system":                     true,
		"mkdir: cannot create directory '/dev/vg': Read-only file system": true,
		"mkdir /dev/vg: read-only file system":                            true,
		"mkdir /data/x: read-only file system":                            false,
		"mount /dev/loop0 on /mnt: wrong fs type":                         false,
	} {
		assert.Equal(t, beyondIt, beyond(published(asBlock, message, ""), true) == readOnlyDevices, message)
	}
	assert.Empty(t, beyond(published(asMount, "chmod "+device+": read-only file system", ""), true), "a file system")
	assert.Empty(t, beyond(published(asBlock, "mkdir /dev/vg: read-only file system", "mounts fail with EROFS"), true), "a fault")
}

func TestWithoutTheCapabilityAFileSystemThatCannotGrowIsNotTheDriversFault(t *testing.T) {
	for _, message := range []string{
		"resize2fs: Permission denied to resize filesystem",
		"lvextend: Permission denied to resize filesystem",
		"Command 'resize2fs /dev/loop0' returned non-zero exit status 1.",
	} {
		assert.Contains(t, beyond(published(asMount, message, ""), false), "CAP_SYS_RESOURCE is missing", message)
		assert.Empty(t, beyond(published(asMount, message, ""), true), message)
	}
}
