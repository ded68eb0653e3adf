package explain_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident/explain"
)

const (
	// begin is the first event: noon. end is the last one, 20 minutes later.
	begin = `{"t":0,"at":"2026-11-28T12:00:00.000Z","k":"log","from":"csi-provisioner","msg":"begin"}`
	end   = `{"t":1200000,"at":"2026-11-28T12:20:00.000Z","k":"log","from":"kubelet","node":"node-a","msg":"end"}`

	pending = `{"t":1000,"k":"api","ev":"ADDED","r":"persistentvolumeclaims","name":"default/data","obj":{"metadata":{"annotations":{"volume.kubernetes.io/storage-provisioner":"mock.csi"}},"status":{"phase":"Pending"}}}`
	// A claim that names no class.
	classless = `{"t":1000,"k":"api","ev":"ADDED","r":"persistentvolumeclaims","name":"default/data","obj":{"spec":{"accessModes":["ReadWriteOnce"]},"status":{"phase":"Pending"}}}`

	called = `{"t":1000,"k":"csi","from":"kubelet","node":"node-a","driver":"mock.csi","m":"Node/NodeUnstageVolume","req":{"volume_id":"vol-1"},"obj":{"answer":"not in the log"}}`
	failed = `{"t":2000,"k":"log","from":"kubelet","node":"node-a","ev":"stage failed","obj":{"volume":"vol-1","driver":"mock.csi","code":"Internal","error":"no"}}`
)

// onNode returns a line of kube-controller-manager about a volume and a node. The node's name may
// be missing.
func onNode(at, node, means string) string {
	return `{"t":` + at + `,"k":"log","from":"kube-controller-manager","ev":"` + means + `","obj":{"volume":"vol-1","driver":"mock.csi","node":"` + node + `","code":"Internal","error":"no"}}`
}

