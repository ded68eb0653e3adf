package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// everyKind is a cluster with an object of every kind that concerns storage.
const everyKind = clitest.Header + `cluster: {nodes: 1}
drivers:
- name: mock.csi.csisim.dev
  mock: {snapshot: true, groupSnapshot: true, getCapacity: true, capacityBytes: 67108864, modifyVolume: true}
  noCSIDriver: true
objects:
- {apiVersion: storage.k8s.io/v1, kind: CSIDriver, metadata: {name: mock.csi.csisim.dev}, spec: {storageCapacity: true, podInfoOnMount: true}}
- apiVersion: storage.k8s.io/v1
  kind: StorageClass
  metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
  provisioner: mock.csi.csisim.dev
  parameters: {tier: quick}
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: late}, provisioner: mock.csi.csisim.dev, volumeBindingMode: WaitForFirstConsumer}
- {apiVersion: storage.k8s.io/v1, kind: VolumeAttributesClass, metadata: {name: gold}, driverName: mock.csi.csisim.dev, parameters: {iops: "900"}}
- {apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: {name: snaps}, driver: mock.csi.csisim.dev, deletionPolicy: Delete}
- {apiVersion: groupsnapshot.storage.k8s.io/v1, kind: VolumeGroupSnapshotClass, metadata: {name: groups}, driver: mock.csi.csisim.dev, deletionPolicy: Delete}
steps:
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data, labels: {app: web}}
    spec: {accessModes: [ReadWriteOnce], storageClassName: fast, volumeAttributesClassName: gold, resources: {requests: {storage: 16Mi}}}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers: [{name: c, image: registry.local/web:1, volumeMounts: [{name: v, mountPath: /data, readOnly: true}]}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
- wait: {pod: web, phase: Running}
- apply: |
    apiVersion: snapshot.storage.k8s.io/v1
    kind: VolumeSnapshot
    metadata: {name: one}
    spec: {volumeSnapshotClassName: snaps, source: {persistentVolumeClaimName: data}}
    ---
    apiVersion: groupsnapshot.storage.k8s.io/v1
    kind: VolumeGroupSnapshot
    metadata: {name: all}
    spec: {volumeGroupSnapshotClassName: groups, source: {selector: {matchLabels: {app: web}}}}
- wait: {vs: one, that: object.status.readyToUse}
- wait: {vgs: all, that: object.status.readyToUse}
- wait: {event: {reason: SuccessfulAttachVolume, about: pod/web}}
`

// kubectl describe describes every kind of object that concerns storage. The test looks for some
// words of each description, in their order. Runs of blanks count as one blank. Only kubectl since
// v1.34 describes attribute classes: see test/clients.
func TestKubectlDescribesEveryKindOfStorage(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("there is no kubectl")
	}
	file := filepath.Join(t.TempDir(), "everyKind.yaml")
	require.NoError(t, os.WriteFile(file, []byte(everyKind), 0o600))
	l := startUp(t, "-f", file)
	for kind, says := range map[string][]string{
		"storageclass fast":          {"Name: fast", "IsDefaultClass: Yes", "Provisioner: mock.csi.csisim.dev", "Parameters: tier=quick", "AllowVolumeExpansion:", "ReclaimPolicy: Delete", "VolumeBindingMode: Immediate", "Events: <none>"},
		"pv":                         {"Name: pvc-", "pv.kubernetes.io/provisioned-by: mock.csi.csisim.dev", "StorageClass: fast", "Status: Bound", "Claim: default/data", "Capacity: 16Mi", "Type: CSI", "Driver: mock.csi.csisim.dev", "VolumeHandle: vol-0001", "ReadOnly: false", "Events: <none>"},
		"pvc data":                   {"Name: data", "StorageClass: fast", "Status: Bound", "Volume: pvc-", "Capacity: 16Mi", "Access Modes: RWO", "VolumeMode: Filesystem", "Used By: web", "Events:", "ProvisioningSucceeded"},
		"volumeattachment":           {"Kind: VolumeAttachment", "Spec:", "Attacher: mock.csi.csisim.dev", "Node Name: node-a", "Source:", "Persistent Volume Name: pvc-", "Status:", "Attached: true"},
		"csidriver":                  {"Name: mock.csi.csisim.dev", "Kind: CSIDriver", "Attach Required: true", "Pod Info On Mount: true", "Storage Capacity: true"},
		"csinode node-a":             {"Name: node-a", "Spec:", "Drivers:", "mock.csi.csisim.dev:", "Node ID: node-a"},
		"csistoragecapacity -A":      {"Kind: CSIStorageCapacity", "Storage Class Name: late"},
		"volumesnapshot one":         {"Name: one", "Kind: VolumeSnapshot", "Source:", "Persistent Volume Claim Name: data", "Volume Snapshot Class Name: snaps", "Bound Volume Snapshot Content Name: snapcontent-", "Ready To Use: true", "Restore Size: 16Mi", "SnapshotReady"},
		"volumesnapshotcontent":      {"Kind: VolumeSnapshotContent", "Deletion Policy: Delete", "Driver: mock.csi.csisim.dev", "Snapshot Handle: "},
		"volumesnapshotclass snaps":  {"Name: snaps", "Deletion Policy: Delete", "Driver: mock.csi.csisim.dev", "Kind: VolumeSnapshotClass"},
		"volumegroupsnapshot all":    {"Name: all", "Kind: VolumeGroupSnapshot", "Match Labels:", "App: web", "Ready To Use: true"},
		"volumegroupsnapshotcontent": {"Kind: VolumeGroupSnapshotContent", "Driver: mock.csi.csisim.dev", "Volume Group Snapshot Handle: "},
		"volumegroupsnapshotclass":   {"Name: groups", "Deletion Policy: Delete", "Driver: mock.csi.csisim.dev", "Kind: VolumeGroupSnapshotClass"},
		"pod web":                    {"Name: web", "Node: node-a/", "Status: Running", "Containers:", "State: Running", "Ready: True", "Mounts:", "/data from v (ro)", "Volumes:", "v:", "Type: PersistentVolumeClaim", "ClaimName: data", "ReadOnly: false", "Events:", "Scheduled", "SuccessfulAttachVolume"},
		"node node-a":                {"Name: node-a", "Labels:", "kubernetes.io/hostname=node-a", "csi.volume.kubernetes.io/nodeid:", "Conditions:", "Ready True", "Capacity:", "Allocatable:", "System Info:", "Non-terminated Pods:", "default web", "Allocated resources:"},
		"event":                      {"Kind: Event", "Involved Object:", "Reason:"},
	} {
		t.Run(kind, func(t *testing.T) {
			l := liveCluster{t: t, home: l.home}
			got := strings.Join(strings.Fields(l.kubectl(append([]string{"describe"}, strings.Fields(kind)...)...)), " ")
			rest := got
			for _, words := range says {
				_, after, found := strings.Cut(rest, words)
				if assert.True(t, found, "%q is missing, or stands before its place, in: %s", words, got) {
					rest = after
				}
			}
		})
	}
	require.Zero(t, clitest.RunIn(t, l.environment(), "down").Code)
	assert.Zero(t, l.awaitEnd(), l.output.String())
}
