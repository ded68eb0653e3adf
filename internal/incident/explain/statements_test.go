package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident/explain"
)

const (
	// Nodes: one of an old release, one of a newer release, and one that is down.
	node24   = `{"t":500,"k":"api","ev":"ADDED","r":"nodes","name":"node-a","obj":{"status":{"Ready":"True","kubeletVersion":"v1.24.17-eks-5e0fdde"}}}`
	node36   = `{"t":500,"k":"api","ev":"ADDED","r":"nodes","name":"node-a","obj":{"status":{"Ready":"True","kubeletVersion":"v1.36.0"}}}`
	nodeDown = `{"t":500,"k":"api","ev":"ADDED","r":"nodes","name":"node-a","obj":{"status":{"Ready":"Unknown","kubeletVersion":"v1.24.1"}}}`

	refused   = `{"t":2000,"k":"log","from":"kube-controller-manager","ev":"attach refused","obj":{"volume":"vol-1","driver":"mock.csi","node":"node-b","attachedTo":"node-a"}}`
	forced    = `{"t":2000,"k":"log","from":"kube-controller-manager","ev":"detach forced","obj":{"volume":"vol-1","driver":"mock.csi","node":"node-a"}}`
	restarted = `{"t":1500,"k":"log","from":"kube-controller-manager","ev":"program started"}`
	noDriver  = `driver name mock.csi not found in the list of registered CSI drivers`
	inCSINode = `{"t":500,"k":"api","ev":"ADDED","r":"csinodes","name":"node-a","obj":{"spec":{"drivers":[{"name":"mock.csi","nodeID":"node-a"}]}}}`
	attached  = `{"t":500,"k":"api","ev":"ADDED","r":"volumeattachments","name":"csi-1","obj":{"spec":{"nodeName":"node-a","source":{"persistentVolumeName":"pvc-1"}}}}`
)

// failures are lines in which an operation fails n times with a code and an error.
func failures(n int, kind, code, message string) (all []string) {
	about := `"volume":"vol-1","driver":"mock.csi"`
	if strings.HasPrefix(kind, "snapshot") {
		about = `"snapshot":"shop/snap"`
	}
	if !slices.Contains([]string{"provision", "delete", "resize", "snapshot", "snapshot delete"}, kind) {
		about += `,"node":"node-a"`
	}
	for i := range n {
		all = append(all, fmt.Sprintf(`{"t":%d,"seq":%d,"k":"log","from":"sidecar","ev":"%s failed","obj":{%s,"code":%q,"error":%q}}`, 2000+i*1000, i+1, kind, about, code, message))
	}
	return all
}

// waiting returns a pod that cannot be scheduled.
func waiting(why string) []string {
	return []string{fmt.Sprintf(`{"t":2000,"k":"event","m":"FailedScheduling","name":"Pod/web","msg":"0/3 nodes are available: %s"}`, why)}
}

// stays returns an object under deletion that keeps its finalizer.
func stays(resource, annotations string) string {
	return fmt.Sprintf(`{"t":1000,"k":"api","ev":"ADDED","r":%q,"name":"it","obj":{"metadata":{"annotations":{%s},"deletionTimestamp":"2026-11-28T12:01:00Z","finalizers":["example.com/x"]}}}`, resource, annotations)
}

// failedJob returns an object of CSI-Addons with a result.
func failedJob(resource, spec, result string) string {
	return fmt.Sprintf(`{"t":1000,"k":"api","ev":"ADDED","r":%q,"name":"it","obj":{"spec":{%s},"status":{"result":%q,"message":"Maximum retry limit reached"}}}`, resource, spec, result)
}

func hanging(method string) string {
	return strings.ReplaceAll(called, "Node/NodeUnstageVolume", method)
}

