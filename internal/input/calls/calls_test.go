package calls_test

import (
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/trace"
)

// made abbreviates a run: a letter for each call, lower case for a failed one. "p" is a failed
// NodePublishVolume.
func made(letters string) []*trace.Event {
	var all []*trace.Event
	for i, letter := range letters {
		method := map[string]string{"S": "NodeStageVolume", "P": "NodePublishVolume", "U": "NodeUnpublishVolume", "G": "NodeGetCapabilities"}
		e := trace.Entry{
			Seq: uint64(i + 1), At: time.Duration(i) * time.Second, Kind: trace.Call, Actor: "kubelet", Node: "node-a",
			Method: "Node/" + method[strings.ToUpper(string(letter))], Response: &csi.NodeStageVolumeResponse{},
			Request: &csi.NodeStageVolumeRequest{VolumeId: "v"},
		}.Event()
		if strings.ToLower(string(letter)) == string(letter) {
			e.Response, e.Code = nil, "Internal"
		}
		all = append(all, e)
	}
	return all
}

func patterns(t *testing.T, text string) []calls.Pattern {
	t.Helper()
	var file struct {
		Calls []calls.Pattern `json:"calls"`
	}
	_, problems := strict.Decode("x.yaml", []byte("calls: "+text), &file)
	require.NoError(t, problems.Err())
	return file.Calls
}

func TestCallsAreFoundInTheirOrder(t *testing.T) {
	const stage, publish, unpublish = "NodeStageVolume", "NodePublishVolume", "NodeUnpublishVolume"
	for name, c := range map[string]struct {
		made, wanted string
		exact        bool
		gap          *calls.Gap
	}{
		"all":                             {"SPU", "[" + stage + ", " + publish + ", " + unpublish + "]", false, nil},
		"others between":                  {"SPU", "[" + stage + ", " + unpublish + "]", false, nil},
		"others between, exact":           {"SPU", "[" + stage + ", " + unpublish + "]", true, &calls.Gap{Pattern: 1, After: 1}},
		"others at the start, exact":      {"SP", "[" + publish + "]", true, &calls.Gap{Pattern: 0, After: 0}},
		"others at the end, exact":        {"SP", "[" + stage + "]", true, &calls.Gap{Pattern: 1, After: 1}},
		"anything between, exact":         {"SPPU", "[" + stage + ", ..., " + unpublish + "]", true, nil},
		"anything at the end, exact":      {"SPU", "[" + stage + ", ...]", true, nil},
		"another order":                   {"SP", "[" + publish + ", " + stage + "]", false, &calls.Gap{Pattern: 1, After: 2}},
		"not one twice":                   {"S", "[" + stage + ", " + stage + "]", false, &calls.Gap{Pattern: 1, After: 1}},
		"a counted one":                   {"SSP", "[{call: NodeStageVolume, count: 2}, NodePublishVolume]", false, nil},
		"one too few":                     {"SP", "[{call: NodeStageVolume, count: 2}, NodePublishVolume]", false, &calls.Gap{Pattern: 0, After: 2}},
		"one too many":                    {"SSSP", "[{call: NodeStageVolume, count: 2}, NodePublishVolume]", false, &calls.Gap{Pattern: 1, After: 2}},
		"one too many, later":             {"SSUSP", "[{call: NodeStageVolume, count: 2}, NodePublishVolume]", false, &calls.Gap{Pattern: 1, After: 2}},
		"one too many at the end":         {"SPP", "[NodeStageVolume, {call: NodePublishVolume, count: 1}]", false, &calls.Gap{Pattern: 2, After: 2}},
		"more after the next one":         {"SSPS", "[{call: NodeStageVolume, count: 2}, NodePublishVolume]", false, nil},
		"a range":                         {"SSSP", "[{call: NodeStageVolume, count: {min: 1, max: 3}}, NodePublishVolume]", true, nil},
		"a range in short":                {"SSSP", "[{call: NodeStageVolume, count: 1..3}, NodePublishVolume]", true, nil},
		"more than a range":               {"SSSP", "[{call: NodeStageVolume, count: 1..2}, NodePublishVolume]", true, &calls.Gap{Pattern: 1, After: 1}},
		"at least so many":                {"SSSP", "[{call: NodeStageVolume, count: 2..}, NodePublishVolume]", true, nil},
		"none of a range":                 {"P", "[{call: NodeStageVolume, count: {max: 3}}, NodePublishVolume]", true, nil},
		"failures, then success":          {"ssSP", "[{call: NodeStageVolume, code: Internal, count: 2}, {call: NodeStageVolume, code: OK}, NodePublishVolume]", true, nil},
		"a wildcard":                      {"SPU", "[{call: 'Node*', count: 3}]", true, nil},
		"the shortest way is not the one": {"SPSU", "[NodeStageVolume, NodeUnpublishVolume]", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			all := made(c.made)
			wanted := calls.Wanted{Patterns: patterns(t, c.wanted), Exact: c.exact}
			assert.Equal(t, c.gap, wanted.Match(all, calls.NewNames()))
		})
	}
}