// Each rule derives its finding from the lines that state it, and none if later lines contradict
// it.
func TestRules(t *testing.T) {
	for _, c := range []struct {
		name  string
		lines []string
		want  string // the title and the certainty; empty for no finding
	}{
		{"a call that never returned", []string{called}, "NodeUnstageVolume has not returned for volume vol-1 on node-a: 19 min 59 s until the end of the logs likely"},
		{"a later call succeeds", []string{called, `{"t":2000,"k":"csi","from":"kubelet","node":"node-a","driver":"mock.csi","m":"Node/NodeUnstageVolume","req":{"volume_id":"vol-1"},"resp":{},"ms":5}`}, ""},
		{"the driver prints no answers", []string{strings.Replace(called, "not in the log", "not logged: this driver prints no answer", 1)}, ""},
		{"a call at the end of the logs", []string{strings.Replace(called, `"t":1000`, `"t":1190000`, 1)}, ""},
		{"an operation that fails", []string{failed}, "Volume vol-1 cannot be staged on node-a: Internal: no certain"},
		{"it succeeds later", []string{failed, strings.Replace(failed, "stage failed", "stage succeeded", 1)}, ""},
		{"it fails on an unnamed node, and succeeds on all nodes", []string{onNode("1000", "node-a", "detach succeeded"), onNode("2000", "", "detach failed"), onNode("3000", "node-b", "detach succeeded")}, ""},
		{"it fails on an unnamed node, and succeeded before", []string{onNode("1000", "node-a", "detach succeeded"), onNode("1500", "node-b", "detach succeeded"), onNode("2000", "", "detach failed")},
			"Volume vol-1 cannot be detached: Internal: no certain"},
		{"a pod with its namespace, and without", []string{
			`{"t":1000,"k":"log","from":"kubelet","node":"node-a","ev":"publish failed","obj":{"volume":"vol-1","pv":"pvc-1","driver":"mock.csi","podUID":"u1","pod":"web","error":"no"}}`,
			`{"t":1000,"k":"event","from":"kubelet","node":"node-a","m":"FailedMount","r":"Warning","name":"Pod/shop/web","msg":"MountVolume.SetUp failed for volume \"pvc-1\" : no","obj":{"count":1}}`,
			`{"t":2000,"k":"log","from":"kubelet","node":"node-a","ev":"publish succeeded","obj":{"volume":"vol-1","pv":"pvc-1","driver":"mock.csi","podUID":"u1","pod":"shop/web"}}`,
			`{"t":3000,"k":"log","from":"kubelet","node":"node-a","ev":"mount started","obj":{"volume":"vol-1","pv":"pvc-1","driver":"mock.csi","podUID":"u1","pod":"web"}}`,
			`{"t":3100,"k":"log","from":"kubelet","node":"node-a","ev":"publish succeeded","obj":{"volume":"vol-1","pv":"pvc-1","driver":"mock.csi","podUID":"u1","pod":"web"}}`,
		}, ""},
		{"a finalizer that stays", []string{`{"t":1000,"k":"api","ev":"ADDED","r":"persistentvolumes","name":"pvc-1","obj":{"metadata":{"deletionTimestamp":"2026-11-28T12:01:00Z","finalizers":["external-provisioner.volume.kubernetes.io/finalizer"]}}}`},
			"PersistentVolume pvc-1 is being deleted and stays certain"},
		{"a finalizer of another component", []string{`{"t":1000,"k":"api","ev":"ADDED","r":"persistentvolumeclaims","name":"shop/data","obj":{"metadata":{"deletionTimestamp":"2026-11-28T12:01:00Z","finalizers":["example.com/mine"]}}}`},
			"PersistentVolumeClaim shop/data is being deleted and stays unknown"},
		{"a deletion that has just begun", []string{`{"t":1000,"k":"api","ev":"ADDED","r":"persistentvolumes","name":"pvc-1","obj":{"metadata":{"deletionTimestamp":"2026-11-28T12:19:30Z","finalizers":["x/y"]}}}`}, ""},
		{"a detachment by force", []string{`{"t":1000,"k":"log","from":"kube-controller-manager","ev":"detach forced","obj":{"volume":"vol-1","driver":"mock.csi","node":"node-a"}}`},
			"Volume vol-1 was detached by force from node-a certain"},
		{"a registration that fails", []string{`{"t":1000,"k":"log","from":"kubelet","node":"node-a","ev":"register failed","obj":{"driver":"mock.csi","error":"no node id"}}`},
			"The registration of mock.csi fails on node-a: no node id certain"},
		{"a later registration", []string{
			`{"t":1000,"k":"log","from":"kubelet","node":"node-a","ev":"register failed","obj":{"driver":"mock.csi","error":"no node id"}}`,
			`{"t":2000,"k":"log","from":"kubelet","node":"node-a","ev":"register succeeded","obj":{"driver":"mock.csi"}}`,
		}, ""},
		{"a registrar that starts again", []string{
			`{"t":1000,"k":"log","from":"node-driver-registrar","ev":"register failed","obj":{"error":"no socket"}}`,
			`{"t":2000,"k":"log","from":"node-driver-registrar","ev":"register succeeded","obj":{"status":"plugin_registered:true"}}`,
		}, ""},
		{"a claim that nothing provisions", []string{pending}, "Claim data is pending: nothing provisions it likely"},
		{"a claim that is bound", []string{pending, `{"t":2000,"k":"api","ev":"MODIFIED","r":"persistentvolumeclaims","name":"default/data","patch":{"status":{"phase":"Bound"}}}`}, ""},
		{"a claim without a class", []string{classless}, "Claim data is pending: it names no StorageClass certain"},
		{"a claim that wants no class", []string{strings.Replace(classless, `"accessModes"`, `"storageClassName":"","accessModes"`, 1)}, ""},
		{"a claim without a class that has a volume", []string{strings.Replace(classless, `"accessModes"`, `"volumeName":"pv-1","accessModes"`, 1)}, ""},
		{"an attachment that the kubelet does not see", unseen(3, ""), "Volume vol-1 is not attached to node-a, as the kubelet sees it: the status of the Node does not list it unknown"},
		{"it is late", unseen(2, ""), ""},
		{"the kubelet sees it later", append(unseen(3, ""), `{"t":9000,"k":"log","from":"kubelet","node":"node-a","ev":"attachment seen","obj":{"volume":"vol-1","driver":"mock.csi"}}`), ""},
		{"a pod that waits", []string{`{"t":1000,"k":"log","from":"kubelet","node":"node-a","ev":"volumes awaited","obj":{"pod":"default/web","error":"timed out waiting for the condition"}}`},
			"Pod web waits for its volumes: timed out waiting for the condition unknown"},
		{"its volumes are mounted later", []string{
			`{"t":1000,"k":"log","from":"kubelet","node":"node-a","ev":"volumes awaited","obj":{"pod":"default/web","error":"timed out"}}`,
			`{"t":2000,"k":"log","from":"kubelet","node":"node-a","ev":"volumes mounted","obj":{"pod":"default/web"}}`,
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Join(append(append([]string{begin}, c.lines...), end), "\n")
			story, err := explain.Read(strings.NewReader(text))
			require.NoError(t, err)
			found := story.Explain().Findings
			if c.want == "" {
				assert.Empty(t, found)
				return
			}
			require.Len(t, found, 1)
			assert.Equal(t, c.want, found[0].Title+" "+string(found[0].Certainty))
		})
	}
}