// citations are findings with the numbers that they cite: numbers of rules, numbers of hazards in
// brackets, and the releases with changes.
var citations = []struct {
	name  string
	lines []string
	want  string
}{
	{"one failure of the kubelet", failures(1, "publish", "Internal", "no"), ""},
	{"retries of the kubelet", failures(3, "publish", "Internal", "no"), "K-OP-3"},
	{"retries of csi-attacher", failures(3, "attach", "Internal", "no"), "C-ATT-3"},
	{"retries of csi-provisioner", failures(3, "delete", "Internal", "no"), "C-PROV-3"},
	{"retries of csi-resizer", failures(3, "resize", "Internal", "no"), "C-RES-1 since 1.32"},
	{"retries of csi-snapshotter", failures(3, "snapshot delete", "Internal", "no"), "C-SNAP-30"},
	{"a hung call of the kubelet", []string{called}, "K-RPC-4"},
	{"a hung call of csi-attacher", []string{hanging("Controller/ControllerPublishVolume")}, "C-ATT-1"},
	{"a hung call of csi-provisioner", []string{hanging("Controller/DeleteVolume")}, "C-PROV-1"},
	{"a refusal because of another call", failures(1, "publish", "Aborted", "an operation with the given Volume ID vol-1 already exists"), "CSI spec"},
	{"a sidecar that lost its driver", append(failures(1, "attach", "Unavailable", "no"), `{"t":1000,"k":"log","from":"csi-attacher","ev":"connection lost"}`), "[C-LIB-1 likely]"},

	{"a driver that is not registered", failures(1, "stage", "Unknown", noDriver), "K-RPC-10"},
	{"a restart of the kubelet before", append(failures(1, "stage", "Unknown", noDriver), `{"t":1500,"k":"log","from":"kubelet","node":"node-a","ev":"program started"}`), "K-RPC-10 [K-REG-20 likely]"},
	{"a restart of another kubelet", append(failures(1, "stage", "Unknown", noDriver), `{"t":1500,"k":"log","from":"kubelet","node":"node-b","ev":"program started"}`), "K-RPC-10"},
	{"a driver that its CSINode lists", append(failures(1, "stage", "Unknown", noDriver), inCSINode), "K-RPC-10 [K-REG-20 likely]"},
	{"a second driver with the name", registers("Another driver with the same name is already registered with a higher supported version"), "K-RPC-10 K-REG-10"},
	{"a driver without a node id", registers("error adding CSI driver node info: driverNodeID must not be empty"), "K-RPC-10 K-REG-13"},
	{"a driver with another topology", registers(`detected topology value collision: driver reported \"zone\":\"b\" but existing label is \"zone\":\"a\"`), "K-RPC-10 K-NODE-9"},
	{"a socket without a listener", failures(1, "publish", "Unavailable", "transport: Error while dialing: dial unix /csi.sock: connect: connection refused"), "K-RPC-3"},
	{"a stage that may have had its effect", failures(1, "stage", "DeadlineExceeded", "no"), "K-RPC-7, K-STAGE-7"},
	{"the same at an old kubelet", append(failures(1, "stage", "DeadlineExceeded", "no"), strings.ReplaceAll(node24, "v1.24", "v1.17")), "K-RPC-7, K-STAGE-7 since 1.18"},
	{"an attachment that the kubelet does not see", unseen(3, ""), "K-ATT-5"},
	{"an attachment that is being deleted", unseen(3, "volume attachment is being deleted"), "K-ATT-7"},
	{"an attachment that does not exist", unseen(3, "no relationship found between node 'node-a' and this object"), "[C-OP-4 likely] since 1.29"},
	{"a directory that stays", []string{`{"t":1000,"k":"log","from":"kubelet","node":"node-a","ev":"mount left","obj":{"podUID":"u1","error":"volume paths are still present on disk"}}`}, "K-RECON-5"},
	{"a node that does not fit", failures(1, "publish", "Error", "no matching NodeSelectorTerms"), "K-MNT-1"},
	{"a volume for one pod", failures(1, "publish", "Error", "volume uses the ReadWriteOncePod access mode and is already in use by another pod"), "K-MNT-3"},
	{"an inline volume without a CSIDriver", failures(1, "publish", "Error", `volume mode "Ephemeral" not supported by driver mock.csi (no CSIDriver object)`), "K-PUB-7"},
	{"a secret that is missing", failures(1, "stage", "Error", `fetching NodeStageSecretRef shop/key failed: secrets "key" not found`), "K-PUB-13"},
	{"an unmount that fails", failures(1, "unpublish", "NotFound", "no"), "K-UNPUB-3"},
	{"a mount that is left", failures(1, "unstage", "Error", "the device mount path is still mounted by other references [/mnt/x]"), "K-UNSTAGE-2"},
	{"a path of an old kubelet", append(failures(1, "unstage", "Internal", "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/pvc-1/globalmount"), node36), "[K-PATH-3 likely]"},
	{"the path at an old kubelet", append(failures(1, "unstage", "Internal", "/var/lib/kubelet/plugins/kubernetes.io/csi/pv/pvc-1/globalmount"), strings.ReplaceAll(node24, "v1.24", "v1.22")), ""},

	{"a volume on two nodes", []string{refused}, "C-ADC-31, C-ADC-35"},
	{"its node cannot unstage it", append(failures(1, "unstage", "Error", "the device mount path is still mounted by other references [/mnt/x]"), refused), "K-UNSTAGE-2 C-ADC-31, C-ADC-35"},
	{"its node is down", []string{refused, nodeDown}, "C-ADC-31, C-ADC-35 C-ADC-24 C-ADC-25, C-ADC-62 since 1.26"},
	{"its node is down, of a newer release", []string{refused, strings.ReplaceAll(nodeDown, "v1.24", "v1.30")}, "C-ADC-31, C-ADC-35 C-ADC-24 C-ADC-25, C-ADC-62"},
	{"its node was deleted", []string{refused, strings.ReplaceAll(node36, "node-a", "node-b")}, "C-ADC-31, C-ADC-35 [C-ADC-63 likely]"},
	{"a restart of the controller before", []string{restarted, refused}, "C-ADC-31, C-ADC-35 [C-ADC-6, C-ADC-40, K-ATT-2 likely]"},
	{"a detachment by force", []string{forced}, "C-ADC-24 since 1.25"},
	{"csi-attacher is silent", failures(1, "attach", "Error", "timed out waiting for external-attacher of mock.csi CSI driver to attach volume vol-1"), "C-CSIP-9"},
	{"a node without the driver", failures(1, "attach", "Error", "CSINode node-a does not contain driver mock.csi"), "C-ATT-25, C-MIG-4"},
	{"a volume that is being deleted", failures(1, "attach", "Error", `PersistentVolume "pvc-1" is marked for deletion`), "C-ATT-12"},
	{"a volume that is gone", failures(1, "detach", "Error", `persistentvolume "pvc-1" not found`), "[C-ATT-20 certain]"},
	{"a node that is full", append(failures(1, "attach", "ResourceExhausted", "no slot"), node24), "since 1.35"},
	{"a node of the newest release that is full", append(failures(1, "attach", "ResourceExhausted", "no slot"), node36), ""},

	{"a creation that may have had its effect", failures(1, "provision", "DeadlineExceeded", "no"), "C-PROV-13, C-PROV-60"},
	{"a creation without room", failures(1, "provision", "ResourceExhausted", "no"), "C-PROV-60, C-PROV-61"},
	{"a creation that is infeasible", failures(1, "provision", "InvalidArgument", "no"), "C-PROV-15"},
	{"a creation without topology", failures(1, "provision", "Error", "error generating accessibility requirements: no available topology found"), "C-PROV-31"},
	{"a restore of a snapshot", failures(1, "provision", "Error", "snapshot snap is not Ready"), "C-PROV-40"},
	{"a clone", failures(1, "provision", "Error", "error getting PVC shop/data in API server: the PVC datasource cannot be cloned"), "C-PROV-41"},
	{"a deletion while it is attached", failures(1, "delete", "Error", "persistentvolume pvc-1 is still attached to node node-a"), "C-PROV-73"},
	{"a claim that nothing provisions", []string{pending}, "C-PV-42, C-PROV-10"},
	{"a claim without a class", []string{classless, node24}, "C-PV-11 since 1.26"},

	{"an expansion that is infeasible", append(failures(1, "resize", "OutOfRange", "no"), node24), "C-RES-20, C-RES-21 since 1.32"},
	{"an expansion in use", append(failures(1, "resize", "FailedPrecondition", "no"), node36), "C-RES-16, K-EXP-13"},
	{"an expansion on the node without its secret", []string{node24, `{"t":2000,"k":"log","from":"kubelet","node":"node-a","ev":"node resize failed","obj":{"volume":"vol-1","driver":"mock.csi","code":"Internal","error":"missing secret"}}`}, "since 1.32 since 1.27"},

	{"an expansion on the node that is infeasible", append(failures(1, "node resize", "OutOfRange", "no"), node36), "K-EXP-10, K-EXP-12"},
	{"a snapshot that fails", failures(1, "snapshot", "Internal", "no"), "C-SNAP-35, C-SNAP-36"},
	{"a content that was deleted by hand", []string{stays("volumesnapshotcontents", "")}, "[C-SNAP-32 likely]"},
	{"a content of a deleted snapshot", []string{
		stays("volumesnapshotcontents", `"snapshot.storage.kubernetes.io/volumesnapshot-being-deleted":"yes"`), `{"t":2000,"k":"log","from":"csi-snapshotter","msg":"x"}`,
	}, "[C-SNAP-30 likely]"},
	{"a snapshot that stays", []string{stays("volumesnapshots", "")}, "C-SNAP-18"},

	{"volumes in other zones", waiting("3 node(s) had volume node affinity conflict."), "C-SCHED-2, C-SCHED-3"},
	{"no volume that fits", waiting("3 node(s) didn't find available persistent volumes to bind."), "C-SCHED-4, C-SCHED-5"},
	{"no room", waiting("3 node(s) did not have enough free storage."), "C-SCHED-6"},
	{"nodes that are full", append(waiting("3 node(s) exceed max volume count."), node36), "C-SCHED-21, C-SCHED-23"},
	{"nodes that are full, with attachments", append(waiting("3 node(s) exceed max volume count."), node36, attached), "C-SCHED-21, C-SCHED-23 [C-SCHED-24 likely]"},
	{"a claim that is not bound", waiting("pod has unbound immediate PersistentVolumeClaims."), "C-SCHED-1"},
	{"a claim for one pod", waiting("1 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod."), "C-SCHED-50"},

	{"a claim that stays", []string{stays("persistentvolumeclaims", "")}, "C-PVCP-1"},
	{"a volume that stays", []string{stays("persistentvolumes", "")}, "C-PVP-1"},
	{"an attachment that stays", []string{stays("volumeattachments", "")}, "C-ATT-17"},

	{"a job that was given up", []string{failedJob("reclaimspacejobs", "", "Failed")}, "[A-RS-3, A-EKR-1 certain]"},
	{"a fence that failed", []string{failedJob("networkfences", `"fenceState":"Fenced"`, "Failed")}, "A-NF-3 [A-NF-5 likely]"},
	{"a fence that is lifted", []string{failedJob("networkfences", `"fenceState":"Unfenced"`, "Failed")}, "A-NF-3"},
}

