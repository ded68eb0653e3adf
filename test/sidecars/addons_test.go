package sidecars

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The programs of CSI-Addons are built outside this project, from
// github.com/csi-addons/kubernetes-csi-addons.
const (
	managerProgram = "CSI_ADDONS_MANAGER"
	sidecarProgram = "CSI_ADDONS_SIDECAR"
)

const addonsFile = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
cluster:
  nodes: 1
  csi-addons-controller-manager: {cronjobStaggerWindow: 0}
images: {IMAGE}
drivers:
- name: real.csi.example.com
  external: [EXTERNAL]
  program:
    single: true
    command: [PROGRAMS/hostdir, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}", "--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}", --csi-addons]
OURS
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: real.csi.example.com}
- {apiVersion: v1, kind: Secret, metadata: {name: creds}, stringData: {user: u}}
`

// The real controller manager makes the calls of each kind through csisim's sidecar.
func TestTheControllerManagerOfCSIAddons(t *testing.T) {
	image := "quay.io/csiaddons/k8s-controller: " + addonsProgram(t, managerProgram)
	c := upWithAddons(t, image, "csi-addons-controller-manager", "  csiAddons: [{node: node-a}]")
	c.addons("testdata/addons-manager.yaml")
	c.dayTwo()
}

// csisim's controller manager makes the calls of each kind through the real sidecar.
func TestTheSidecarOfCSIAddons(t *testing.T) {
	image := "quay.io/csiaddons/k8s-sidecar: " + addonsProgram(t, sidecarProgram)
	c := upWithAddons(t, image, "csi-addons-sidecar", "")
	c.addons("testdata/addons-sidecar.yaml")
	c.dayTwo()
}

// Manager and sidecar are real: csisim provides only the driver, the cluster and the kinds.
func TestTheProgramsOfCSIAddons(t *testing.T) {
	images := "quay.io/csiaddons/k8s-controller: " + addonsProgram(t, managerProgram) + ", quay.io/csiaddons/k8s-sidecar: " + addonsProgram(t, sidecarProgram)
	c := upWithAddons(t, images, "csi-addons-controller-manager, csi-addons-sidecar", "")
	c.addons("testdata/addons-manager.yaml")
	c.addons("testdata/addons-sidecar.yaml")
	c.dayTwo()
}

func addonsProgram(t *testing.T, variable string) string {
	program := os.Getenv(variable)
	if program == "" {
		t.Skip(variable + " names no program: it is built outside of this project, see docs/reference/csi-addons.md")
	}
	if os.Geteuid() != 0 {
		t.Skip("loop devices need root")
	}
	return program
}

func upWithAddons(t *testing.T, images, external, ours string) *cluster {
	file := strings.NewReplacer("IMAGE", images, "EXTERNAL", external, "PROGRAMS", programs, "OURS\n", ours+"\n").Replace(addonsFile)
	return up(t, file, "--speed", "1") // the real programs use the real clock
}

// addons creates the objects of a file.
func (c *cluster) addons(file string) {
	text, err := os.ReadFile(file)
	require.NoError(c, err)
	c.make(strings.ReplaceAll(string(text), "PORT", freePort(c.T)))
}

func freePort(t *testing.T) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	_, port, err := net.SplitHostPort(listener.Addr().String())
	require.NoError(t, err)
	return port
}

// dayTwo takes each kind of CSI-Addons once through its life.
func (c *cluster) dayTwo() {
	c.claim("data", "32Mi", nil)
	c.pod("web", "data")
	c.awaitRunning("web")
	c.awaitObject("CSIAddonsNode", "kube-system", "", "Connected", "status", "state")

	for _, kind := range []string{"ReclaimSpace", "EncryptionKeyRotation"} {
		c.make(fmt.Sprintf("{apiVersion: csiaddons.openshift.io/v1alpha1, kind: %sJob, metadata: {name: once}, spec: {target: {persistentVolumeClaim: data}}}", kind))
		c.awaitObject(kind+"Job", "default", "once", "Succeeded", "status", "result")
		c.make(fmt.Sprintf("{apiVersion: csiaddons.openshift.io/v1alpha1, kind: %sCronJob, metadata: {name: often}, spec: {schedule: '* * * * *', jobTemplate: {spec: {target: {persistentVolumeClaim: data}}}}}", kind))
	}
	c.fencing()
	for _, kind := range []string{"ReclaimSpace", "EncryptionKeyRotation"} {
		c.awaitObject(kind+"Job", "default", "often-", "Succeeded", "status", "result")
		c.remove(kind+"CronJob", "default", "often")
	}
	c.replication()
	c.groups()
}

// fencing fences a range of addresses that no node has.
func (c *cluster) fencing() {
	c.make(`{apiVersion: csiaddons.openshift.io/v1alpha1, kind: NetworkFenceClass, metadata: {name: fences}, spec: {provisioner: real.csi.example.com, parameters: {csiaddons.openshift.io/networkfence-secret-name: creds, csiaddons.openshift.io/networkfence-secret-namespace: default}}}
