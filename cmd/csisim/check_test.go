package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/internal/world/machine"
)

// checkedDriver is the command of the reference driver, for csisim check.
var checkedDriver = []string{
	"hostdir", "--endpoint={{.Endpoint}}", "--driver-name=hostdir.csi.example.com", "--mode={{.Mode}}", "--node-id={{.NodeID}}",
	"--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}",
}

// badDriverArgs is the command of the misbehaving driver.
const badDriverArgs = "-- baddriver {{.Socket}}"

var badChecks = []struct {
	name, flags string
	way         string   // how the driver misbehaves
	driver      []string // the driver's command; empty for the default one
	// A file created before the check: "dead" is a socket without a listener, "file" is a plain
	// file.
	socket string
	code   int
	says   []string
}{
	{name: "no driver", code: 2, says: []string{"no driver given: -- and the command that starts it, --profile and its name, or --endpoint and its socket"}},
	{name: "a socket and a command", flags: "--endpoint s.sock", driver: checkedDriver, code: 2, says: []string{"--endpoint and the command hostdir: one of them"}},
	{name: "a command without --", flags: "hostdir", code: 2, says: []string{"-- is missing before the driver's command hostdir"}},
	{name: "an empty command of the controller", flags: "-- hostdir --", code: 2, says: []string{"a command is missing before or after the second --"}},
	{name: "a controller's socket alone", flags: "--controller-endpoint s.sock -- hostdir", code: 2, says: []string{"--controller-endpoint without --endpoint"}},
	{name: "a profile and a command", flags: "--profile hostdir", driver: checkedDriver, code: 2, says: []string{"--profile and the command hostdir: one of them"}},
	{name: "an unknown profile", flags: "--profile hostdri", code: 2, says: []string{"--profile hostdri: "}},
	{name: "a binary without a profile", flags: "--binary x --endpoint s.sock", code: 2, says: []string{"--binary without --profile"}},
	{name: "a profile without its program", flags: "--profile hostdir --binary ./no-such-driver", code: 3, says: []string{"program not found: "}},
	{name: "no unix socket", flags: "--endpoint tcp://localhost:1234", code: 2, says: []string{"--endpoint tcp://localhost:1234: only unix sockets can be reached"}},
	{name: "a socket without a path", flags: "--endpoint unix://", code: 2, says: []string{"--endpoint unix://: the path is missing"}},
	{name: "an access mode that there is not", flags: "--access-mode ReadWriteOnse", driver: checkedDriver, code: 2, says: []string{"--access-mode ReadWriteOnse: want ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod, or RWO, ROX, RWX or RWOP"}},
	{name: "a size that is none", flags: "--volume-size big", driver: checkedDriver, code: 2, says: []string{"--volume-size big: want a size such as 1Gi"}},
	{name: "a file system that is none", flags: "--fs-type ext4,xfs", driver: checkedDriver, code: 2, says: []string{"--fs-type ext4,xfs: want the name of a file system, such as ext4"}},
	{name: "no mount option", flags: "--mount-option=", driver: checkedDriver, code: 2, says: []string{"--mount-option: it is empty, want an option such as noatime"}},
	{name: "secrets that are not there", flags: "--secrets no.yaml", driver: checkedDriver, code: 2, says: []string{"secrets: read secrets: open ", "no.yaml: no such file or directory"}},
	{name: "secrets of an unknown call", flags: "--secrets bad-secrets.yaml", driver: checkedDriver, code: 2, says: []string{`bad-secrets.yaml:1:1: CreateVolSecret: found unknown field "CreateVolSecret"`, `did you mean "CreateVolumeSecret"?`}},
	{name: "secrets that Kubernetes cannot give", flags: "--secrets two-secrets.yaml", driver: checkedDriver, code: 2, says: []string{"two-secrets.yaml:2:21: DeleteVolumeSecret: found another Secret than CreateVolumeSecret, want the same: Kubernetes gives both calls one Secret"}},
	{name: "an audience twice", flags: "--token-request vault --token-request vault", driver: checkedDriver, code: 2, says: []string{`--token-request "vault": it is given twice`}},
	{name: "a node path that is not absolute", flags: "--node-path var/lib/my-driver", driver: checkedDriver, code: 2, says: []string{`--node-path var/lib/my-driver: want a directory of the node, such as "/var/lib/my-driver"`}},
	{name: "a plugin socket in a directory that is not its own", flags: "--plugin-socket /tmp/csi.sock", driver: checkedDriver, code: 2, says: []string{`--plugin-socket /tmp/csi.sock: want a socket in a directory of its own, such as "/run/my-driver/csi.sock"`}},
	{name: "an environment with a profile", flags: "--profile hostdir --env A=1", code: 2, says: []string{"--env and --profile: it goes with the command that starts a driver"}},
	{name: "a profile of a driver that runs", flags: "--endpoint s.sock --save my.yaml", code: 2, says: []string{"--save and --endpoint: a profile says how a driver is started, and this one runs already"}},
	{name: "a profile that cannot be written", flags: "--save s.yaml/x", driver: checkedDriver, code: 2, says: []string{"--save s.yaml/x: ", "not a directory"}},
	{name: "a profile without file systems", flags: "--profile ./blocks.yaml", code: 2, says: []string{"--profile blocks.yaml: volumeModes are Block: want Filesystem among them"}},
	{name: "a name that is not known yet", flags: "-- hostdir --driver-name={{.Driver}}", code: 2, says: []string{"{{.Driver}} in the driver's command needs --name"}},
	{name: "an unknown placeholder", flags: "-- hostdir --endpoint={{.Endpiont}}", code: 2, says: []string{`drivers[0].program.command[1]: found template "--endpoint={{.Endpiont}}", want a template with .Endpoint, .Socket`}},
	{name: "a budget that is none", flags: "--budget soon", driver: checkedDriver, code: 2, says: []string{`invalid argument "soon" for "--budget" flag`}},
	{name: "no budget", flags: "--budget 0s", driver: checkedDriver, code: 2, says: []string{"--budget 0s: it must be more than 0"}},
	{name: "nothing at once", flags: "--parallel 0", driver: checkedDriver, code: 2, says: []string{"--parallel 0: it must be at least 1"}},
	{name: "a kubelet's directory that is no path", flags: "--kubelet-dir kubelet", driver: checkedDriver, code: 2, says: []string{`--kubelet-dir kubelet: found path "kubelet", want an absolute path`}},
	{name: "a kubelet's directory around another", flags: "--kubelet-dir /var/lib", driver: checkedDriver, code: 2, says: []string{"want a directory that neither is in /var/lib/kubelet nor contains it"}},
	{name: "an unknown isolation", flags: "--isolation jail", driver: checkedDriver, code: 2, says: []string{`unknown isolation "jail"`}},
	{name: "an unknown scenario", flags: "--only loss/NodeStageVolume", driver: checkedDriver, code: 2, says: []string{`unknown scenario "loss/NodeStageVolume"; did you mean "lost/NodeStageVolume"?`}},
	{name: "a group of scenarios", flags: "--only lost", driver: checkedDriver, code: 2, says: []string{`unknown scenario "lost"; did you mean "lost/*"?`}},
	{name: "a scenario that is like none", flags: "--print x", driver: checkedDriver, code: 2, says: []string{`unknown scenario "x": there are claims/*, life/*, `, "lost/*, "}},
	{name: "an upgrade of a driver that runs", flags: "--endpoint s.sock --upgrade-from hostdir", code: 2, says: []string{"--upgrade-from and --endpoint: csisim has to start both releases"}},
	{name: "an upgrade in a search", flags: "--deep 10 --upgrade-from hostdir", driver: checkedDriver, code: 2, says: []string{"--upgrade-from and --deep: csisim explore --faults upgrade searches upgrades"}},
	{name: "an old release without a command", flags: "--upgrade-from=#", driver: checkedDriver, code: 2, says: []string{`--upgrade-from "#": want a command with its arguments, quoted as in a shell`}},
	{name: "two old releases", flags: "--upgrade-from hostdir --upgrade-from-profile hostdir", driver: checkedDriver, code: 2, says: []string{"--upgrade-from and --upgrade-from-profile or --upgrade-from-binary: one of them"}},
	{name: "an old binary without a profile", flags: "--upgrade-from-binary hostdir", driver: checkedDriver, code: 2, says: []string{"--upgrade-from-binary without --profile or --upgrade-from-profile: --upgrade-from takes a command"}},
	{name: "an old profile that there is not", flags: "--upgrade-from-profile hostdri", driver: checkedDriver, code: 2, says: []string{"the old release: --profile hostdri: "}},
	{name: "an old release that is missing", flags: "--upgrade-from ./no-such-driver", driver: checkedDriver, code: 3, says: []string{"the old release: ", "program not found: "}},
	{name: "a program that is missing", flags: "-- ./no-such-driver", code: 3, says: []string{"program not found: "}},
	{name: "a file that is no program", flags: "-- ./s.yaml", code: 3, says: []string{"program is not executable: "}},
	{name: "a driver that exits", flags: badDriverArgs, way: "exits", code: 3, says: []string{"program exited before it answered"}},
	{name: "a driver that never listens", flags: "--start-timeout 300ms " + badDriverArgs, way: "never listens", code: 3, says: []string{"no process listens at the socket"}},
	{name: "a server that does not speak CSI", flags: "--start-timeout 300ms " + badDriverArgs, way: "talks garbage", code: 3, says: []string{"does not speak CSI"}},
	{name: "another name", flags: "--name other.example.com " + badDriverArgs, code: 3, says: []string{"another driver answers", "other.example.com"}},
	{name: "no socket", flags: "--endpoint s.sock", code: 3, says: []string{"s.sock: no such file or directory: start the driver first, or correct the path"}},
	{name: "a file that is no socket", flags: "--endpoint unix:s.yaml", code: 3, says: []string{"s.yaml is not a unix socket"}},
	{name: "a socket without a listener", flags: "--endpoint s.sock", socket: "dead", code: 3, says: []string{"connection refused"}},
	{name: "a driver that makes no volume", flags: "--patience 10ms " + badDriverArgs, way: "hangs in CreateVolume", code: 1, says: []string{"the driver does not make a plain volume: CreateVolume answers DeadlineExceeded", " · the patience ran out for "}},
}

