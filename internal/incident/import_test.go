package incident_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident"
	"github.com/csisim/csisim/internal/world/trace"
)

var until = time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)

// Given logs, when the import is interrupted, then it stops and returns that error.
func TestAnInterruptStopsAnImport(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	logs := readerFunc(func(to []byte) (int, error) {
		interrupt()
		return copy(to, "I1128 12:00:00.000000       1 a.go:1] a line\n"), nil
	})
	_, err := incident.Run(ctx, incident.Options{Paths: []string{"-"}, Stdin: logs, Until: until}, io.Discard)
	assert.ErrorIs(t, err, context.Canceled)
}

// readerFunc is an endless reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(to []byte) (int, error) { return f(to) }

// imported imports files with the given names and contents.
func imported(t *testing.T, files map[string]string) ([]trace.Line, *incident.Result) {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for name, content := range files {
		require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	}
	var out bytes.Buffer
	r, err := incident.Run(t.Context(), incident.Options{Paths: []string{"."}, Until: until}, &out)
	require.NoError(t, err)
	var all []trace.Line
	for text := range strings.SplitSeq(strings.TrimSpace(out.String()), "\n") {
		var l trace.Line
		require.NoError(t, json.Unmarshal([]byte(text), &l), text)
		all = append(all, l)
	}
	return all, r
}

func shown(all []trace.Line) (texts []string) {
	for _, l := range all {
		parts := []string{fmt.Sprintf("%d", l.T), string(l.K)}
		for _, part := range []string{l.From, l.Node, l.Ev, l.R, l.Name, l.M, l.Code, l.Src} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		texts = append(texts, strings.Join(parts, " "))
	}
	return texts
}

// Given logs of several programs, objects and Events, then their facts are in one order, each with
// its file and line. Unrecognized lines keep their place.
func TestLogsOfSeveralProgramsBecomeOneTrace(t *testing.T) {
	all, r := imported(t, map[string]string{
		"csi-attacher.log": `I1128 12:00:01.000000       1 connection.go:183] GRPC call: /csi.v1.Controller/ControllerPublishVolume
I1128 12:00:01.000000       1 connection.go:184] GRPC request: {"node_id":"n1","volume_id":"vol-1"}
I1128 12:00:03.000000       1 connection.go:186] GRPC response: {}
I1128 12:00:03.000000       1 connection.go:187] GRPC error: <nil>
`,
		"journal.txt": `Nov 28 12:00:00 node-a kubelet[1]: I1128 12:00:00.500000       1 reconciler_common.go:251] "operationExecutor.VerifyControllerAttachedVolume started for volume \"pvc-1\" (UniqueName: \"kubernetes.io/csi/mock.csi^vol-1\") pod \"web\" (UID: \"u1\") " pod="default/web"
Nov 28 12:00:02 node-a systemd[1]: Something else.
`,
		"pods.json": `{"apiVersion":"v1","kind":"List","items":[
 {"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"default","creationTimestamp":"2026-11-28T11:00:00Z"},"spec":{"nodeName":"node-a"},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-11-28T12:00:00Z"}]}},
 {"apiVersion":"v1","kind":"Event","metadata":{"name":"web.1","namespace":"default"},"involvedObject":{"kind":"Pod","name":"web","namespace":"default"},"reason":"FailedAttachVolume","message":"no","type":"Warning","count":3,"firstTimestamp":"2026-11-28T12:00:01Z","lastTimestamp":"2026-11-28T12:00:04Z","source":{"component":"attachdetach-controller"}}]}
`,
	})
	assert.Equal(t, []string{
		"0 api INIT pods default/web pods.json:1",
		"0 api MODIFIED pods default/web pods.json:1",
		"500 log kubelet node-a attachment awaited operationExecutor.VerifyControllerAttachedVolume started for volume \"…\" (UniqueName: \"…\") pod \"…\" (UID: \"…\")… journal.txt:1",
		"1000 event attachdetach-controller Warning Pod/web FailedAttachVolume pods.json:1",
		"1000 csi csi-attacher Controller/ControllerPublishVolume csi-attacher.log:1, csi-attacher.log:2, csi-attacher.log:3, csi-attacher.log:4",
		"2000 log systemd node-a journal.txt:2",
		"4000 event attachdetach-controller Warning Pod/web FailedAttachVolume pods.json:1",
		"4000 api MODIFIED pods default/web pods.json:1",
	}, shown(all))
	assert.Equal(t, "2026-11-28T12:00:01.000Z", all[4].Real)
	assert.Equal(t, int64(2000), all[4].Ms)
	assert.Equal(t, 1, r.Calls)
	assert.Equal(t, 1, r.Objects)
}

