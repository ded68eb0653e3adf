package realcluster

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/trace"
)

// kubeletDir is the content of a node: directories, mounts among them, and files.
type kubeletDir struct {
	Machines
	dirs, mounts, files []string
}

func (k *kubeletDir) Run(context.Context, string, ...string) (string, error) {
	table := ""
	for i, name := range k.mounts {
		table += fmt.Sprintf("%d 50 254:0 /v%d /var/lib/kubelet/%s rw - ext4 /dev/vda rw\n", 60+i, i, name)
	}
	printed := []string{table}
	for _, name := range append(k.dirs, k.mounts...) {
		for at := range strings.Count(name, "/") + 1 {
			printed = append(printed, "d\t755\t"+strings.Join(strings.Split(name, "/")[:at+1], "/")+"\t")
		}
	}
	for _, name := range k.files {
		printed = append(printed, "f\t644\t"+name+"\t")
	}
	return strings.Join(append(printed, "", ""), "\x00"), nil
}

// Mounts and directories of a real node are accounted for as on a simulated node, if they belong to
// the run's own pods, volumes and drivers. Others in the cluster, and those from before the first
// step, are not leftovers.
func TestLeftoversOnARealNode(t *testing.T) {
	const (
		staged  = "plugins/kubernetes.io/csi/disk.example.com/8a1f/globalmount"
		target  = "pods/u-1/volumes/kubernetes.io~csi/pv-1/mount"
		running = "pods/u-2/volumes/kubernetes.io~csi/pv-2/mount"
		device  = "plugins/kubernetes.io/csi/volumeDevices/staging/pv-1"
	)
	foreign := []string{
		"pods/of-the-system/volumes/kubernetes.io~projected", "pods/of-the-system/volumes/kubernetes.io~csi/pv-9/mount",
		"plugins/kubernetes.io/csi/other.example.com/77/globalmount", "plugins/kubernetes.io/csi/volumeDevices/staging/pv-9",
	}
	const earlier = "plugins/kubernetes.io/csi/disk.example.com/dead/globalmount"
	const ofKubelet = "pods/u-1/containers/main/f5ef4053"
	node := &kubeletDir{dirs: append(foreign, earlier)}
	c, _ := withPods(t)
	c.options.Nodes, c.options.Machines, c.options.Drivers = []string{"node-a"}, node, []deploy.Driver{{Name: "disk.example.com"}}
	seen(t, c, "pods", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "u-2"}, Spec: corev1.PodSpec{NodeName: "node-a"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}})
	for _, known := range []string{"pod u-1", "pod u-2", "volume pv-1", "volume pv-2"} {
		c.known[known] = true
	}
	require.NoError(t, c.lookAtFirst())
	names := func(entries []ledger.Entry) (all []string) {
		for _, e := range entries {
			all = append(all, fmt.Sprintf("%s %s on %s", e.Kind, strings.TrimPrefix(e.Name, "/var/lib/kubelet/"), e.Node))
		}
		return all
	}
	node.mounts = append(node.mounts, running)
	found := c.look()
	assert.Empty(t, names(found.Leaks))
	assert.Equal(t, []string{"the volumes in the drivers' backends"}, found.Unseen)

	node.mounts = append(node.mounts, target, staged)
	node.dirs = append(node.dirs, device)
	node.files = append(node.files, ofKubelet)
	assert.ElementsMatch(t, []string{"mount " + target + " on node-a", "mount " + staged + " on node-a", "directory " + device + " on node-a"}, names(c.look().Leaks))

	c.transition("node-a", trace.Kubelet, "kubelet", trace.Killed)
	assert.Empty(t, c.look().Leaks, "a kubelet that starts does not find all again")

	c.dark["node-a"] = true
	assert.Equal(t, []string{"mounts and directories of node-a: the node has no power", "the volumes in the drivers' backends"}, c.look().Unseen)
}

// A kubelet creates a staging directory even for a driver that does not stage, and never removes
// it. The driver's recorded capabilities show whether it stages.
func TestRecordedCapabilitiesShowWhetherADriverStages(t *testing.T) {
	c, _ := withPods(t)
	assert.False(t, c.stagesNot("disk.example.com"), "its capabilities were not requested")
	answered := func(types ...csi.NodeServiceCapability_RPC_Type) {
		answer := &csi.NodeGetCapabilitiesResponse{}
		for _, kind := range types {
			answer.Capabilities = append(answer.Capabilities, &csi.NodeServiceCapability{Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{Type: kind}}})
		}
		c.world.Trace.Add(trace.Entry{Kind: trace.Call, Driver: "disk.example.com", Method: "Node/NodeGetCapabilities", Response: answer})
	}
	answered(csi.NodeServiceCapability_RPC_GET_VOLUME_STATS)
	assert.True(t, c.stagesNot("disk.example.com"))
	assert.False(t, c.stagesNot("other.example.com"))
	answered(csi.NodeServiceCapability_RPC_STAGE_UNSTAGE_VOLUME)
	assert.False(t, c.stagesNot("disk.example.com"))
}
