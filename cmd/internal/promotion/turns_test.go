package promotion

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

const apply = "steps:\n- apply:\n    apiVersion: v1\n    kind: PersistentVolumeClaim\n    metadata: {name: data}\n    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n"

const wholeNode = "it is about a node as a whole"

// Scenarios share a cluster until one touches what all have in common.
func TestWhatTouchesTheWholeCluster(t *testing.T) {
	for name, c := range map[string]struct{ text, alone string }{
		"objects":           {apply + "- restart-driver: {node: node-a}\n- fault: {call: NodeStageVolume, code: Internal}\n- settle: {}\n", ""},
		"a sidecar":         {"steps:\n- restart-controller: csi-attacher/mock.csi.csisim.dev\n", ""},
		"power":             {"steps:\n- power-off: node-a\n", wholeNode},
		"a kubelet":         {"steps:\n- fault: {call: NodeStageVolume, kill: kubelet}\n", "it kills kubelet"},
		"a taint":           {"steps:\n- taint: {node: node-a, key: k, effect: NoExecute}\n", wholeNode},
		"a node's labels":   {"cluster: {nodes: [{name: node-a, zone: z}]}\n", "node node-a is changed for it"},
		"the default class": {"objects:\n- apiVersion: storage.k8s.io/v1\n  kind: StorageClass\n  metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: \"true\"}}\n  provisioner: mock.csi.csisim.dev\n", "storageclass/standard is there for the whole cluster"},
		"files":             {"expect: {that: ['files(\"node-a\").size() == 0']}\n", wholeNode},
	} {
		t.Run(name, func(t *testing.T) {
			why := parse(t, "it.yaml", "drivers:\n- {name: mock.csi.csisim.dev, mock: {}}\n"+c.text).Alone()
			assert.Contains(t, why, c.alone)
			assert.Equal(t, c.alone == "", why == "", why)
		})
	}
}

// Who touches a node waits until the others are done; those with a driver that is there once follow each other.
func TestTurnsOnACluster(t *testing.T) {
	target := &Target{turns: newTurns()}
	mock := "drivers:\n- {name: mock.csi.csisim.dev, mock: {}}\n"
	first, second := parse(t, "a.yaml", mock), parse(t, "b.yaml", mock)
	alone := parse(t, "c.yaml", mock+"steps:\n- power-off: node-a\n")
	program := parse(t, "d.yaml", "drivers:\n- {name: disk.example.com, program: {command: [disk]}}\n")
	assert.Equal(t, []string{"disk.example.com"}, program.Owned())
	assert.Empty(t, first.Owned(), "the reference driver can have any name")

	begins := func(s *scenario.Scenario) <-chan func() {
		began := make(chan func(), 1)
		go func() { began <- target.Turn(s) }()
		return began
	}
	one, two := <-begins(first), <-begins(second) // at once
	last := begins(alone)
	one()
	assert.Empty(t, last)
	two()
	(<-last)()

	running := <-begins(program)
	next := begins(program)
	other := <-begins(first) // the driver's lock is none of its own
	assert.Empty(t, next)
	running()
	(<-next)()
	other()
}
