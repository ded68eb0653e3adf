package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// badInput is a scenario that cannot pass, and what its user is told.
type badInput struct {
	name     string
	scenario string            // without apiVersion and kind, which are lines 1 and 2
	files    map[string]string // beside the scenario
	flags    string
	mount    string // prepares the work directory w, in a mount namespace of the command's own; takes root
	nobody   bool   // runs as a user without rights
	code     int
	says     []string
}

// mocked is a scenario with the reference driver in memory.
const mocked = "drivers: [{name: a.example.com, mock: {}}]\n"

// faulty is the same with options that make it misbehave, and a claim.
func faulty(options string) string {
	return fmt.Sprintf("drivers: [{name: a.example.com, mock: {%s}}]\n", options) + claimOf("a.example.com")
}

// podStep uses the claim of claimOf.
const podStep = `- apply:
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers: [{name: c, image: i, volumeMounts: [{name: v, mountPath: /data}]}]
      volumes: [{name: v, persistentVolumeClaim: {claimName: data}}]
- wait: {pod: web, phase: Running}
`

// badDriver is a scenario with the driver program that goes wrong in the given way.
func badDriver(way, startTimeout string) string {
	return fmt.Sprintf(`cluster: {nodes: 1}
drivers:
- name: bad.csi.example.com
  program: {command: [baddriver, "{{.Socket}}"], env: {BAD_DRIVER: %q}, startTimeout: %s}
`, way, startTimeout) + claimOf("bad.csi.example.com")
}

// claimOf provisions a volume of a driver.
func claimOf(driver string) string {
	return fmt.Sprintf(`objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: %s}
steps:
- apply:
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], storageClassName: fast, resources: {requests: {storage: 16Mi}}}
- wait: {pvc: data, phase: Bound}
`, driver)
}

const (
	long  = "20s"   // a start that fails before that fails for a reason
	short = "300ms" // a start that is to fail by it
)