---
{apiVersion: csiaddons.openshift.io/v1alpha1, kind: NetworkFence, metadata: {name: west}, spec: {networkFenceClassName: fences, cidrs: [192.0.2.0/24]}}`)
	c.awaitObject("NetworkFence", "", "west", "fencing operation successful", "status", "message")
	c.change("NetworkFence", "", "west", "{spec: {fenceState: Unfenced}}")
	c.awaitObject("NetworkFence", "", "west", "unfencing operation successful", "status", "message")
	c.remove("NetworkFence", "", "west")
	c.await("the clients of the node", func(ctx context.Context) (bool, error) {
		all, err := c.find(ctx, "CSIAddonsNode", "kube-system", "")
		if err != nil || len(all) == 0 {
			return false, err
		}
		clients, _, err := unstructured.NestedSlice(all[0].Object, "status", "networkFenceClientStatus")
		return len(clients) == 1, err
	})
	c.remove("NetworkFenceClass", "", "fences")
}

// replication promotes, demotes and promotes a volume without a pod.
func (c *cluster) replication() {
	require.NoError(c, c.CoreV1().Pods("default").Delete(c.Context(), "web", metav1.DeleteOptions{}))
	c.awaitGone("Pod", "default", "web")
	c.make(`{apiVersion: replication.storage.openshift.io/v1alpha1, kind: VolumeReplicationClass, metadata: {name: copies}, spec: {provisioner: real.csi.example.com, parameters: {replication.storage.openshift.io/replication-secret-name: creds, replication.storage.openshift.io/replication-secret-namespace: default}}}
---
{apiVersion: replication.storage.openshift.io/v1alpha1, kind: VolumeReplication, metadata: {name: data}, spec: {volumeReplicationClass: copies, replicationState: primary, dataSource: {kind: PersistentVolumeClaim, name: data}}}`)
	c.awaitObject("VolumeReplication", "default", "data", "volume is marked primary", "status", "message")
	c.change("VolumeReplication", "default", "data", "{spec: {replicationState: secondary}}")
	c.awaitObject("VolumeReplication", "default", "data", "volume is marked secondary", "status", "message")
	c.change("VolumeReplication", "default", "data", "{spec: {replicationState: primary}}")
	c.awaitObject("VolumeReplication", "default", "data", "volume is marked primary", "status", "message")
	c.remove("VolumeReplication", "default", "data")
}

// groups replicates the claims with a label together.
func (c *cluster) groups() {
	c.change("PersistentVolumeClaim", "default", "data", "{metadata: {labels: {app: web}}}")
	c.make(`{apiVersion: replication.storage.openshift.io/v1alpha1, kind: VolumeGroupReplicationClass, metadata: {name: groups}, spec: {provisioner: real.csi.example.com, parameters: {replication.storage.openshift.io/group-replication-secret-name: creds, replication.storage.openshift.io/group-replication-secret-namespace: default}}}
---
{apiVersion: replication.storage.openshift.io/v1alpha1, kind: VolumeGroupReplication, metadata: {name: web}, spec: {volumeGroupReplicationClassName: groups, volumeReplicationClassName: copies, replicationState: primary, source: {selector: {matchLabels: {app: web}}}}}`)
	c.awaitObject("VolumeGroupReplication", "default", "web", "Primary", "status", "state")
	members, err := c.find(c.Context(), "VolumeGroupReplicationContent", "", "")
	require.NoError(c, err)
	require.Len(c, members, 1)
	handles, _, err := unstructured.NestedStringSlice(members[0].Object, "spec", "source", "volumeHandles")
	require.NoError(c, err)
	assert.Len(c, handles, 1)
	c.remove("VolumeGroupReplication", "default", "web")
	c.awaitGone("VolumeGroupReplicationContent", "", "")
}
