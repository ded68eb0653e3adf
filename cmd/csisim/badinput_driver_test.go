package main

import (
	"strings"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

const (
	long  = "20s"   // the start fails for another reason than this timeout
	short = "300ms" // the start fails by this timeout
)

// badDrivers are scenarios with misbehaving drivers.
var badDrivers = []badInput{
	{
		name: "a driver program that is missing", scenario: strings.Replace(clitest.BadDriver("", long), "[baddriver", "[gooddriver", 1),
		code: 3, says: []string{"start driver bad.csi.example.com, controller: program not found: gooddriver is not in PATH, nor beside the program that runs: give its path, or add its directory to PATH"},
	},
	{
		name: "a driver that exits at once", scenario: clitest.BadDriver("exits", long),
		code: 3, says: []string{"start driver bad.csi.example.com, controller: program exited before it answered: exit status 3", "no backend is configured"},
	},
	{
		name: "a driver that never listens", scenario: clitest.BadDriver("never listens", short),
		code: 3, says: []string{"no process listens at the socket: there is no ", "does the command hand {{.Endpoint}} or {{.Socket}} to the driver? (waited 300ms)"},
	},
	{
		name: "a driver that speaks no CSI", scenario: clitest.BadDriver("talks garbage", short),
		code: 3, says: []string{"start driver bad.csi.example.com, controller: the program at the socket does not speak CSI"},
	},
	{
		name: "a driver that accepts and is silent", scenario: clitest.BadDriver("accepts only", short),
		code: 3, says: []string{"the program at the socket does not speak CSI", "no answer to Identity/Probe (waited 300ms)"},
	},
	{
		name: "a driver of another name", scenario: clitest.BadDriver("has another name", long),
		code: 3, says: []string{`another driver answers: it says its name is "other.csi.example.com" and "bad.csi.example.com" is configured: correct one of the two`},
	},
	{
		name: "a socket that is not there", scenario: "cluster: {nodes: 1}\ndrivers: [{name: a.example.com, socket: {node: /nowhere/csi.sock}}]\n",
		code: 3, says: []string{"reach driver a.example.com, controller: stat /nowhere/csi.sock: no such file or directory: start the driver first, or correct the path"},
	},
	{
		name: "a driver that hangs at its start", scenario: clitest.BadDriver("hangs in Probe", short),
		code: 3, says: []string{"no answer to Identity/Probe (waited 300ms)"},
	},
	{
		name: "a driver that hangs when its capabilities are queried", scenario: clitest.BadDriver("hangs in ControllerGetCapabilities", short),
		code: 3, says: []string{"ask driver bad.csi.example.com, controller for its capabilities (ControllerGetCapabilities): no answer within 300ms"},
	},
	{
		name: "a driver that hangs at its registration", scenario: clitest.BadDriver("hangs in NodeGetInfo", long), flags: "--patience 50ms",
		code: 1, says: []string{"driver bad.csi.example.com is not registered on node-a: ", "context deadline exceeded (refused 2 times)", "patience ran out"},
	},
	{
		name: "a driver that hangs in one call, while the run goes on", flags: "--patience 100ms -v",
		scenario: clitest.BadDriver("hangs once in CreateVolume", long) +
			"expect: {calls: [{call: CreateVolume, code: DeadlineExceeded}, {call: CreateVolume, code: OK}]}\n",
		code: 0, says: []string{"patience ran out: Controller/CreateVolume is treated as still running", "✗ DeadlineExceeded after 10 s", "PASS bad"},
	},
	{
		name: "a driver that hangs for ever", scenario: clitest.BadDriver("hangs in CreateVolume", long), flags: "--patience 50ms",
		code: 1, says: []string{
			"Timed out waiting 10 min for pvc data in phase Bound", "patience ran out: Controller/CreateVolume",
			"the last warning was ProvisioningFailed about PersistentVolumeClaim/data: rpc error: code = DeadlineExceeded",
		},
	},
	{
		name: "a volume without an id", scenario: clitest.BadDriver("names no volume", long),
		code: 1, says: []string{"CSI spec violated: CreateVolumeResponse.volume.volume_id is empty: the CSI spec requires it (CreateVolume)"},
	},
	{
		name: "an answer without a volume", scenario: clitest.BadDriver("answers nothing", long),
		code: 1, says: []string{"CSI spec violated: CreateVolumeResponse.volume is empty: the CSI spec requires it (CreateVolume)"},
	},
	{
		name: "a node without an id", scenario: clitest.BadDriver("names no node", long),
		code: 1, says: []string{
			"driver bad.csi.example.com is not registered on node-a: ", "driverNodeID must not be empty",
			"CSI spec violated: NodeGetInfoResponse.node_id is empty: the CSI spec requires it (NodeGetInfo)",
		},
	},
	{
		name: "a volume id that is too long", scenario: clitest.BadDriver("names it at length", long) + clitest.PodStep, namespaces: true, never: "more)",
		code: 1, says: []string{"CSI spec violated: CreateVolumeResponse.volume.volume_id has 140 bytes, the limit is 128"},
	},
	{
		name: "a volume smaller than required", scenario: clitest.Faulty("faulty: [wrong-capacity]"),
		code: 1, says: []string{"CSI spec violated: CreateVolumeResponse.volume.capacity_bytes is 8388608, required were 16777216"},
	},
	{
		name:     "a volume that is listed twice",
		scenario: clitest.Faulty("listVolumes: true, listVolumesPublishedNodes: true, faulty: [list-repeats-volume]") + clitest.PodStep + "- advance: 5m\n",
		code:     1, says: []string{"CSI spec violated: ListVolumesResponse.entries has vol-0001 twice"},
	},
	{
		name:     "a list without a last page",
		scenario: clitest.Faulty("listVolumes: true, listVolumesPublishedNodes: true, faulty: [list-never-ends]") + clitest.PodStep + "- advance: 5m\n",
		code:     1, says: []string{`CSI spec violated: ListVolumesResponse.next_token "1" comes a second time, so the list never ends: the CSI spec wants it empty on the last page (ListVolumes)`},
	},
	{
		name: "a driver that ignores SIGTERM", scenario: clitest.BadDriver("ignores SIGTERM", long),
		code: 0, says: []string{"PASS bad"},
	},
	{
		name: "a driver that leaves children", scenario: clitest.BadDriver("leaves children", long),
		code: 0, says: []string{"PASS bad"},
	},
	{
		name: "a driver with a busy mount", scenario: clitest.BadDriver("keeps its mount busy", long) + clitest.PodStep + "- delete: {pod: web}\n- wait: {pod: web, gone: true}\n",
		code: 1, says: []string{"Timed out waiting 10 min for pod web gone", "the driver fails NodeUnpublishVolume on node-a: unmount …/pvc-281a…/mount: device or resource busy"}, namespaces: true,
	},
	{
		name: "a driver that unmounts mounts of others", scenario: clitest.BadDriver("unmounts mounts of others", long) + clitest.PodStep,
		code: 1, says: []string{
			"Timed out waiting 10 min for pod web in phase Running", "✗ Internal: mkdir ", "no such file or directory",
			"foreign mount: driver bad.csi.example.com unmounted /var/lib/kubelet on node-a, a mount of the node, during NodePublishVolume of volume pvc-",
		}, namespaces: true,
	},
	{
		name: "a driver that fills its disk", scenario: clitest.BadDriver("fills its disk", long) + clitest.PodStep, mount: "mount -t tmpfs -o size=2m none w",
		code: 1, says: []string{"Timed out waiting 10 min for pvc data in phase Bound", "no space left on device"},
	},
}