func TestCapabilityCallsCountOnlyIfAPatternNamesThem(t *testing.T) {
	all := made("GSGP")
	assert.Len(t, calls.Relevant(all, patterns(t, "[NodeStageVolume, '*']")), 2)
	assert.Len(t, calls.Relevant(all, patterns(t, "[NodeGetCapabilities]")), 4)
}

func TestAMismatchNamesTheDifference(t *testing.T) {
	e := trace.Entry{
		Kind: trace.Call, Actor: "kubelet", Node: "node-a", Driver: "d", Method: "Node/NodePublishVolume", Code: "Internal",
		Message: "no space left", Request: &csi.NodePublishVolumeRequest{VolumeId: "v", Readonly: true},
	}.Event()
	for pattern, want := range map[string]string{
		`{call: NodePublishVolume, node: node-a, driver: d, from: kube*, volume: v, code: Internal, message: "*space*", request: {readonly: true}}`: "",
		`{call: NodeStageVolume}`:                               "another method",
		`{call: "Node*", node: node-b}`:                         "node node-a",
		`{call: "Node*", driver: e}`:                            "driver d",
		`{call: "Node*", from: csi-attacher}`:                   "from kubelet",
		`{call: "Node*", volume: w}`:                            "volume vol-0001",
		`{call: "Node*", code: OK}`:                             "code Internal",
		`{call: "Node*", message: x}`:                           "message no space left",
		`{call: NodePublishVolume, request: {readonly: false}}`: "request.readonly is true, not false",
	} {
		names := calls.NewNames()
		names.Learn(e)
		assert.Equal(t, want, patterns(t, "["+pattern+"]")[0].Mismatch(e, names), pattern)
	}
}

// Drivers choose their ids, so the list of calls must not depend on them.
func TestTheSequenceNamesVolumesByTheirClaims(t *testing.T) {
	first := calls.Sequence(lifecycle("8f1b", "uid-1"))
	assert.Equal(t, first, calls.Sequence(lifecycle("0c77", "uid-2")))
	assert.Equal(t, strings.TrimPrefix(`
     0.000s  csi-provisioner  -       CreateVolume     data      OK                   bytes=1024 SINGLE_NODE_WRITER
     1.000s  kubelet          node-a  NodeStageVolume  data      OK                   MULTI_NODE_READER_ONLY block
     2.500s  kubelet          node-a  NodeStageVolume  vol-0001  Internal after 1.5s  UNKNOWN
     3.000s  kubelet          node-a  NodeStageVolume  data      in flight
`, "\n"), first)
}

func lifecycle(id, uid string) []*trace.Event {
	call := func(at time.Duration, actor, node, method string, request, response proto.Message) *trace.Event {
		return trace.Entry{At: at, Kind: trace.Call, Actor: actor, Node: node, Method: method, Request: request, Response: response}.Event()
	}
	claim := &corev1.PersistentVolumeClaim{}
	claim.Namespace, claim.Name, claim.UID = metav1.NamespaceDefault, "data", types.UID(uid)
	pv := "pvc-" + string(claim.UID)
	mode := func(m csi.VolumeCapability_AccessMode_Mode) *csi.VolumeCapability {
		return &csi.VolumeCapability{AccessMode: &csi.VolumeCapability_AccessMode{Mode: m}}
	}
	block := mode(csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY)
	block.AccessType = &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}
	failed := call(2500*time.Millisecond, "kubelet", "node-a", "Node/NodeStageVolume",
		&csi.NodeStageVolumeRequest{VolumeId: "other-" + id, VolumeCapability: mode(0)}, nil)
	failed.Code, failed.Took = "Internal", 1500*time.Millisecond
	return []*trace.Event{
		trace.Entry{Kind: trace.API, Change: "ADDED", Resource: "persistentvolumeclaims", Name: "default/data", New: claim}.Event(),
		call(0, "csi-provisioner", "", "Controller/ControllerGetCapabilities", &csi.ControllerGetCapabilitiesRequest{}, nil),
		call(0, "csi-provisioner", "", "Controller/CreateVolume", &csi.CreateVolumeRequest{
			Name: pv, CapacityRange: &csi.CapacityRange{RequiredBytes: 1024},
			VolumeCapabilities: []*csi.VolumeCapability{mode(csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER)},
		}, &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: id + uid}}),
		call(time.Second, "kubelet", "node-a", "Node/NodeStageVolume",
			&csi.NodeStageVolumeRequest{VolumeId: id + uid, VolumeCapability: block}, &csi.NodeStageVolumeResponse{}),
		failed,
		call(3*time.Second, "kubelet", "node-a", "Node/NodeStageVolume", &csi.NodeStageVolumeRequest{VolumeId: id + uid}, nil),
	}
}