var badInputs = []badInput{
	{
		name: "malformed YAML", scenario: "steps:\n- wait: {pod: web\n",
		code: 2, says: []string{"bad.yaml:4:9: found malformed YAML: a map that is opened with { and not closed, want a } at its end"},
	},
	{
		name: "an unknown field", scenario: "drivers: [{name: a.example.com, mock: {atach: true}}]\n",
		code: 2, says: []string{`bad.yaml:3:40: drivers[0].mock.atach: found unknown field "atach"`, `did you mean "attach"?`},
	},
	{
		name: "a wrong type", scenario: "drivers: [{name: a.example.com, mock: {attach: often}}]\n",
		code: 2, says: []string{`bad.yaml:3:48: drivers[0].mock.attach: found string "often", want true or false`},
	},
	{
		name: "an unknown kind", scenario: "objects: [{apiVersion: v1, kind: Podd, metadata: {name: x}}]\n",
		code: 2, says: []string{`bad.yaml:3:34: objects[0].kind: found kind "Podd", want a built-in kind`, `did you mean "Pod"?`},
	},
	{
		name: "a mistake in a manifest", scenario: "objects: [{file: pod.yaml}]\n",
		files: map[string]string{"pod.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\nspec: {nodename: x}\n"},
		code:  2, says: []string{`pod.yaml:4:8: spec.nodename: found unknown field "nodename"`, `did you mean "nodeName"?`},
	},
	{
		name: "a node that does not exist", scenario: "steps: [{kill-kubelet: node-c}]\n",
		code: 2, says: []string{`bad.yaml:3:24: steps[0].kill-kubelet: found node "node-c", want a node of this scenario: node-a, node-b`},
	},
	{
		name: "a driver that does not exist", scenario: mocked + "steps: [{kill-driver: {driver: b.example.com}}]\n",
		code: 2, says: []string{`bad.yaml:4:32: steps[0].kill-driver.driver: found driver "b.example.com", want a driver of this scenario: a.example.com`},
	},
	{
		name: "a claim that does not exist", scenario: mocked + claimOf("a.example.com") + "- wait: {pvc: dta, phase: Bound}\n",
		code: 2, says: []string{`bad.yaml:13:15: steps[2].wait.pvc: found pvc "dta", want an object that a manifest of this scenario makes: data; did you mean "data"?`},
	},
	{
		name: "two drivers with one name", scenario: "drivers:\n- {name: a.example.com, mock: {}}\n- {name: a.example.com, mock: {}}\n",
		code: 2, says: []string{`bad.yaml:5:10: drivers[1].name: found driver "a.example.com" a second time, want each name once (it is in line 4)`},
	},
	{
		name: "a driver program that is missing", scenario: strings.Replace(badDriver("", long), "[baddriver", "[gooddriver", 1),
		code: 3, says: []string{"start driver bad.csi.example.com, controller: program not found: gooddriver is not in PATH: give its path, or add its directory to PATH"},
	},
	{
		name: "a driver that exits at once", scenario: badDriver("exits", long),
		code: 3, says: []string{"start driver bad.csi.example.com, controller: program exited before it answered: exit status 3", "no backend is configured"},
	},
	{
		name: "a driver that never listens", scenario: badDriver("never listens", short),
		code: 3, says: []string{"nobody listens at the socket: there is no ", "does the command hand {{.Endpoint}} or {{.Socket}} to the driver? (waited 300ms)"},
	},
	{
		name: "a driver that speaks no CSI", scenario: badDriver("talks garbage", short),
		code: 3, says: []string{"start driver bad.csi.example.com, controller: whoever listens at the socket does not speak CSI"},
	},
	{
		name: "a driver that accepts and is silent", scenario: badDriver("accepts only", short),
		code: 3, says: []string{"whoever listens at the socket does not speak CSI", "no answer to Identity/Probe (waited 300ms)"},
	},
	{
		name: "a driver of another name", scenario: badDriver("has another name", long),
		code: 3, says: []string{`another driver answers: it says its name is "other.csi.example.com" and "bad.csi.example.com" is configured: correct one of the two`},
	},
	{
		name: "a socket that is not there", scenario: "cluster: {nodes: 1}\ndrivers: [{name: a.example.com, socket: {node: /nowhere/csi.sock}}]\n",
		code: 3, says: []string{"reach driver a.example.com, controller: stat /nowhere/csi.sock: no such file or directory: start the driver first, or correct the path"},
	},
	{
		name: "a driver that hangs at its start", scenario: badDriver("hangs in Probe", short),
		code: 3, says: []string{"no answer to Identity/Probe (waited 300ms)"},
	},
	{
		name: "a driver that hangs when it is asked what it can do", scenario: badDriver("hangs in ControllerGetCapabilities", short),
		code: 3, says: []string{"ask driver bad.csi.example.com, controller for its capabilities (ControllerGetCapabilities): no answer within 300ms"},
	},
	{
		name: "a driver that hangs at its registration", scenario: badDriver("hangs in NodeGetInfo", long), flags: "--patience 50ms",
		code: 1, says: []string{"driver bad.csi.example.com to be registered on node-a", "waits for answer to Node/NodeGetInfo", "patience ran out"},
	},
	{
		name: "a driver that hangs in one call, while the run goes on", flags: "--patience 100ms -v",
		scenario: badDriver("hangs once in CreateVolume", long) +
			"expect: {calls: [{call: CreateVolume, code: DeadlineExceeded}, {call: CreateVolume, code: OK}]}\n",
		code: 0, says: []string{"patience ran out: Controller/CreateVolume is treated as still running", "✗ DeadlineExceeded after 10 s", "PASS bad"},
	},
	{
		name: "a driver that hangs for ever", scenario: badDriver("hangs in CreateVolume", long), flags: "--patience 50ms",
		code: 1, says: []string{
			"timed out waiting for the condition: pvc data in phase Bound", "patience ran out: Controller/CreateVolume",
			"the last warning was ProvisioningFailed about PersistentVolumeClaim/data: rpc error: code = DeadlineExceeded",
		},
	},
	{
		name: "a volume without an id", scenario: badDriver("names no volume", long),
		code: 1, says: []string{"CSI spec violated: CreateVolumeResponse.volume.volume_id is empty: the CSI spec requires it (CreateVolume)"},
	},
	{
		name: "an answer without a volume", scenario: badDriver("answers nothing", long),
		code: 1, says: []string{"CSI spec violated: CreateVolumeResponse.volume is empty: the CSI spec requires it (CreateVolume)"},
	},
	{
		name: "a node without an id", scenario: badDriver("names no node", long),
		code: 1, says: []string{
			"driver bad.csi.example.com to be registered on node-a",
			"CSI spec violated: NodeGetInfoResponse.node_id is empty: the CSI spec requires it (NodeGetInfo)",
		},
	},
	{
		name: "a volume id that is too long", scenario: badDriver("names it at length", long),
		code: 1, says: []string{"CSI spec violated: CreateVolumeResponse.volume.volume_id has 140 bytes, the limit is 128"},
	},
	{
		name: "a volume smaller than required", scenario: faulty("faulty: [wrong-capacity]"),
		code: 1, says: []string{"CSI spec violated: CreateVolumeResponse.volume.capacity_bytes is 8388608, required were 16777216"},
	},
	{
		name:     "a volume that is listed twice",
		scenario: faulty("listVolumes: true, listVolumesPublishedNodes: true, faulty: [list-repeats-volume]") + podStep + "- advance: 5m\n",
		code:     1, says: []string{"CSI spec violated: ListVolumesResponse.entries has vol-0001 twice"},
	},
	{
		name: "a socket path that is too long", scenario: badDriver("", long), flags: "--isolation none --work-dir " + strings.Repeat("d", 60),
		code: 3, says: []string{"bytes long and the limit is 107: choose a shorter work directory"},
	},
	{
		name: "namespaces that are not permitted", scenario: hostdirPod, flags: "--isolation namespace", nobody: true,
		code: 3, says: []string{`isolation "namespace": make the mount namespace of node control-plane: unshare(CLONE_NEWNS): no permission: operation not permitted: run as root`},
	},
	{
		name: "mounts that are not permitted", scenario: hostdirPod, nobody: true,
		code: 1, says: []string{"timed out waiting for the condition: pod web in phase Running", "operation not permitted (hostdir needs CAP_SYS_ADMIN)"},
	},
	{
		name: "a work directory that does not exist", scenario: badDriver("", long), flags: "--work-dir nowhere",
		code: 3, says: []string{"no work directory can be made in nowhere: it does not exist; create it or choose another"},
	},
	{
		name: "a work directory that may not be written", scenario: badDriver("", long), flags: "--work-dir locked", nobody: true,
		code: 3, says: []string{"no work directory can be made in locked: it is not writable for this user; choose another"},
	},
	{
		name: "a read-only work directory", scenario: badDriver("", long), mount: "mount -t tmpfs -o ro none w",
		code: 3, says: []string{"no work directory can be made in w: it is read-only; choose another"},
	},
	{
		name: "a full work directory", scenario: badDriver("", long), mount: "mount -t tmpfs -o size=4k none w && echo x > w/x",
		code: 3, says: []string{"no work directory can be made in w: its disk is full; free some space or choose another"},
	},
	{
		name: "a work directory that fills up at the start", scenario: badDriver("", long), mount: "mount -t tmpfs -o nr_inodes=20 none w",
		code: 3, says: []string{"start driver bad.csi.example.com, controller: mkdir /", "no space left on device"},
	},
	{
		name: "a wait that can never come true", scenario: mocked + claimOf("a.example.com") + "- wait: {pvc: data, phase: Lost}\n",
		code: 1, says: []string{
			"timed out waiting for the condition: pvc data in phase Lost (after 10m0s of cluster time)",
			"bad.yaml:13  step 3: wait pvc data, phase Lost",
			"pvc data: phase is Bound, not Lost", "who waits for what:\n", "nobody is at work",
		},
	},
	{
		name: "a wait for what always fails",
		scenario: mocked + claimOf("a.example.com") + `- fault: {call: NodeStageVolume, code: Internal}
` + podStep,
		code: 1, says: []string{
			"timed out waiting for the condition: pod web in phase Running", "pod default/web: waits for its volumes to be mounted: v",
			"fault NodeStageVolume still befalls every NodeStageVolume",
		},
	},
}