// registers returns a failing registration of a driver that a pod needs.
func registers(why string) []string {
	return append(failures(1, "stage", "Unknown", noDriver), fmt.Sprintf(`{"t":1500,"k":"log","from":"kubelet","node":"node-a","ev":"register failed","obj":{"driver":"mock.csi","error":"%s"}}`, why))
}

// unseen are lines in which the kubelet does not find an attachment.
func unseen(n int, why string) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprintf(`{"t":%d,"seq":%d,"k":"log","from":"kubelet","node":"node-a","ev":"attachment missed","obj":{"volume":"vol-1","driver":"mock.csi","error":%q}}`, 2000+i*1000, i+1, why))
	}
	return all
}

// Given a finding, then it cites exactly the applicable rules and hazards, with the certainty of a
// hazard.
func TestFindingsCiteTheApplicableRules(t *testing.T) {
	cited := map[string]bool{}
	for _, c := range citations {
		t.Run(c.name, func(t *testing.T) {
			story, err := explain.Read(strings.NewReader(strings.Join(append(append([]string{begin}, c.lines...), end), "\n")))
			require.NoError(t, err)
			found := story.Explain().Findings
			require.NotEmpty(t, found)
			got := numbers(&found[0], cited)
			assert.Equal(t, c.want, strings.Join(got, " "), "%+v", found[0])
		})
	}
	for _, s := range explain.Statements() {
		assert.True(t, cited[s], "no finding cites %q", s)
	}
}

