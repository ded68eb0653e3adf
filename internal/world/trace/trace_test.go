package trace_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/trace"
)

// clock is a clock that the test sets.
type clock struct {
	now  time.Duration
	last uint64
}

func (c *clock) Elapsed() time.Duration { return c.now }
func (c *clock) Mark(seq uint64) uint64 { before := c.last; c.last = seq; return before }

func fields(t *testing.T, e *trace.Event) map[string]any {
	t.Helper()
	line, err := e.Line()
	require.NoError(t, err)
	text, err := json.Marshal(line)
	require.NoError(t, err)
	got := map[string]any{}
	require.NoError(t, json.Unmarshal(text, &got))
	return got
}

func TestACallResemblesTheRecordedOnes(t *testing.T) {
	got := fields(t, trace.Entry{
		At: 1500 * time.Millisecond, Kind: trace.Call, Actor: "csi-provisioner", Method: "Controller/CreateVolume",
		Request: &csi.CreateVolumeRequest{
			Name: "pvc-1", CapacityRange: &csi.CapacityRange{RequiredBytes: 16777216},
			VolumeCapabilities: []*csi.VolumeCapability{{
				AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
				AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER},
			}},
		},
		Response: &csi.CreateVolumeResponse{},
	}.Event())
	want := map[string]any{
		"t": 1500., "k": "csi", "from": "csi-provisioner", "m": "Controller/CreateVolume", "resp": map[string]any{},
		"req": map[string]any{
			"name": "pvc-1", "capacity_range": map[string]any{"required_bytes": "16777216"},
			"volume_capabilities": []any{map[string]any{"access_mode": map[string]any{"mode": "SINGLE_NODE_MULTI_WRITER"}, "mount": map[string]any{}}},
		},
	}
	assert.Empty(t, cmp.Diff(want, got))
}

func TestSecretsAndTokensAreRedacted(t *testing.T) {
	got := fields(t, trace.Entry{Kind: trace.Call, Method: "Node/NodePublishVolume", Request: &csi.NodePublishVolumeRequest{
		Secrets: map[string]string{"password": "hunter2"},
		VolumeContext: map[string]string{
			"plain": "shown",
			"csi.storage.k8s.io/serviceAccount.tokens": `{"aud1":{"token":"eyJ","expirationTimestamp":"2026-11-20T22:25:59Z"}}`,
		},
	}}.Event())
	req := got["req"].(map[string]any)
	assert.Equal(t, map[string]any{"password": trace.Redacted}, req["secrets"])
	attributes := req["volume_context"].(map[string]any)
	assert.Equal(t, "shown", attributes["plain"])
	assert.JSONEq(t, `{"aud1":{"token":"***redacted***","expirationTimestamp":"2026-11-20T22:25:59Z"}}`,
		attributes["csi.storage.k8s.io/serviceAccount.tokens"].(string))

	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "s"}, Data: map[string][]byte{"key": []byte("hunter2")}, StringData: map[string]string{"k": "hunter2"}}
	text, err := json.Marshal(fields(t, trace.Entry{Kind: trace.API, Change: "ADDED", Resource: "secrets", New: secret}.Event()))
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
	assert.NotContains(t, string(text), "aHVudGVyMg", "nor its base64 form")
}

func TestRedactingLeavesTheRequestItselfAlone(t *testing.T) {
	request := &csi.NodeStageVolumeRequest{Secrets: map[string]string{"password": "hunter2"}}
	fields(t, trace.Entry{Kind: trace.Call, Request: request}.Event())
	assert.Equal(t, "hunter2", request.Secrets["password"])
}

func TestAChangeIsAMergePatchAgainstTheVersionBefore(t *testing.T) {
	before := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", ResourceVersion: "1"}, Status: corev1.NodeStatus{
		VolumesInUse: []corev1.UniqueVolumeName{"v"},
		Conditions:   []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady"}},
	}}
	after := before.DeepCopy()
	after.ResourceVersion = "2"
	after.Status.VolumesInUse = nil
	after.Status.Conditions[0] = corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Reason: "NodeStatusUnknown"}

	got := fields(t, trace.Entry{Kind: trace.API, Change: "MODIFIED", Resource: "nodes", Name: "node-a", Old: before, New: after}.Event())
	assert.Equal(t, map[string]any{"status": map[string]any{"volumesInUse": nil, "Ready": "Unknown NodeStatusUnknown"}}, got["patch"])
}

