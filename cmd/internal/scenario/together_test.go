package scenario

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const applies = "steps:\n- apply:\n    apiVersion: v1\n    kind: PersistentVolumeClaim\n    metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"

// Scenarios share a cluster until one of them affects the whole cluster.
func TestActionsThatAffectTheWholeCluster(t *testing.T) {
	for name, c := range map[string]struct{ text, alone string }{
		"objects":           {applies + "- restart-driver: {node: node-a}\n- fault: {call: NodeStageVolume, code: Internal}\n- settle: {}\n", ""},
		"a sidecar":         {"steps:\n- restart-controller: csi-attacher/mock.csi.csisim.dev\n", ""},
		"power":             {"steps:\n- power-off: node-a\n", wholeNode},
		"a kubelet":         {"steps:\n- fault: {call: NodeStageVolume, kill: kubelet}\n", "it kills kubelet"},
		"a taint":           {"steps:\n- taint: {node: node-a, key: k, effect: NoExecute}\n", wholeNode},
		"a node's labels":   {"cluster: {nodes: [{name: node-a, zone: z}]}\n", "node node-a is changed for it"},
		"the default class": {"objects:\n- apiVersion: storage.k8s.io/v1\n  kind: StorageClass\n  metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}}\n  provisioner: mock.csi.csisim.dev\n", "storageclass/standard is there for the whole cluster"},
		"files":             {"expect: {that: ['files(\"node-a\").size() == 0']}\n", wholeNode},
	} {
		t.Run(name, func(t *testing.T) {
			why := promotable(t, "drivers:\n- {name: mock.csi.csisim.dev, mock: {}}\n"+c.text).alone()
			assert.Contains(t, why, c.alone)
			assert.Equal(t, c.alone == "", why == "", why)
		})
	}
}

// The reference driver can have any name, so one cluster can contain it several times. Every other
// driver can exist only once in a cluster.
func TestDriversWithASingleInstance(t *testing.T) {
	assert.Equal(t, []string{"disk.example.com"}, promotable(t, "drivers:\n- {name: disk.example.com, program: {command: [disk]}}\n").owned())
	assert.Empty(t, promotable(t, "drivers:\n- {name: mock.csi.csisim.dev, mock: {}}\n").owned())
}

func promotable(t *testing.T, text string) *Scenario {
	t.Helper()
	s, err := Parse("it.yaml", []byte("apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n"+text))
	require.NoError(t, err)
	return s
}