// hostdirPod uses the driver that really mounts.
const hostdirPod = hostdirDriver + hostdirObjects + hostdirSteps

const hostdirDriver = `cluster: {nodes: 1}
drivers:
- name: hostdir.csi.csisim.dev
  program: {command: [hostdir, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}", "--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}"]}
`

const hostdirObjects = `objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: hostdir}, provisioner: hostdir.csi.csisim.dev}
`

const hostdirSteps = `steps:
- apply: |
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: files}
    spec: {accessModes: [ReadWriteOnce], storageClassName: hostdir, resources: {requests: {storage: 16Mi}}}
    ---
    apiVersion: v1
    kind: PersistentVolumeClaim
    metadata: {name: block}
    spec: {accessModes: [ReadWriteOnce], volumeMode: Block, storageClassName: hostdir, resources: {requests: {storage: 16Mi}}}
    ---
    apiVersion: v1
    kind: Pod
    metadata: {name: web}
    spec:
      containers:
      - {name: c, image: i, volumeMounts: [{name: files, mountPath: /data}], volumeDevices: [{name: block, devicePath: /dev/xvda}]}
      volumes:
      - {name: files, persistentVolumeClaim: {claimName: files}}
      - {name: block, persistentVolumeClaim: {claimName: block}}
- wait: {pod: web, phase: Running}
`