// Given a short file with lines of several programs and a described pod, as people paste them, then
// each line is recognized.
func TestPastedLines(t *testing.T) {
	all, _ := imported(t, map[string]string{"paste.txt": `Name:         web
Namespace:    shop
Events:
  Type     Reason              Age                  From                     Message
  ----     ------              ----                 ----                     -------
  Normal   Scheduled           10m                  default-scheduler        Successfully assigned shop/web to node-b
  Warning  FailedAttachVolume  2m (x3 over 10m)     attachdetach-controller  Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) old
E1128 23:58:00.000000       1 csi_handler.go:246] Error processing "csi-1": failed to attach: rpc error: code = Internal desc = busy
E1128 23:59:00.000000    1234 nestedpendingoperations.go:348] Operation for "{volumeName:kubernetes.io/csi/mock.csi^vol-1 podName: nodeName:}" failed. No retries permitted until 2026-11-28 23:59:02 +0000 UTC m=+1 (durationBeforeRetry 2s). Error: MountVolume.MountDevice failed for volume "pvc-1" (UniqueName: "kubernetes.io/csi/mock.csi^vol-1") pod "web" (UID: "u1") : rpc error: code = Internal desc = bad
`})
	var facts []string
	for _, l := range all {
		if l.Ev != "" || l.K == trace.KubeEvent {
			facts = append(facts, strings.TrimSpace(strings.Join([]string{string(l.K), l.From, l.Ev, l.Name, strings.Join(strings.Fields(l.M)[:1], ""), l.Code}, " ")))
		}
	}
	assert.Equal(t, []string{
		"event default-scheduler  Pod/shop/web Scheduled",
		"event attachdetach-controller  Pod/shop/web FailedAttachVolume",
		"log csi-attacher attach failed  Error Internal",
		"log kubelet stage failed  MountVolume.MountDevice Internal",
	}, facts)
}

// Given an audit log, then its writes are changes of objects with their users.
func TestAuditLogs(t *testing.T) {
	entry := func(verb, at, object string) string {
		return fmt.Sprintf(`{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":"ResponseComplete","verb":%q,"user":{"username":"system:node:node-a"},"objectRef":{"resource":"persistentvolumeclaims","namespace":"default","name":"data"},"responseStatus":{"code":200},"responseObject":%s,"requestReceivedTimestamp":%q,"stageTimestamp":%q}`+"\n", verb, object, at, at)
	}
	all, _ := imported(t, map[string]string{"audit.log": entry("create", "2026-11-28T12:00:00.000000Z", `{"kind":"PersistentVolumeClaim","metadata":{"name":"data","namespace":"default"},"status":{"phase":"Pending"}}`) +
		entry("patch", "2026-11-28T12:00:01.000000Z", `{"kind":"PersistentVolumeClaim","metadata":{"name":"data","namespace":"default"},"status":{"phase":"Bound"}}`)})
	assert.Equal(t, []string{
		"0 api kubelet/node-a ADDED persistentvolumeclaims default/data audit.log:1",
		"1000 api kubelet/node-a MODIFIED persistentvolumeclaims default/data audit.log:2",
	}, shown(all))
	assert.Equal(t, map[string]any{"status": map[string]any{"phase": "Bound"}}, all[1].Patch)
}