// numbers returns the numbers and releases that a finding cites. It notes the statements.
func numbers(f *explain.Finding, cited map[string]bool) (all []string) {
	for _, rule := range f.Rules {
		cited[rule] = true
		id, _, _ := strings.Cut(rule, ": ")
		all = append(all, id)
	}
	for _, hazard := range f.Hazards {
		text, certainty, _ := strings.Cut(hazard, "  [")
		cited["["+text+"]"] = true
		id, _, _ := strings.Cut(text, ": ")
		all = append(all, "["+id+" "+certainty)
	}
	for _, release := range f.Releases {
		_, rest, _ := strings.Cut(release, "Since ")
		since, _, _ := strings.Cut(rest, ":")
		cited["since "+since] = true
		all = append(all, "since "+since)
	}
	return all
}

// Given nodes of a release, then a finding names with certainty a later release that changed the
// behaviour. Without nodes it is unknown whether the change affects the cluster.
func TestAFindingNamesTheReleaseThatChangedIt(t *testing.T) {
	grows := failures(1, "resize", "OutOfRange", "no room")[0]
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"an old release":     {[]string{node24, grows}, "the nodes run Kubernetes 1.24. Since 1.32: It can request less than before, but more than its current size. Before: "},
		"a newer release":    {[]string{node36, grows}, ""},
		"an unknown release": {[]string{grows}, "the logs do not show the release of the nodes. Since 1.32: "},
	} {
		t.Run(name, func(t *testing.T) {
			story, err := explain.Read(strings.NewReader(strings.Join(append(append([]string{begin}, c.lines...), end), "\n")))
			require.NoError(t, err)
			found := story.Explain().Findings
			require.Len(t, found, 1)
			releases := strings.Join(found[0].Releases, "")
			assert.Contains(t, releases, c.want)
			assert.Equal(t, c.want == "", releases == "", releases)
			assert.Equal(t, strings.HasPrefix(c.want, "the nodes"), strings.HasSuffix(releases, "[certain]"))
		})
	}
}