func TestPodsArePrunedAsInTheRecordedTraces(t *testing.T) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyAlways,
			Containers:    []corev1.Container{{Name: "c", Image: "i", ImagePullPolicy: corev1.PullAlways}},
			Volumes:       []corev1.Volume{{Name: "kube-api-access-xyz"}},
		},
		Status: corev1.PodStatus{
			Phase:             corev1.PodPending,
			Conditions:        []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ContainersNotReady", Message: "not yet"}},
			ContainerStatuses: []corev1.ContainerStatus{{RestartCount: 2, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}}},
		},
	}
	got, err := trace.Pruned("pods", pod)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "web"},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "c", "image": "i"}}},
		"status": map[string]any{"phase": "Pending", "container": "waiting ContainerCreating", "restarts": int64(2),
			"conditions": map[string]any{"Ready": "False ContainersNotReady: not yet"}},
	}, got)
}

// When there are many events, they share equal parts, and no event changes.
func TestManyEventsShareTheirSites(t *testing.T) {
	r := trace.NewRecorder(&clock{})
	sites, exchanges := map[*trace.Site]bool{}, map[*trace.Exchange]bool{}
	for i := range 3_000 {
		e := r.Begin(trace.Entry{Kind: trace.Call, Actor: "kubelet", Node: "node-a", Method: "Identity/Probe"})
		e.Code = "Unavailable"
		r.End(e)
		sites[e.Site], exchanges[e.Exchange] = true, true
		assert.Equal(t, trace.Entry{Seq: uint64(i + 1), Cause: e.Cause, Kind: trace.Call, Actor: "kubelet", Node: "node-a", Method: "Identity/Probe", Code: "Unavailable"}.Event(), e)
	}
	assert.Less(t, len(sites), 1_500)
	assert.Less(t, len(exchanges), 1_500)
}

func TestSinksGetACallAfterItsEndAndInOrder(t *testing.T) {
	c := &clock{}
	r := trace.NewRecorder(c)
	var seen []string
	r.To(func(e *trace.Event) { seen = append(seen, e.Method+e.Message) })
	call := r.Begin(trace.Entry{Kind: trace.Call, Method: "NodeStageVolume"})
	c.now = 3 * time.Second
	r.Add(trace.Entry{Kind: trace.Step, Message: "meanwhile"})
	assert.Empty(t, seen)
	r.End(call)
	assert.Equal(t, []string{"NodeStageVolume", "meanwhile"}, seen)
	assert.Equal(t, 3*time.Second, call.Took)
	assert.Equal(t, uint64(1), r.Events()[1].Cause)
}

func TestACallThatNeverEndsIsReported(t *testing.T) {
	r := trace.NewRecorder(&clock{})
	var code string
	r.To(func(e *trace.Event) { code = e.Code })
	r.Begin(trace.Entry{Kind: trace.Call})
	r.Close()
	assert.Equal(t, "Unfinished", code)
}

func TestOldChangesAreDroppedAndCallsAreKept(t *testing.T) {
	r := trace.NewRecorder(&clock{})
	r.KeepChanges = 10
	r.Add(trace.Entry{Kind: trace.Call})
	for range 100 {
		r.Add(trace.Entry{Kind: trace.API})
	}
	assert.LessOrEqual(t, len(r.Events()), 21)
	assert.Equal(t, trace.Call, r.Events()[0].Kind)
	assert.Equal(t, uint64(101), r.Last())
}

// Given a long-lived cluster, then its newest calls and Kubernetes events are kept, and all rare
// events.
func TestOldCallsOfALongLifeAreDropped(t *testing.T) {
	r := trace.NewRecorder(&clock{})
	r.Add(trace.Entry{Kind: trace.Step})
	for range 7 {
		r.Add(trace.Entry{Kind: trace.Call})
	}
	r.LimitCalls(10)
	for range 100 {
		r.End(r.Begin(trace.Entry{Kind: trace.Call}))
		r.Add(trace.Entry{Kind: trace.KubeEvent})
		r.AddChange(trace.Entry{Kind: trace.API})
	}
	kept := map[trace.Kind]int{}
	var calls []uint64
	for _, e := range r.Events() {
		kept[e.Kind]++
		if e.Kind == trace.Call {
			calls = append(calls, e.Seq)
		}
	}
	assert.Equal(t, 1, kept[trace.Step])
	assert.InDelta(t, 11, kept[trace.Call]+kept[trace.KubeEvent], 1)
	assert.Equal(t, 100, kept[trace.API])
	assert.Equal(t, uint64(306), calls[len(calls)-1])
	assert.Equal(t, uint64(308), r.Last())
}

