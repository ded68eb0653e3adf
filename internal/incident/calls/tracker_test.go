package calls_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident/calls"
	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/incident/messages"
)

// collector follows the calls of a program.
type collector struct {
	t       *testing.T
	table   *messages.Table
	tracker calls.Tracker
	found   []string
}

func (c *collector) Record(r *lines.Record) error {
	f, ok := c.table.Match(r.Message, r.Values)
	require.True(c.t, ok, r.Text)
	switch {
	case f.Means.IsConnection():
		done, _ := c.tracker.Connection(r, f)
		c.add(done)
	case f.Means.IsCall():
		c.add(c.tracker.Take(r, f))
	case c.table.IsDriver:
		c.add(c.tracker.Refusal(r, f))
	default:
		c.add(c.tracker.Operation(r, f))
	}
	return nil
}

func (c *collector) add(all []*calls.Call) {
	for _, call := range all {
		took := "open"
		if call.IsAnswered {
			took = call.End.Sub(call.Begin).String()
		}
		text := fmt.Sprintf("%s %s %s req=%v resp=%v", call.Method, strings.TrimSpace(call.Code+" "+call.Error), took, call.Request, call.Answer)
		if call.Uncertain != "" {
			text += " uncertain"
		}
		c.found = append(c.found, text)
	}
}

func (c *collector) Objects(*lines.Source, lines.Form, int, io.Reader) (io.Reader, error) {
	return nil, nil
}