// Whatever is wrong is told once, with its place and what would be right, with the
// exit code of its class, in no time; and nothing of the run is left.
func TestBadInputIsToldAndLeavesNothingBehind(t *testing.T) {
	bin := build(t)
	for _, test := range badInputs {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			place := newPlace(t, bin)
			place.write("bad.yaml", "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n"+test.scenario)
			for name, text := range test.files {
				place.write(name, text)
			}
			require.NoError(t, os.Mkdir(filepath.Join(place.dir, strings.Repeat("d", 60)), 0o777))
			require.NoError(t, os.Mkdir(filepath.Join(place.dir, "locked"), 0o555))
			began := time.Now()
			got := test.run(t, place)
			assert.Less(t, time.Since(began), 10*time.Second)
			assert.Equal(t, test.code, got.code)
			for _, words := range test.says {
				assert.Contains(t, got.stdout+got.stderr, words)
			}
			assert.Empty(t, place.leftovers())
			if t.Failed() {
				t.Log(got.stdout + got.stderr)
			}
		})
	}
}

func (b badInput) run(t *testing.T, place *place) outcome {
	t.Helper()
	c := place.command(append([]string{"run", "bad.yaml"}, strings.Fields(b.flags)...)...)
	root := os.Geteuid() == 0
	if b.mount != "" {
		if !root {
			t.Skip("mounting takes root")
		}
		shell := exec.Command("unshare", append([]string{"-m", "sh", "-c", b.mount + ` && exec "$@"`, "sh"}, c.Args...)...)
		shell.Env, shell.Dir = c.Env, c.Dir
		c = shell
	}
	if b.nobody && root {
		const nobody = 65534
		require.NoError(t, os.Chown(place.dir, nobody, nobody))
		require.NoError(t, os.Chown(place.work, nobody, nobody))
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		require.ErrorAs(t, err, &exit)
	}
	return outcome{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// build puts csisim, which this test binary is if it is told so, and two drivers into
// a directory that every user can read.
func build(t *testing.T) (bin string) {
	t.Helper()
	bin, err := os.MkdirTemp("/tmp", "bin")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(bin)) })
	require.NoError(t, os.Chmod(bin, 0o755))
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", bin, "./testdata/baddriver", "../../drivers/hostdir").CombinedOutput()
	require.NoError(t, err, string(out))
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(bin, "csisim"), program, 0o755))
	return bin
}

// place is where one run happens: the scenario, and the work directory w. Its path is
// short, since sockets have to fit.
type place struct {
	t              *testing.T
	dir, work, bin string
}

func newPlace(t *testing.T, bin string) *place {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "b")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	p := &place{t: t, dir: dir, work: filepath.Join(dir, "w"), bin: bin}
	require.NoError(t, os.Mkdir(p.work, 0o755))
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644))
}

// command is csisim with the work directory of the place, unless the arguments have one.
func (p *place) command(args ...string) *exec.Cmd {
	args = append([]string{args[0], "--work-dir", "w"}, args[1:]...)
	c := exec.CommandContext(p.t.Context(), filepath.Join(p.bin, "csisim"), args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), asCommand+"=1", "GITHUB_ACTIONS=", "PATH="+p.bin+":"+os.Getenv("PATH"), "TMPDIR="+p.work)
	return c
}

// leftovers is what there still is of runs in the place: processes, mounts, loop
// devices, listening sockets and directories.
func (p *place) leftovers() (found []string) {
	for _, pid := range p.programs("") {
		found = append(found, fmt.Sprintf("process %d", pid))
	}
	for _, table := range []string{"/proc/self/mountinfo", "/proc/net/unix"} {
		found = append(found, p.linesOf(table)...)
	}
	found = append(found, p.loops()...)
	for _, pattern := range []string{"csisim-*", "*/csisim-*"} {
		dirs, err := filepath.Glob(filepath.Join(p.dir, pattern))
		require.NoError(p.t, err)
		found = append(found, dirs...)
	}
	return found
}

// programs are the processes of runs in the place, those of one name if it is given.
func (p *place) programs(name string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	require.NoError(p.t, err)
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		read := func(file string) string {
			text, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), file)) // it may be gone
			return string(text)
		}
		belongs := strings.Contains(read("environ"), "CSISIM_RUN="+p.dir) || strings.Contains(read("cmdline"), p.dir)
		if belongs && (name == "" || strings.TrimSpace(read("comm")) == name) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *place) linesOf(table string) (found []string) {
	text, err := os.ReadFile(table)
	require.NoError(p.t, err)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, p.dir+"/") {
			found = append(found, table+": "+strings.TrimSpace(line))
		}
	}
	return found
}

// loops are the loop devices that show files of the place.
func (p *place) loops() (found []string) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	require.NoError(p.t, err)
	for _, file := range files {
		backing, _ := os.ReadFile(file) // it may be gone
		if strings.HasPrefix(string(backing), p.dir+"/") {
			found = append(found, "loop device of "+strings.TrimSpace(string(backing)))
		}
	}
	return found
}