// Given names of one volume in several lines, then a finding contains all of them.
func TestNamesOfAVolumeAreJoined(t *testing.T) {
	story, err := explain.Read(strings.NewReader(strings.Join([]string{
		begin,
		`{"t":1,"k":"log","from":"csi-attacher","ev":"attach failed","obj":{"attachment":"csi-d0f3c4","code":"Internal","error":"busy"}}`,
		`{"t":2,"k":"api","ev":"ADDED","r":"volumeattachments","name":"csi-d0f3c4","obj":{"spec":{"nodeName":"node-b","source":{"persistentVolumeName":"pvc-1"}}}}`,
		`{"t":3,"k":"api","ev":"ADDED","r":"persistentvolumes","name":"pvc-1","obj":{"spec":{"csi":{"driver":"mock.csi","volumeHandle":"vol-1"},"claimRef":{"namespace":"shop","name":"data"}}}}`,
		`{"t":4,"k":"csi","from":"csi-attacher","driver":"mock.csi","m":"Controller/ControllerPublishVolume","req":{"volume_id":"vol-1","node_id":"node-b"},"code":"Internal","msg":"busy","ms":10}`,
		end,
	}, "\n")))
	require.NoError(t, err)
	found := story.Explain().Findings
	require.Len(t, found, 1)
	assert.Equal(t, "Volume pvc-1 (claim shop/data) cannot be attached to node-b: Internal: busy", found[0].Title)
	assert.Equal(t, "driver mock.csi", found[0].Component)
}

// Given one failure that a call, csi-attacher and kube-controller-manager report, then it counts
// once.
func TestAFailureThatSeveralProgramsReportCountsOnce(t *testing.T) {
	story, err := explain.Read(strings.NewReader(strings.Join([]string{
		begin,
		`{"t":4,"k":"csi","from":"csi-attacher","driver":"mock.csi","m":"Controller/ControllerPublishVolume","req":{"volume_id":"vol-1","node_id":"node-b"},"code":"Internal","msg":"busy","ms":10}`,
		`{"t":15,"k":"log","from":"csi-attacher","ev":"attach failed","obj":{"volume":"vol-1","node":"node-b","code":"Internal","error":"busy"}}`,
		`{"t":20,"k":"log","from":"kube-controller-manager","ev":"attach failed","obj":{"volume":"vol-1","node":"node-b","code":"Internal","error":"busy"}}`,
		end,
	}, "\n")))
	require.NoError(t, err)
	found := story.Explain().Findings
	require.Len(t, found, 1)
	assert.Contains(t, strings.Join(found[0].Chain, "; "), "ControllerPublishVolume fails (node-b), 1 time")
}