// Given the lines of a program, then the calls are found with request, answer, error and duration.
func TestCallsAreFoundInLines(t *testing.T) {
	for _, c := range []struct {
		name, program, log string
		want               []string
	}{
		{"csi-lib-utils v0.23, an error while the answer before is fresh", "csi-snapshotter", `
00.100 "GRPC call" method="/csi.v1.Identity/Probe" request="{}"
00.101 "GRPC response" response="{\"ready\":{\"value\":true}}" err=null
00.102 "GRPC call" method="/csi.v1.Controller/CreateSnapshot" request="{\"name\":\"s\"}"
00.103 "GRPC response" response="{}" err="rpc error: code = Internal desc = no"
01.100 "GRPC call" method="/csi.v1.Controller/CreateSnapshot" request="{\"name\":\"s\"}"
01.101 "GRPC response" response="{\"snapshot\":{\"creation_time\":{\"nanos\":5,\"seconds\":1795968830},\"snapshot_id\":\"s-1\"}}" err=null`, []string{
			"Controller/CreateSnapshot Internal no 1ms req=map[name:s] resp=map[]",
			"Identity/Probe  1ms req=map[] resp=map[ready:true]",
			"Controller/CreateSnapshot  1ms req=map[name:s] resp=map[snapshot:map[creation_time:2026-11-29T16:13:50.000000005Z snapshot_id:s-1]]",
		}},
		{"four lines a call", "csi-attacher", `
00.000 GRPC call: /csi.v1.Controller/ControllerPublishVolume
00.000 GRPC request: {"node_id":"n1","secrets":"***stripped***","volume_id":"v1"}
01.500 GRPC response: {"publish_context":{"device":"x"}}
01.500 GRPC error: <nil>
02.000 GRPC call: /csi.v1.Controller/ControllerPublishVolume
02.000 GRPC request: {"node_id":"n1","volume_id":"v2"}
12.000 GRPC response: {}
12.000 GRPC error: rpc error: code = DeadlineExceeded desc = too late`,
			[]string{
				"Controller/ControllerPublishVolume  1.5s req=map[node_id:n1 secrets:map[?:***redacted***] volume_id:v1] resp=map[publish_context:map[device:x]]",
				"Controller/ControllerPublishVolume DeadlineExceeded too late 10s req=map[node_id:n1 volume_id:v2] resp=map[]",
			}},
		{"the request beside the method", "zfs-localpv", `
00.000 GRPC call: /csi.v1.Node/NodeUnpublishVolume requests {"target_path":"/p","volume_id":"v1"}
00.003 GRPC error: rpc error: code = Internal desc = input/output error
00.600 GRPC call: /csi.v1.Node/NodeUnpublishVolume requests {"target_path":"/p","volume_id":"v1"}
00.700 GRPC response: {}`,
			[]string{
				"Node/NodeUnpublishVolume Internal input/output error 3ms req=map[target_path:/p volume_id:v1] resp=map[]",
				"Node/NodeUnpublishVolume  100ms req=map[target_path:/p volume_id:v1] resp=map[]",
			}},
		{"requests without quotes", "jiva-csi", `
00.000 Req 5a2f: /csi.v1.Controller/ControllerPublishVolume {node_id:n1,volume_capability:{AccessType:{Mount:{fs_type:ext4}},access_mode:{mode:1}},volume_id:v1}
00.100 Req 77ab: /csi.v1.Node/NodePublishVolume {target_path:/p,volume_id:v2}
00.200 Resp 5a2f: {}
00.300 GRPC error: rpc error: code = Internal desc = no target`,
			[]string{
				"Controller/ControllerPublishVolume  200ms req=map[node_id:n1 volume_capability:map[access_mode:map[mode:SINGLE_NODE_WRITER] mount:map[fs_type:ext4]] volume_id:v1] resp=map[]",
				"Node/NodePublishVolume Internal no target 200ms req=map[target_path:/p volume_id:v2] resp=map[]",
			}},
		{"two calls at once: the answer's form decides", "csi-provisioner", `
00.000 GRPC call: /csi.v1.Controller/CreateVolume
00.000 GRPC request: {"name":"pvc-1"}
00.100 GRPC call: /csi.v1.Controller/DeleteVolume
00.100 GRPC request: {"volume_id":"v9"}
01.000 GRPC response: {"volume":{"capacity_bytes":1024,"volume_id":"v1"}}
01.000 GRPC error: <nil>
05.000 GRPC response: {}
05.000 GRPC error: <nil>`,
			[]string{
				"Controller/CreateVolume  1s req=map[name:pvc-1] resp=map[volume:map[capacity_bytes:1024 volume_id:v1]]",
				"Controller/DeleteVolume  4.9s req=map[volume_id:v9] resp=map[]",
			}},
		{"pairs of the logger", "csi-attacher", `
00.000 "GRPC call" VolumeAttachment="csi-1" method="/csi.v1.Controller/ControllerUnpublishVolume" request="{\"volume_id\":\"v1\"}"
00.100 "GRPC call" VolumeAttachment="csi-2" method="/csi.v1.Controller/ControllerUnpublishVolume" request="{\"volume_id\":\"v2\"}"
01.000 "GRPC response" VolumeAttachment="csi-2" response="{}" err="rpc error: code = Internal desc = busy"
02.000 "GRPC response" VolumeAttachment="csi-1" response="{}" err=null`,
			[]string{
				"Controller/ControllerUnpublishVolume Internal busy 900ms req=map[volume_id:v2] resp=map[]",
				"Controller/ControllerUnpublishVolume  2s req=map[volume_id:v1] resp=map[]",
			}},
		{"ids of ceph-csi", "ceph-csi", `
00.000 ID: 1 Req-ID: v1 GRPC call: /csi.v1.Node/NodeUnpublishVolume
00.000 ID: 1 Req-ID: v1 GRPC request: {"target_path":"/a","volume_id":"v1"}
00.100 ID: 2 Req-ID: v2 GRPC call: /csi.v1.Node/NodeUnpublishVolume
00.100 ID: 2 Req-ID: v2 GRPC request: {"target_path":"/b","volume_id":"v2"}
01.000 ID: 2 Req-ID: v2 GRPC error: rpc error: code = Aborted desc = an operation already exists
02.000 ID: 1 Req-ID: v1 GRPC response: {}`,
			[]string{
				"Node/NodeUnpublishVolume Aborted an operation already exists 900ms req=map[target_path:/b volume_id:v2] resp=map[]",
				"Node/NodeUnpublishVolume  2s req=map[target_path:/a volume_id:v1] resp=map[]",
			}},
		{"the error stands before the answer", "csi-driver-host-path", `
00.000 GRPC call: /csi.v1.Node/NodeStageVolume
00.000 GRPC request: {"volume_id":"v1"}
01.000 GRPC error: rpc error: code = Internal desc = no
01.000 GRPC response: null
02.000 GRPC call: /csi.v1.Node/NodeStageVolume
02.000 GRPC request: {"volume_id":"v1"}`,
			[]string{
				"Node/NodeStageVolume Internal no 1s req=map[volume_id:v1] resp=map[]",
				"Node/NodeStageVolume  open req=map[volume_id:v1] resp=map[]",
			}},
		{"nothing but order", "csi-driver-host-path", `
00.000 GRPC call: /csi.v1.Node/NodeStageVolume
00.000 GRPC request: {"volume_id":"v1"}
00.100 GRPC call: /csi.v1.Node/NodeStageVolume
00.100 GRPC request: {"volume_id":"v2"}
02.000 GRPC response: {}`,
			[]string{
				"Node/NodeStageVolume  1.9s req=map[volume_id:v2] resp=map[] uncertain",
				"Node/NodeStageVolume  open req=map[volume_id:v1] resp=map[]",
			}},
		{"a whole call decides", "csi-driver-host-path", `
00.000 GRPC call: /csi.v1.Node/NodeStageVolume
00.000 GRPC request: {"volume_id":"v1"}
00.100 GRPC call: /csi.v1.Identity/Probe
00.100 GRPC request: {}
02.000 GRPC response: {}
02.000 gRPCCall: {"Method":"/csi.v1.Node/NodeStageVolume","Request":{"volume_id":"v1"},"Response":{},"Error":"","FullError":null}`,
			[]string{
				"Node/NodeStageVolume  2s req=map[volume_id:v1] resp=map[]",
				"Identity/Probe  open req=map[] resp=map[]",
			}},
		{"a value of another version", "csi-driver-host-path", `
00.000 GRPC call: /csi.v1.Node/NodeGetCapabilities
00.000 GRPC request: {}
00.010 GRPC response: {"capabilities":[{"rpc":{"type":"OF_THE_FUTURE"}}]}`,
			[]string{"Node/NodeGetCapabilities  10ms req=map[] resp=map[capabilities:[map[rpc:map[]]]]"}},
		{"the text form of requests", "aws-ebs-csi-driver", `
00.000 "NodeUnstageVolume: called" args="volume_id:\"vol-1\" staging_target_path:\"/s\""
01.000 "GRPC error" err="rpc error: code = Internal desc = busy"`,
			[]string{"Node/NodeUnstageVolume Internal busy 1s req=map[staging_target_path:/s volume_id:vol-1] resp=map[]"}},
		{"methods in the answer", "gcp-compute-persistent-disk-csi-driver", `
00.000 /csi.v1.Controller/ControllerPublishVolume called with request: volume_id:"d1" node_id:"n1"
03.000 /csi.v1.Controller/ControllerPublishVolume returned with error: rpc error: code = Unavailable desc = quota`,
			[]string{"Controller/ControllerPublishVolume Unavailable quota 3s req=map[node_id:n1 volume_id:d1] resp=map[]"}},
		{"the kubelet", "kubelet", `
00.000 "kubernetes.io/csi: calling NodeStageVolume rpc" volID="v1" stagingTargetPath="/s/v1"
01.000 kubernetes.io/csi: attacher.MountDevice successfully requested NodeStageVolume [/s/v1]
02.000 "kubernetes.io/csi: calling NodePublishVolume rpc" volID="v1" targetPath="/t/v1"
02.500 Operation for "{volumeName:kubernetes.io/csi/mock.csi^v1 podName:u1 nodeName:}" failed. No retries permitted until 2026-11-28 12:00:03 +0000 UTC m=+1 (durationBeforeRetry 500ms). Error: MountVolume.SetUp failed for volume "pvc-1" (UniqueName: "kubernetes.io/csi/mock.csi^v1") pod "web" (UID: "u1") : rpc error: code = Internal desc = no
03.000 "kubernetes.io/csi: calling NodePublishVolume rpc" volID="v1" targetPath="/t/v1"
04.000 kubernetes.io/csi: mounter.SetUp successfully requested NodePublish [/t/v1]`,
			[]string{
				"Node/NodeStageVolume  1s req=map[staging_target_path:/s/v1 volume_id:v1] resp=map[]",
				"Node/NodePublishVolume Internal no 500ms req=map[target_path:/t/v1 volume_id:v1] resp=map[]",
				"Node/NodePublishVolume  1s req=map[target_path:/t/v1 volume_id:v1] resp=map[]",
			}},
		{"the kubelet, with its connections", "kubelet", `
00.000 "kubernetes.io/csi: calling NodeStageVolume rpc" volID="v1" stagingTargetPath="/s/v1"
00.001 kubernetes.io/csi: calling NodeGetCapabilities rpc to determine if the node service has SINGLE_NODE_MULTI_WRITER capability
00.002 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
00.003 "[core] [Channel #5] Channel created for target \"/csi.sock\"\n"
00.010 "[core] [Channel #5] Channel Connectivity change to SHUTDOWN\n"
00.012 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
00.012 "[core] [Channel #7] Channel created for target \"/csi.sock\"\n"
00.512 "[core] [Channel #7] Channel Connectivity change to SHUTDOWN\n"
00.700 kubernetes.io/csi: attacher.MountDevice successfully requested NodeStageVolume [/s/v1]`,
			[]string{
				"Node/NodeGetCapabilities  8ms req=map[] resp=map[]",
				"Node/NodeStageVolume  500ms req=map[staging_target_path:/s/v1 volume_id:v1] resp=map[]",
			}},
		{"calls of the kubelet that begin at once", "kubelet", `
00.000 "kubernetes.io/csi: calling NodeUnpublishVolume rpc" volID="v1" targetPath="/var/lib/kubelet/pods/u1/v1"
00.000 "kubernetes.io/csi: calling NodeUnpublishVolume rpc" volID="v2" targetPath="/var/lib/kubelet/pods/u2/v2"
00.000 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
00.000 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
00.000 "[core] [Channel #5] Channel created for target \"/csi.sock\"\n"
00.000 "[core] [Channel #6] Channel created for target \"/csi.sock\"\n"
00.500 "[core] [Channel #6] Channel Connectivity change to SHUTDOWN\n"
00.501 kubernetes.io/csi: Unmounter.TearDownAt successfully unmounted dir [/var/lib/kubelet/pods/u1/v1]
03.000 "[core] [Channel #5] Channel Connectivity change to SHUTDOWN\n"
03.001 UnmountVolume.TearDown failed for volume "" (UniqueName: "kubernetes.io/csi/mock.csi^v2") pod "u2" (UID: "u2") : rpc error: code = Internal desc = busy`,
			[]string{
				"Node/NodeUnpublishVolume  500ms req=map[target_path:/var/lib/kubelet/pods/u1/v1 volume_id:v1] resp=map[]",
				"Node/NodeUnpublishVolume Internal busy 3s req=map[target_path:/var/lib/kubelet/pods/u2/v2 volume_id:v2] resp=map[]",
			}},
		{"an error of a call that the kubelet makes before another one", "kubelet", `
00.000 "kubernetes.io/csi: calling NodePublishVolume rpc" volID="v1" targetPath="/t/v1"
00.000 kubernetes.io/csi: calling NodeGetCapabilities rpc to determine if the node service has SINGLE_NODE_MULTI_WRITER capability
00.000 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
00.000 "[core] [Channel #5] Channel created for target \"/csi.sock\"\n"
00.500 "[core] [Channel #5] Channel Connectivity change to SHUTDOWN\n"
00.501 Operation for "{volumeName:kubernetes.io/csi/mock.csi^v1 podName:u1 nodeName:}" failed. No retries permitted until 2026-11-28 12:00:03 +0000 UTC m=+1 (durationBeforeRetry 500ms). Error: MountVolume.SetUp failed for volume "pvc-1" (UniqueName: "kubernetes.io/csi/mock.csi^v1") pod "web" (UID: "u1") : rpc error: code = Unavailable desc = no
00.600 "kubernetes.io/csi: calling NodeGetInfo rpc"
00.600 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
00.600 "[core] [Channel #6] Channel created for target \"/csi.sock\"\n"
00.700 "[core] [Channel #6] Channel Connectivity change to SHUTDOWN\n"
00.701 "Error calling CSI NodeGetInfo()" err="rpc error: code = Internal desc = no node"`,
			[]string{
				"Node/NodeGetCapabilities Unavailable no 500ms req=map[] resp=map[]",
				"Node/NodeGetInfo Internal no node 100ms req=map[] resp=map[]",
			}},
		{"expansions by the kubelet", "kubelet", `
00.000 kubernetes.io/csi: Expander.NodeExpand(/s/v1)
01.000 kubernetes.io/csi: Expander.NodeExpand(/s/v2)
01.001 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
01.001 "[core] [Channel #9] Channel created for target \"/csi.sock\"\n"
01.301 "[core] [Channel #9] Channel Connectivity change to SHUTDOWN\n"
01.302 MountVolume.NodeExpandVolume succeeded for volume "pvc-2" (UniqueName: "kubernetes.io/csi/mock.csi^v2") pod "web" (UID: "u1") node-a`,
			[]string{"Node/NodeExpandVolume  300ms req=map[volume_id:v2 volume_path:/s/v2] resp=map[]"}},
		{"the kubelet with -v=4", "kubelet", `
00.000 kubernetes.io/csi: calling NodeGetCapabilities rpc to determine if the node service has STAGE_UNSTAGE_VOLUME capability
00.000 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
00.020 "kubernetes.io/csi: calling NodeUnstageVolume rpc" volID="v1" stagingTargetPath="/s/v1"
00.020 "kubernetes.io/csi: creating new gRPC connection" protocol="unix" endpoint="/csi.sock"
00.120 kubernetes.io/csi: attacher.UnmountDevice successfully requested NodeUnStageVolume [/s/v1]`,
			[]string{
				"Node/NodeGetCapabilities  20ms req=map[] resp=map[]",
				"Node/NodeUnstageVolume  100ms req=map[staging_target_path:/s/v1 volume_id:v1] resp=map[]",
			}},
		{"the node plugin of mayastor", "mayastor-csi-node", `
00.000 "[ CSI ] Node Stage Volume Request started" volume.uuid="v1"
00.100 "[ CSI ] Node Stage Volume Request started" volume.uuid="v2"
01.000 "Volume v1 staged to /s/v1" volume.uuid="v1"
01.100 "[ CSI ] Node Stage Volume Request completed successfully after 1.1s" volume.uuid="v1"
02.000 "Failed to stage volume v2: no device" volume.uuid="v2"
02.100 "node_stage_volume: error: status: Internal, message: \"Failed to stage volume v2: no device\", details: [], metadata: MetadataMap { headers: {} }" volume.uuid="v2"`,
			[]string{
				"Node/NodeStageVolume  1.1s req=map[volume_id:v1] resp=map[]",
				"Node/NodeStageVolume Internal Failed to stage volume v2: no device 2s req=map[volume_id:v2] resp=map[]",
			}},
		{"the controller of mayastor", "mayastor-csi-controller", `
00.000 "[ CSI ] Create Volume Request started"
01.000 "create_volume: error: status: ResourceExhausted, message: \"no pool\", details: []" volume.uuid="v1"
02.000 "[ CSI ] Publish Volume Request started" volume.uuid="v2"
02.300 "[ CSI ] Publish Volume Request completed successfully after 300ms" volume.uuid="v2"
03.000 "[ CSI ] Unpublish Volume Request started" volume.uuid="v2"`,
			[]string{
				"Controller/CreateVolume ResourceExhausted no pool 1s req=map[] resp=map[]",
				"Controller/ControllerPublishVolume  300ms req=map[volume_id:v2] resp=map[]",
				"Controller/ControllerUnpublishVolume  open req=map[volume_id:v2] resp=map[]",
			}},
		{"democratic-csi", "democratic-csi", `
00.000 new request - driver: FreeNASSshDriver method: NodeStageVolume call: {"_events":{},"request":{"volume_id":"v1"}}
03.000 handler error - driver: FreeNASSshDriver method: NodeStageVolume error: {"name":"GrpcError","code":10,"message":"operation locked"}`,
			[]string{`Node/NodeStageVolume Aborted operation locked 3s req=map[volume_id:v1] resp=map[]`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, follow(t, c.program, c.log))
		})
	}
}

func follow(t *testing.T, program, log string) []string {
	t.Helper()
	var text strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(log), "\n") {
		second, message, _ := strings.Cut(line, " ")
		fmt.Fprintf(&text, "I1128 12:00:%s000 1 a.go:1] %s\n", second, message)
	}
	c := &collector{t: t, table: messages.Named(program)}
	require.NotNil(t, c.table)
	d := &lines.Reading{Clock: lines.Clock{Until: time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC)}, Stdin: strings.NewReader(text.String()), To: c}
	require.NoError(t, d.Paths([]string{"-"}))
	c.add(c.tracker.End())
	return c.found
}