// Bad input is reported with one clear error and the right exit code, and nothing remains.
func TestBadInputOfACheckIsReportedAndLeavesNothing(t *testing.T) {
	bin := clitest.Build(t)
	for _, test := range badChecks {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, bin)
			p.Write("s.yaml", "a: file\n")
			p.Write("bad-secrets.yaml", "CreateVolSecret: {a: b}\n")
			p.Write("two-secrets.yaml", "CreateVolumeSecret: {a: b}\nDeleteVolumeSecret: {a: c}\n")
			p.Write("blocks.yaml", "apiVersion: csisim.dev/v1alpha1\nkind: DriverProfile\ndriver: a.example.com\nbinary: {name: a}\nvolumeModes: [Block]\n")
			if test.socket == "dead" {
				deadSocket(t, filepath.Join(p.Dir, "s.sock"))
			}
			args := append([]string{"check"}, strings.Fields(test.flags)...)
			if len(test.driver) > 0 {
				args = append(append(args, "--"), test.driver...)
			}
			c := p.Command(args...)
			c.Env = append(c.Env, "BAD_DRIVER="+test.way)
			got := outcomeOf(t, c)
			assert.Equal(t, test.code, got.Code, got.Stderr)
			for _, text := range test.says {
				assert.Contains(t, got.Stderr, text)
			}
			assert.Empty(t, got.Stdout)
			assert.Empty(t, p.Leftovers())
		})
	}
}