// The choices of an exploring strategy outnumber all other events.
func TestOldChoicesAreDroppedBeforeChanges(t *testing.T) {
	for name, look := range map[string]func(*trace.Recorder){
		"the events are read":     func(r *trace.Recorder) { r.Events() },
		"the events are not read": func(*trace.Recorder) {},
	} {
		t.Run(name, func(t *testing.T) {
			r := trace.NewRecorder(&clock{})
			r.KeepChanges = 10
			for i := range 1000 {
				r.AddChoice("", trace.Choice{})
				if i%50 == 0 {
					r.AddChange(trace.Entry{Kind: trace.API, Name: strconv.Itoa(i)})
					r.Add(trace.Entry{Kind: trace.Call})
					look(r)
				}
			}
			kept := map[trace.Kind]int{}
			var changes []string
			var last uint64
			for _, e := range r.Events() {
				assert.Greater(t, e.Seq, last)
				last = e.Seq
				kept[e.Kind]++
				if e.Kind == trace.API {
					changes = append(changes, e.Name)
				}
			}
			assert.Equal(t, 20, kept[trace.Call])
			assert.InDelta(t, 11, kept[trace.ChoiceMade], 1)
			assert.Subset(t, changes, []string{"500", "550", "600", "650", "700", "750", "800", "850", "900", "950"})
		})
	}
}

// A returned event stays unchanged; the memory of all other dropped events is reused.
func TestTheMemoryOfDroppedChangesIsReused(t *testing.T) {
	changes := func(r *trace.Recorder, from, to int) {
		for i := from; i < to; i++ {
			r.AddChange(trace.Entry{Kind: trace.API, Name: strconv.Itoa(i)})
		}
	}
	names := func(events []*trace.Event) (names []string) {
		for _, e := range events {
			names = append(names, e.Name)
		}
		return names
	}
	newest := []string{"90", "91", "92", "93", "94", "95", "96", "97", "98", "99"}
	for name, looks := range map[string]func(*trace.Recorder) []*trace.Event{
		"somebody looks": func(r *trace.Recorder) []*trace.Event { return slices.Clone(r.Events()) },
		"a sink keeps them": func(r *trace.Recorder) (kept []*trace.Event) {
			r.To(func(e *trace.Event) { kept = append(kept, e) })
			changes(r, 100, 110)
			return kept
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := trace.NewRecorder(&clock{})
			r.KeepChanges = 10
			changes(r, 0, 100)
			assert.Subset(t, names(r.Events()), newest)
			kept := looks(r)
			before := names(kept)
			assert.NotEmpty(t, before)
			changes(r, 200, 300)
			assert.Equal(t, before, names(kept))
		})
	}
	r := trace.NewRecorder(&clock{})
	r.KeepChanges = 10
	changes(r, 0, 20)
	assert.Zero(t, testing.AllocsPerRun(100, func() { r.AddChange(trace.Entry{Kind: trace.API}) }))
}

func TestAWrittenTraceIsReadUnchanged(t *testing.T) {
	var out bytes.Buffer
	sink, flush := trace.Writer(&out)
	sink(trace.Entry{Seq: 1, At: time.Second, Kind: trace.Step, Message: "apply"}.Event())
	sink(trace.Entry{Seq: 2, Kind: trace.Call, Code: "Internal", Message: "no", Request: &csi.ProbeRequest{}}.Event())
	require.NoError(t, flush())
	lines, err := trace.Read(&out)
	require.NoError(t, err)
	require.Len(t, lines, 2)
	assert.Equal(t, time.Second, lines[0].At())
	assert.Equal(t, "Internal", lines[1].Code)

	_, err = trace.Read(strings.NewReader("{}\n{broken"))
	assert.ErrorContains(t, err, "trace line 2")
}

func TestRecordedTracesOfARealClusterAreRead(t *testing.T) {
	files, err := filepath.Glob("../../../scenarios/golden/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, name := range files {
		f, err := os.Open(name)
		require.NoError(t, err)
		lines, err := trace.Read(f)
		f.Close()
		require.NoError(t, err, name)
		assert.NotEmpty(t, lines, name)
	}
}

func TestRecordersOfSeveralClustersShareNumbersAndSinks(t *testing.T) {
	run := trace.NewRecorder(&clock{})
	west, east := run.Of("west"), run.Of("east")
	var seen []string
	run.To(func(e *trace.Event) { seen = append(seen, e.Cluster+" "+e.Message) })
	call := west.Begin(trace.Entry{Kind: trace.Call, Message: "call"})
	east.Add(trace.Entry{Kind: trace.Step, Message: "step"})
	run.Add(trace.Entry{Kind: trace.Step, Message: "of both"})
	assert.Empty(t, seen, "the call is open")
	west.End(call)
	assert.Equal(t, []string{"west call", "east step", " of both"}, seen)
	assert.Len(t, west.Events(), 1)
	assert.Len(t, run.Events(), 3)
	for i, e := range run.Events() {
		assert.Equal(t, uint64(i+1), e.Seq)
	}
	assert.Equal(t, "east", fields(t, east.Events()[0])["cluster"])
	assert.NotContains(t, fields(t, run.Events()[2]), "cluster")
}
