package library_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// podOfPlugin is the pod of a driver's node plugin, with its socket and further volumes.
const podOfPlugin = `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: hostdir}
spec:
  selector: {matchLabels: {app: hostdir}}
  template:
    metadata: {labels: {app: hostdir}}
    spec:
      containers:
      - {name: registrar, image: "registry.k8s.io/sig-storage/csi-node-driver-registrar:v2.17.0", args: [--csi-address=/csi/csi.sock], volumeMounts: [{name: plugin, mountPath: /csi}]}
      - name: hostdir
        image: example.com/hostdir:v1
        volumeMounts:
        - {name: plugin, mountPath: /csi}
%s
      volumes:
      - {name: plugin, hostPath: {path: /var/lib/kubelet/plugins/hostdir, type: DirectoryOrCreate}}
%s
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: hostdir-controller}
spec:
  selector: {matchLabels: {app: hostdir-controller}}
  template:
    metadata: {labels: {app: hostdir-controller}}
    spec:
      containers:
      - {name: provisioner, image: "registry.k8s.io/sig-storage/csi-provisioner:v6.3.0", args: [--csi-address=/csi/csi.sock], volumeMounts: [{name: socket, mountPath: /csi}]}
      - {name: attacher, image: "registry.k8s.io/sig-storage/csi-attacher:v4.12.0", args: [--csi-address=/csi/csi.sock], volumeMounts: [{name: socket, mountPath: /csi}]}
      - {name: hostdir, image: "example.com/hostdir:v1", volumeMounts: [{name: socket, mountPath: /csi}]}
      volumes: [{name: socket, emptyDir: {}}]
---
apiVersion: storage.k8s.io/v1
kind: CSIDriver
metadata: {name: hostdir.csisim.dev}
spec: {attachRequired: true}
`

// scenarioOfPlugin restarts the node plugin while a pod uses a volume.
const scenarioOfPlugin = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
cluster: {nodes: 1}
drivers:
- deploy: [deploy]
  program: {command: [hostdir, "--endpoint={{.Endpoint}}", "--node-id={{.NodeID}}", "--mode={{.Mode}}", "--state-dir={{.StateDir}}", "--broken=%s"]}
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: sc}, provisioner: hostdir.csisim.dev}
- {apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}, storageClassName: sc}}
- apiVersion: v1
  kind: Pod
  metadata: {name: web}
  spec:
    containers: [{name: main, image: x, volumeMounts: [{name: data, mountPath: /data}]}]
    volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
steps:
- wait: {pod: web, phase: Running}
%s
- delete: {pod: web}
- wait: {pod: web, gone: true}
- delete: {pvc: data}
- settle: {}
`

const (
	kubeletMount = "        - {name: kubelet, mountPath: /var/lib/kubelet, mountPropagation: Bidirectional}\n"
	kubeletDir   = "      - {name: kubelet, hostPath: {path: /var/lib/kubelet}}\n"
	recordsMount = "        - {name: records, mountPath: /var/lib/hostdir}\n"
	crash        = "- kill-driver: {node: node-a}\n- start-driver: {node: node-a}\n"
	rolling      = "- restart-driver: {node: node-a}\n"
	reboot       = "- power-off: node-a\n- power-on: node-a\n- advance: 5m\n- wait: {pod: web, phase: Running}\n"
)

// Given a driver with records in its container, when its manifests mount a volume over the records,
// then they are lost exactly when a real cluster loses the content of that volume.
func TestVolumesOfAContainerHaveTheLifetimeInTheManifests(t *testing.T) {
	withHostdir(t)
	const lost = "NodeUnpublishVolume has no effect"
	for _, c := range []struct{ name, mounts, volumes, steps, broken, want string }{
		{"no volume, crash", kubeletMount, kubeletDir, crash, "records-in-container", lost},
		{"directory of the node, crash", kubeletMount + recordsMount, kubeletDir + "      - {name: records, hostPath: {path: /var/lib/hostdir}}\n", crash, "records-in-container", ""},
		{"another directory of the node, update", kubeletMount + recordsMount, kubeletDir + "      - {name: records, hostPath: {path: /var/lib/records}}\n", rolling, "records-in-container", ""},
		{"emptyDir, crash", kubeletMount + recordsMount, kubeletDir + "      - {name: records, emptyDir: {}}\n", crash, "records-in-container", ""},
		{"emptyDir, update", kubeletMount + recordsMount, kubeletDir + "      - {name: records, emptyDir: {}}\n", rolling, "records-in-container", lost},
		{"emptyDir in memory, crash", kubeletMount + recordsMount, kubeletDir + "      - {name: records, emptyDir: {medium: Memory}}\n", crash, "records-in-container", ""},
		{"sound, all restarts", kubeletMount, kubeletDir, crash + rolling + reboot, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			result := runDeployed(t, c.mounts, c.volumes, c.steps, c.broken)
			verdicts := verdictsOf(result)
			if c.want == "" {
				assert.Empty(t, verdicts)
			} else {
				assert.Contains(t, verdicts, c.want)
			}
		})
	}
}

// Given a driver with manifests that mount parts of the kubelet's directory, when it is restarted,
// then it works as with the whole directory.
func TestPartsOfTheKubeletsDirectoryAreEnough(t *testing.T) {
	withHostdir(t)
	part := "        - {name: %[1]s, mountPath: /var/lib/kubelet/%[1]s, mountPropagation: Bidirectional}\n"
	volumes := "      - {name: pods, hostPath: {path: /var/lib/kubelet/pods}}\n      - {name: plugins, hostPath: {path: /var/lib/kubelet/plugins}}\n"
	result := runDeployed(t, fmt.Sprintf(part, "pods")+fmt.Sprintf(part, "plugins"), volumes, crash+rolling, "")
	assert.Empty(t, verdictsOf(result))
}

func runDeployed(t *testing.T, mounts, volumes, steps, broken string) *scenario.Result {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(dir+"/deploy", 0o755))
	require.NoError(t, os.WriteFile(dir+"/deploy/driver.yaml", fmt.Appendf(nil, podOfPlugin, mounts, volumes), 0o600))
	file := filepath.Join(dir, "s.yaml")
	require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, scenarioOfPlugin, broken, steps), 0o600))
	s, err := scenario.Load(file)
	require.NoError(t, err)
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{})
	require.NoError(t, err)
	return result
}

func verdictsOf(result *scenario.Result) string {
	var verdicts []string
	for _, f := range result.Failures {
		verdicts = append(verdicts, f.Verdict.Text, f.Got)
	}
	return strings.Join(verdicts, "\n")
}