// deadSocket creates a socket file without a listener, like the leftover of a killed driver.
func deadSocket(t *testing.T, path string) {
	t.Helper()
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path})
	require.NoError(t, err)
	listener.SetUnlinkOnClose(false)
	require.NoError(t, listener.Close())
}

func outcomeOf(t *testing.T, c *exec.Cmd) clitest.Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil {
		exit := (*exec.ExitError)(nil)
		require.ErrorAs(t, err, &exit)
	}
	return clitest.Outcome{Stdout: stdout.String(), Stderr: stderr.String(), Code: c.ProcessState.ExitCode()}
}

// checks runs csisim check on the reference driver.
func (p *place) checks(t *testing.T, flags string, more ...string) clitest.Outcome {
	t.Helper()
	args := append(append([]string{"check"}, strings.Fields(flags)...), "--")
	return outcomeOf(t, p.Command(append(append(args, checkedDriver...), more...)...))
}

func TestTheResultOfACheckIsInEveryFormat(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.checks(t, "--only repeated/* --only life/block --json out/card.json --junit out/junit.xml --out kept", "--broken", "create-not-idempotent")
	assert.Equal(t, 1, got.Code, got.Stderr)
	for line := range strings.Lines(got.Stderr) {
		assert.Regexp(t, `^csisim: \d+ of \d+ ended`, line, "only a slow check says how far it is")
	}
	for _, part := range []string{
		"hostdir.csi.example.com 0.1.0\n",
		"PASS Life of a volume          block\n",
		"FAIL Repeated calls            filesystem FAILED  block FAILED  many-nodes FAILED  read-only FAILED\n",
		"FAIL CreateVolume is not idempotent  leak\n    volume vol-",
		"    CreateVolume OK → CreateVolume OK (the same call again, right after its OK)\n",
		"    --only repeated/block  (and 3 more)\n",
		"replay    " + filepath.Join(p.Bin, "csisim") + " run kept/repeated-block.yaml\n",
		"hostdir.csi.example.com: 1 passed, 4 failed · ",
	} {
		assert.Contains(t, got.Stdout, part)
	}
	assert.NotContains(t, got.Stdout, "\x1b")

	var card struct {
		Driver         string
		Passed, Failed int
		Trials         []struct{ Name, Outcome string }
	}
	text, err := os.ReadFile(filepath.Join(p.Dir, "out/card.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &card))
	assert.Equal(t, []any{"hostdir.csi.example.com", 1, 4, "life/block", "passed"}, []any{card.Driver, card.Passed, card.Failed, card.Trials[0].Name, card.Trials[0].Outcome})
	var junit struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
	}
	text, err = os.ReadFile(filepath.Join(p.Dir, "out/junit.xml"))
	require.NoError(t, err)
	require.NoError(t, xml.Unmarshal(text, &junit))
	assert.Equal(t, []int{5, 4}, []int{junit.Tests, junit.Failures})
	assert.Contains(t, string(text), "kept/repeated-filesystem.yaml:", "the file is named where it lies")

	kept := outcomeOf(t, p.Command("run", "kept/repeated-filesystem.yaml"))
	assert.Equal(t, 1, kept.Code, "a scenario that was kept is an ordinary one")
	assert.Contains(t, kept.Stdout, "CreateVolume is not idempotent")
	assert.Empty(t, p.Leftovers())
}

// If the scenario is not kept, the report names no file.
func TestARemainingMountIsReportedWithItsScenarioLine(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.checks(t, "--only life/filesystem --junit junit.xml", "--broken", "unpublish-leaves-mount")
	assert.Equal(t, 1, got.Code, got.Stderr)
	junit, err := os.ReadFile(filepath.Join(p.Dir, "junit.xml"))
	require.NoError(t, err)
	assert.Contains(t, got.Stdout, "still mounted at the target path on node-a.\n")
	assert.Regexp(t, `1 mount is still there after the OK: of …/vol-\w+/data at …/pvc-\S+/mount\n`, got.Stdout)
	assert.Regexp(t, `NodeUnpublishVolume has no effect: 1 mounted still: of /run/csisim/state/hostdir\S*/volumes/vol-\w+/data at /var/lib/kubelet/pods/\S+/mount`, string(junit))
	for what, text := range map[string]string{"terminal": got.Stdout, "JUnit": string(junit)} {
		assert.Contains(t, text, "of scenario life/filesystem", what)
		assert.NotContains(t, text, ".yaml", what)
	}
	assert.Empty(t, p.Leftovers())
}

func TestAWellKnownDriverIsCheckedByTheNameOfItsProfile(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := outcomeOf(t, p.Command("check", "--profile", "hostdir", "--only", "life/*", "--only", "repeated/*"))
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "PASS Life of a volume          11 passed\n")
	assert.Contains(t, got.Stdout, "hostdir.csi.csisim.dev: 15 passed, 0 failed · ")
}

