package incident_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident"
	"github.com/csisim/csisim/internal/world/trace"
)

// Given -v=5 logs of csi-provisioner 6.4, csi-attacher 4.12, csi-resizer 2.2 and
// csi-driver-host-path from the creation, use, expansion and deletion of a volume. Then each call
// occurs once, with its caller and its volume, and none is uncertain.
func TestLogsOfRealSidecars(t *testing.T) {
	var out bytes.Buffer
	r, err := incident.Run(t.Context(), incident.Options{Paths: []string{"testdata/hostpath"}, Until: until}, &out)
	require.NoError(t, err)
	assert.Zero(t, r.Uncertain)
	assert.Empty(t, r.Skews)
	var calls []string
	for text := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		var l trace.Line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		if l.K != trace.Call || l.Req["volume_id"] == nil && path.Base(l.M) != "CreateVolume" {
			continue
		}
		assert.NotNil(t, l.Resp, "%s is answered", l.M)
		calls = append(calls, fmt.Sprintf("%s %s %s", l.From, l.M, l.Code))
	}
	assert.Equal(t, []string{
		"csi-provisioner Controller/CreateVolume ",
		"csi-attacher Controller/ControllerPublishVolume ",
		"kubelet Node/NodeStageVolume ",
		"kubelet Node/NodePublishVolume ",
		"csi-resizer Controller/ControllerExpandVolume ",
		"kubelet Node/NodeUnpublishVolume ",
		"kubelet Node/NodeUnstageVolume ",
		"csi-attacher Controller/ControllerUnpublishVolume ",
		"csi-provisioner Controller/DeleteVolume ",
	}, calls)
}

// Given logs of a kubelet 1.36, csi-provisioner 6.4, csi-attacher 4.12 and node-driver-registrar
// with -v=5 on a kind cluster. Three pods with a volume each ran side by side, and the driver's pod
// was replaced. Then each call for a volume is there, with its caller, order, answer and duration.
func TestLogsOfARealKubelet(t *testing.T) {
	var out bytes.Buffer
	r, err := incident.Run(t.Context(), incident.Options{Paths: []string{"testdata/kind"}, Until: until}, &out)
	require.NoError(t, err)
	assert.Equal(t, 1, r.Uncertain, "csi-provisioner repeated two DeleteVolume at once, and logs no id of a call")
	calls := map[string][]string{}
	for text := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		var l trace.Line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		volume, _ := l.Req["volume_id"].(string)
		if l.K != trace.Call || volume == "" || path.Base(l.M) == "DeleteVolume" {
			continue
		}
		assert.NotNil(t, l.Resp, "%s is answered", l.M)
		if l.From == "kubelet" {
			assert.Positive(t, l.Ms, l.M)
			assert.Equal(t, "kind-worker", l.Node)
		}
		call := fmt.Sprintf("%s %s", l.From, path.Base(l.M))
		if before := calls[volume]; len(before) == 0 || before[len(before)-1] != call {
			calls[volume] = append(before, call) // the attacher repeats a call
		}
	}
	assert.Len(t, calls, 3)
	for volume, made := range calls {
		assert.Equal(t, []string{
			"csi-attacher ControllerPublishVolume",
			"kubelet NodeStageVolume",
			"kubelet NodePublishVolume",
			"kubelet NodeUnpublishVolume",
			"kubelet NodeUnstageVolume",
			"csi-attacher ControllerUnpublishVolume",
		}, made, volume)
	}
}

// Given a -v=5 log of csi-snapshotter 8.6 from a run against csisim up, in which snapshots and
// groups were created and deleted, and calls failed, took long and overlapped. Then the calls are
// those that a proxy in front of the driver recorded, with their order, codes and durations.
func TestLogsOfARealSnapshotter(t *testing.T) {
	recorded, err := os.Open("testdata/snapshotter-calls.jsonl")
	require.NoError(t, err)
	defer recorded.Close()
	var want []recordedCall
	for decoder := json.NewDecoder(recorded); decoder.More(); {
		var c recordedCall
		require.NoError(t, decoder.Decode(&c))
		want = append(want, c)
	}
	require.Len(t, want, 40)

	var out bytes.Buffer
	r, err := incident.Run(t.Context(), incident.Options{Paths: []string{"testdata/snapshotter"}, Until: until.AddDate(0, 0, 1)}, &out)
	require.NoError(t, err)
	assert.Equal(t, 2, r.Uncertain, "two calls of one method ran side by side, and the log has no id of a call")
	var got []recordedCall
	for text := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		var l trace.Line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		if l.K == trace.Call {
			assert.Equal(t, "csi-snapshotter", l.From, l.M)
			got = append(got, recordedCall{path.Base(l.M), l.Code, l.Ms})
		}
	}
	require.Len(t, got, len(want))
	same := 0
	for i, c := range got {
		if c.Method == want[i].Method && c.Code == want[i].Code && c.Ms >= want[i].Ms && c.Ms <= want[i].Ms+25 {
			same++
		}
	}
	assert.GreaterOrEqual(t, same*100, 95*len(want), "%v\n%v", got, want)
}

// recordedCall is a call in the proxy's record. The log adds the time of the way to the driver.
type recordedCall struct {
	Method string `json:"m"`
	Code   string `json:"code"`
	Ms     int64  `json:"ms"`
}