// Given objects of two clusters, and a log of a program without patterns, then one sentence
// describes each problem.
func TestSentencesAboutTheInput(t *testing.T) {
	node := func(uid string) string {
		return `{"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a","uid":"` + uid + `","creationTimestamp":"2026-11-28T10:00:00Z"}}`
	}
	_, r := imported(t, map[string]string{"a.json": node("1"), "b.json": node("2"), "c.json": node("3"), "other.log": "I1128 12:00:00.000000 1 x.go:1] hello\n"})
	var texts []string
	for _, p := range r.Problems {
		texts = append(texts, strings.TrimPrefix(p.File+": "+p.Text, ": "))
	}
	assert.Equal(t, []string{
		"b.json: Node node-a has another uid than in a.json: it was made again, or the logs are of two clusters, which one trace mixes",
		"times without a time zone are read as UTC (1 line): set --time-zone if their clock is another",
		"no pattern recognizes a line of 1 file (of other.log first): the lines stay in their place",
	}, texts)
}

// Given a container of a driver without a table, and a journal of other programs, then the calls of
// the driver are found, and no line of the journal is mistaken for a call.
func TestDriversWithoutATable(t *testing.T) {
	all, r := imported(t, map[string]string{
		"nfs.log": `[pod/csi-nfs-node-x/nfs] I1128 12:00:00.000000       1 utils.go:110] GRPC call: /csi.v1.Node/NodeUnpublishVolume
[pod/csi-nfs-node-x/nfs] I1128 12:00:00.000100       1 utils.go:111] GRPC request: {"target_path":"/t","volume_id":"v1"}
[pod/csi-nfs-node-x/nfs] E1128 12:00:10.000000       1 utils.go:114] GRPC error: rpc error: code = Internal desc = busy
`,
		"journal": "Nov 28 12:00:00 node-a someprogram[1]: NodeStageVolume: req: {}\nNov 28 12:00:00 node-a someprogram[1]: Attached\n",
	})
	assert.Equal(t, []string{
		"0 log someprogram node-a journal:1",
		"0 log someprogram node-a journal:2",
		"0 csi kubelet Node/NodeUnpublishVolume Internal nfs.log:1, nfs.log:2, nfs.log:3",
	}, shown(all))
	assert.Equal(t, map[string]int{"nfs": 3}, r.Programs)
}

// Given the log of a container that ends with a call, then the call belongs to the container's
// program.
func TestTheLastCallOfALog(t *testing.T) {
	all, _ := imported(t, map[string]string{"pods.log": `[pod/csi-controller-x/csi-provisioner] I1128 12:00:00.000000       1 connection.go:264] "GRPC call" method="/csi.v1.Controller/DeleteVolume" request="{\"volume_id\":\"v1\"}"
[pod/csi-controller-x/csi-provisioner] I1128 12:00:00.003000       1 connection.go:270] "GRPC response" response="{}" err=null
`})
	assert.Equal(t, []string{"0 csi csi-provisioner Controller/DeleteVolume pods.log:1, pods.log:2"}, shown(all))
}

// Given a journal in which the kubelet is killed during a call and restarts, then the call has no
// answer, and the next kubelet's call has its own.
func TestAKubeletThatStartsAgain(t *testing.T) {
	stage := `"kubernetes.io/csi: calling NodeStageVolume rpc" volID="v1" stagingTargetPath="/s/v1"`
	all, _ := imported(t, map[string]string{"kubelet.log": "I1128 12:00:00.000000 246 csi_client.go:397] " + stage + `
I1128 12:00:05.000000 999 kubelet.go:2622] "Starting kubelet main sync loop"
I1128 12:00:10.000000 999 csi_client.go:397] ` + stage + `
I1128 12:00:10.200000 999 csi_attacher.go:409] kubernetes.io/csi: attacher.MountDevice successfully requested NodeStageVolume [/s/v1]
I1128 12:00:10.300000 999 operation_generator.go:558] "MountVolume.MountDevice succeeded for volume \"pvc-1\" (UniqueName: \"kubernetes.io/csi/mock.csi^v1\") pod \"web\" (UID: \"u1\") device mount path \"/s/v1\"" pod="default/web"
`})
	var calls []string
	for _, l := range all {
		if l.K == trace.Call {
			calls = append(calls, fmt.Sprintf("%d %s %v %d", l.T, l.M, l.Resp, l.Ms))
		}
	}
	assert.Equal(t, []string{"0 Node/NodeStageVolume map[] 0", "10000 Node/NodeStageVolume map[] 200"}, calls)
}