func TestASinglePluginIsCheckedOnItsOneNode(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.checks(t, "--single --only life/filesystem --only move/*")
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "PASS Life of a volume          filesystem\n")
	assert.NotContains(t, got.Stdout, "PASS Moves", "there is no other node to move to")
	assert.Empty(t, p.Leftovers())
}

// An ordinary user has namespaces, but no loop devices.
func TestAnOrdinaryUserCanCheckWithoutLoopDevices(t *testing.T) {
	clitest.NeedsRoot(t)
	clitest.NeedsNamespaces(t)
	p := newPlace(t, clitest.Build(t))
	args := append([]string{"check", "--only", "life/filesystem", "--only", "life/block", "--"}, checkedDriver...)
	command := p.Command(args...)
	p.AsUnprivileged(command)
	got := outcomeOf(t, command)
	assert.Contains(t, got.Stdout, "PASS Life of a volume          filesystem", got.Stdout+got.Stderr)
	assert.NotContains(t, got.Stdout, "block FAILED")
	assert.Empty(t, p.Leftovers())
}

// A driver that mounts with FUSE is not blamed if no program can open the device.
func TestAFUSEDriverIsNotBlamedForTheDeviceThatItCannotOpen(t *testing.T) {
	clitest.NeedsRoot(t)
	const closed = "mount --bind /dev/fuse /dev/fuse && mount -o remount,bind,nodev /dev/fuse && "
	const reason = "\nNot tried\n  the driver mounts with FUSE, and on this machine a driver cannot open its device: open /dev/fuse: "
	opens := machine.FUSERefused() == nil
	p := newPlace(t, clitest.Build(t))
	for _, c := range []struct {
		given, before string
		env           []string
		code          int
		says          string
	}{
		{"the error of the call names the device", closed, []string{"OPENS=/dev/fuse"}, 3, reason},
		{"the output of the driver names the device", closed, []string{"OPENS=/dev/fuse", "QUIET=1"}, 3, reason},
		{"the driver opens another device, and the machine has none", closed, []string{"OPENS=/dev/other"}, 1, "the driver fails NodePublishVolume on node-a: open /"},
		{"the driver opens none, and the machine has none", closed, nil, 0, "1 passed, 0 failed"},
		{"the device is there", "", []string{"OPENS=/dev/fuse"}, 0, "1 passed, 0 failed"},
		{"the driver opens a wrong device of that name", "", []string{"OPENS=/run/dev/fuse"}, 1, "the driver fails NodePublishVolume on node-a: open /"},
	} {
		t.Run(c.given, func(t *testing.T) {
			if !opens {
				t.Skip("this machine has no FUSE")
			}
			args := []string{"check", "--only", "life/filesystem"}
			for _, variable := range c.env {
				args = append(args, "--env", variable)
			}
			command := p.Command(append(args, strings.Fields(badDriverArgs)...)...)
			got := outcomeOf(t, within(command, "unshare", "-m", "sh", "-c", c.before+`exec "$@"`, "sh"))
			assert.Equal(t, c.code, got.Code, got.Stdout+got.Stderr)
			assert.Contains(t, got.Stdout, c.says)
			assert.Empty(t, p.Leftovers())
		})
	}
}

// The replay command of a failure reproduces it, with all details.
func TestAFailureOfACheckIsReplayedByItsPrintedCommand(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	first := p.checks(t, "--seed 7 --only repeated/filesystem --only life/filesystem", "--broken", "stage-not-idempotent")
	_, replay, found := strings.Cut(first.Stdout, "replay    ")
	require.True(t, found, first.Stdout)
	replay, _, _ = strings.Cut(replay, "\n")
	c := p.Command("check")
	c.Args = []string{"sh", "-c", replay}
	c.Path = "/bin/sh"
	again := outcomeOf(t, c)
	assert.Equal(t, 1, again.Code)
	assert.Contains(t, replay, "--only repeated/filesystem --work-dir=w --seed=7 --names=")
	assert.Contains(t, again.Stdout, "FAIL repeated/filesystem  ")
	assert.Contains(t, again.Stdout, "NodeStageVolume is not idempotent: OK, then Internal")
	assert.Contains(t, again.Stdout, "    expected  the driver keeps to the CSI spec\n")
	assert.Empty(t, p.Leftovers())
}

func TestAPrintedScenarioIsOneThatRuns(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.checks(t, "--print lost/NodeStageVolume")
	require.Equal(t, 0, got.Code, got.Stderr)
	assert.Contains(t, got.Stdout, "- fault: {name: late, call: NodeStageVolume, lateAnswer: true, times: 1}\n")
	p.Write("s.yaml", got.Stdout)
	run := outcomeOf(t, p.Command("run", "s.yaml"))
	assert.Equal(t, 0, run.Code, run.Stdout+run.Stderr)
}

// A trial that was not tried does not count as passed.
func TestTrialsBeyondTheBudgetAreNotPassed(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	const only = "--budget 1ms --parallel 1 --only life/* --only claims/* "
	for _, c := range []struct {
		flags string
		code  int
		says  string
	}{
		{"", 3, "not tried: that is not passed, and ends with exit code 3; --allow-untried[=NAME,NAME] permits it"},
		{"--allow-untried=life/block", 3, "not tried: that is not passed"},
		{"--allow-untried=life/*,claims/*", 0, ""},
		{"--allow-untried", 0, ""},
		{"--allow-untried=live/block", 2, `--allow-untried: unknown scenario "live/block"; did you mean "life/block"?`},
	} {
		got := p.checks(t, only+c.flags)
		assert.Equal(t, c.code, got.Code, c.flags+got.Stderr)
		assert.Contains(t, got.Stderr, c.says)
		if c.code != 2 {
			assert.Contains(t, got.Stdout, "\nNot tried\n  did not fit into the budget: ")
			assert.Contains(t, got.Stdout, "life/filesystem")
		}
	}
}

// A feature that the driver does not offer is not a trial. A check without any trial does not pass.
func TestFeaturesThatADriverLacksAreNoTrials(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	got := p.checks(t, "--only claims/one --only contradicted/ControllerPublishVolume", "--no-attach")
	assert.Equal(t, 0, got.Code, got.Stderr)
	assert.Contains(t, got.Stdout, "\nNot offered by the driver: 1 trial (--verbose lists them)\n")
	assert.Contains(t, got.Stdout, ": 1 passed, 0 failed · ")

	got = p.checks(t, "--only contradicted/ControllerPublishVolume", "--no-attach")
	assert.Equal(t, 3, got.Code, "0 passed is not passed")
	assert.Contains(t, got.Stderr, "nothing was tried: that is not passed")
	assert.Equal(t, 0, p.checks(t, "--only contradicted/ControllerPublishVolume --allow-untried", "--no-attach").Code)
}

// Without mounts on the nodes, some defects of the driver stay hidden, and the card gives the
// reason.
func TestTheCardSaysWhyNodesCannotHaveMounts(t *testing.T) {
	clitest.NeedsRoot(t)
	p := newPlace(t, clitest.Build(t))
	for bounded, why := range map[string]string{
		"-sys_admin":  "root has no CAP_SYS_ADMIN here, and a seccomp filter, such as that of Docker and Kubernetes, forbids unshare(2) and mount(2)",
		"-sys_module": "a seccomp filter, such as that of Docker and Kubernetes, forbids unshare(2) and mount(2)",
	} {
		args := append([]string{"check", "--only", "claims/*", "--only", "life/filesystem", "--"}, checkedDriver...)
		c := p.Command(append(args, "--broken", "publish-leaves-process")...)
		c.Env = append(c.Env, asContainer+"=1")
		got := outcomeOf(t, within(c, "setpriv", "--bounding-set="+bounded))
		assert.Equal(t, 3, got.Code, got.Stdout+got.Stderr)
		assert.Contains(t, got.Stdout, "PASS Claims without pods       one  many  repeated  odd-size  lost\n---- Life of a volume          (filesystem)\n")
		assert.Contains(t, got.Stdout, "\nNot tried\n  nodes cannot have mounts of their own: "+why+": life/filesystem\n")
		assert.Contains(t, got.Stdout, ": 5 passed, 0 failed, 1 not tried · ")
	}
}

func TestADriverOnASocketIsCheckedWithoutItsRestarts(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	socket := filepath.Join(p.Dir, "s.sock")
	driver := p.Command("check")
	driver.Path = filepath.Join(p.Bin, "hostdir")
	driver.Args = []string{"hostdir", "--endpoint=" + socket, "--node-id=node-a", "--state-dir=" + filepath.Join(p.Dir, "state")}
	require.NoError(t, driver.Start())
	defer func() { _ = driver.Process.Kill(); _ = driver.Wait() }()
	require.Eventually(t, func() bool { _, err := os.Stat(socket); return err == nil }, time.Minute, 5*time.Millisecond)
	got := outcomeOf(t, p.Command("check", "--endpoint", "unix://"+socket, "--only", "claims/*", "--only", "restart/driver-*", "--verbose"))
	assert.Equal(t, 0, got.Code, got.Stdout+got.Stderr)
	assert.Contains(t, got.Stdout, "PASS Claims without pods       one  many  repeated  odd-size  lost\n")
	assert.Contains(t, got.Stdout, "  csisim did not start the driver on the socket and cannot end it: restart/driver-on-node")
}

func TestAnInterruptedCheckLeavesNothingBehind(t *testing.T) {
	clitest.NeedsMounts(t)
	p := newPlace(t, clitest.Build(t))
	c := p.Command(append([]string{"check", "--out", "kept", "--"}, checkedDriver...)...)
	r := &clitest.Running{Place: p.Place, Command: c, Ended: make(chan struct{})}
	c.Stdout, c.Stderr = &r.Output, &r.Output
	require.NoError(t, c.Start())
	go func() {
		defer close(r.Ended)
		_ = c.Wait() // the output shows the result
	}()
	planned := func() bool { _, err := os.Stat(filepath.Join(p.Dir, "kept")); return err == nil }
	require.Eventually(t, func() bool { return planned() && len(p.Programs("hostdir")) > 2 || r.HasEnded() }, time.Minute, time.Millisecond)
	r.Signal(t, syscall.SIGINT)
	assert.Equal(t, 130, r.AwaitEnd(t, clitest.Interrupted))
	assert.Contains(t, r.Output.String(), "\nNot tried\n  interrupted: ", "the card has the outcomes so far")
	assert.Regexp(t, `hostdir\.csi\.example\.com: \d+ passed, 0 failed, \d+ not tried`, r.Output.String())
	assert.Contains(t, r.Output.String(), "interrupted; everything of the run is cleaned up")
	assert.Empty(t, r.Leftovers())
}
