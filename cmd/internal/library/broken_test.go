package library_test

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// brokenDrivers lists faulty drivers, the scenario that detects each, and the text of the verdict.
var brokenDrivers = []struct{ broken, file, want string }{
	{"unstage-leaves-mount", "hostdir-move.yaml",
		"left behind: mount /var/lib/kubelet/plugins/kubernetes.io/csi/hostdir.csi.csisim.dev/HASH/globalmount on node-a: " +
			"made by NodeStageVolume at 10.5 s (step 3: wait pod web, phase Running), " +
			"should have gone with NodeUnstageVolume at 11.4 s (step 5: wait pod web, gone true), which answered OK (and 3 more)"},
	{"unpublish-compares-paths", "hostdir-kubelet-symlink.yaml",
		"CSI spec violated: NodeUnpublishVolume has no effect: 1 mounted still: of /run/csisim/state/hostdir.csi.csisim.dev/volumes/VOLUME/data at /var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount"},
	{"stage-leaks-mount", "hostdir-move.yaml",
		"left behind: mount /run/csisim/state/hostdir.csi.csisim.dev-node-a/hidden/VOLUME on node-a: " +
			"made by NodeStageVolume at 10.5 s (step 3: wait pod web, phase Running), " +
			"should have gone with NodeUnstageVolume at 11.4 s (step 5: wait pod web, gone true), which answered OK (and 1 more)"},
	{"publish-unmounts-others", "hostdir-neighbours.yaml",
		"foreign mount: driver hostdir.csi.csisim.dev unmounted /var/lib/kubelet/plugins/kubernetes.io/csi/other.csi.csisim.dev/HASH/globalmount on node-a, " +
			"a mount of driver other.csi.csisim.dev (NodeStageVolume of volume VOLUME), during NodePublishVolume of volume VOLUME (and 3 more)"},
	{"publish-unmounts-others", "hostdir-neighbours.yaml",
		"driver hostdir.csi.csisim.dev unmounted /var/lib/kubelet/pods/POD/volume-subpaths/PV/c/0 on node-a, " +
			"a mount of the kubelet, during NodePublishVolume of volume VOLUME"},
	{"block-leaks-loop", "hostdir-block.yaml",
		"left behind: loop device /dev/loopN on node-a (shows state/hostdir.csi.csisim.dev/volumes/VOLUME/image): " +
			"made by NodeStageVolume at 10.5 s (step 3: wait pod web, phase Running), " +
			"should have gone with NodeUnstageVolume at 11.4 s (step 5: wait va pvc/data, gone true), which answered OK"},
	{"publish-leaves-process", "hostdir-move.yaml",
		"left behind: process N (watch:/var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount infinity) on node-a (started by driver hostdir.csi.csisim.dev): " +
			"made by NodePublishVolume at 10.5 s (step 3: wait pod web, phase Running), " +
			"should have gone with NodeUnpublishVolume at 11.3 s (step 5: wait pod web, gone true), which answered OK (and 1 more)"},
	{"delete-leaves-volume", "hostdir-move.yaml",
		"left behind: volume VOLUME (of driver hostdir.csi.csisim.dev, has no PersistentVolume): " +
			"made by CreateVolume at 1.33 s (step 3: wait pod web, phase Running), " +
			"should have gone with DeleteVolume at 30.4 s (step 11: wait pv *, gone true), which answered OK"},
	{"detach-leaves-attachment,attach-to-many-nodes,delete-leaves-volume", "hostdir-move.yaml",
		"attachment VOLUME (to node id node-a in driver hostdir.csi.csisim.dev, has no VolumeAttachment): " +
			"made by ControllerPublishVolume at 1.4 s (step 3: wait pod web, phase Running), " +
			"should have gone with ControllerUnpublishVolume at 20.4 s (step 7: wait pod again, phase Running), which answered OK"},
	{"publish-makes-file", "hostdir-move.yaml",
		"CSI spec violated: NodePublishVolume publishes no directory: a file lies at /var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount (and 1 more)"},
	{"publish-makes-fifo", "hostdir-move.yaml",
		"CSI spec violated: NodePublishVolume publishes no directory: a FIFO lies at /var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount (and 1 more)"},
	{"publish-makes-symlink", "hostdir-move.yaml",
		"CSI spec violated: NodePublishVolume publishes no directory: a symbolic link lies at /var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount (and 1 more)"},
	{"detach-loses-data", "hostdir-data.yaml",
		"pod default/third does not find its data: volume PV at /var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices/publish/PV/POD on node-b: " +
			"expected generation 2, which pod default/first wrote on node-a, found an empty device"},
	{"publish-wrong-volume-after-restart", "hostdir-data.yaml",
		"data lost: pod default/second does not find its data: volume PV at /var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount on node-a: " +
			"expected generation 1, which pod default/second wrote on node-a, found generation 1 of volume hostdir.csi.csisim.dev^VOLUME"},
	{"detach-loses-data", "hostdir-move.yaml",
		"data lost: pod default/again does not find its data: volume PV at /var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount on node-b: " +
			"expected generation 1, which pod default/web wrote on node-a, found an empty directory"},
	{"stage-trusts-records", "hostdir-restarts.yaml",
		"data lost: pod default/b does not find its data: volume PV at /var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount on node-b: " +
			"expected generation 2, which pod default/b wrote on node-b, found an empty directory"},
	{"records-not-synced", "hostdir-restarts.yaml", "kubelet/node-b/pod default/b: waits for its volumes to be mounted: data"},
	{"reclaim-loses-data", "hostdir-addons.yaml",
		"data lost: pod default/first does not find its data: volume PV at /var/lib/kubelet/pods/POD/volumes/kubernetes.io~csi/PV/mount on node-a: " +
			"expected generation 1, which pod default/first wrote on node-a, found an empty directory"},
	{"fence-ignored", "hostdir-addons.yaml", "pod first writes to volume data, which it must not"},
	{"demoted-stays-writable", "hostdir-addons.yaml", "NodeStageVolume, code FailedPrecondition, message *is demoted*"},
	{"stage-panics", "hostdir-move.yaml",
		"driver died: driver hostdir.csi.csisim.dev on node-a in NodeStageVolume: panic: no backend for volume VOLUME (exit status 2)"},
	{"publish-exits", "hostdir-move.yaml",
		"driver died: driver hostdir.csi.csisim.dev on node-a in NodePublishVolume: exit status 3 (and 1 more)"},
}

func TestFaultyDriversAreCaughtWithTheRightBlame(t *testing.T) {
	withHostdir(t)
	for _, c := range brokenDrivers {
		t.Run(c.broken+" in "+c.file, func(t *testing.T) {
			result := runBroken(t, "programs/"+c.file, c.broken)
			var verdicts []string
			for _, f := range result.Failures {
				verdicts = append(verdicts, f.Verdict.Text)
				if len(f.Got) > 0 {
					verdicts = append(verdicts, strings.Split(f.Got, "\n")...)
				}
			}
			assert.Contains(t, named(strings.Join(verdicts, "\n")), c.want)
		})
	}
}

func runBroken(t *testing.T, file, broken string) *scenario.Result {
	t.Helper()
	result, err := scenario.Run(context.Background(), withBroken(t, file, broken), scenario.RunOptions{})
	require.NoError(t, err)
	return result
}

// withBroken returns a scenario with the reference driver that has a defect.
func withBroken(t *testing.T, file, broken string) *scenario.Scenario {
	t.Helper()
	s, err := scenario.Load(file)
	require.NoError(t, err)
	// This driver refuses to publish a volume that is already mounted.
	if broken == "publish-wrong-volume-after-restart" {
		s.Steps = slices.DeleteFunc(s.Steps, func(step scenario.Step) bool { return step.Kind == "restart-kubelet" })
	}
	// Other scenarios may name the profile of the driver.
	asProgram, err := scenario.Load("programs/hostdir-block.yaml")
	require.NoError(t, err)
	if p := s.Drivers[0].Program; p == nil || len(p.Command) == 0 {
		s.Drivers[0] = asProgram.Drivers[0]
	}
	program := s.Drivers[0].Program
	program.Command = append(program.Command, "--broken="+broken)
	return s
}

// Given a new release that does not unmount the volumes of the old one. When the driver is
// upgraded, then the mount that is left behind is found.
func TestADefectOfANewReleaseIsFoundAfterTheUpgrade(t *testing.T) {
	withHostdir(t)
	s, err := scenario.Load("programs/hostdir-upgrade.yaml")
	require.NoError(t, err)
	v2 := s.Drivers[0].Versions["v2"]
	v2.Program.Command = append(v2.Program.Command, "--broken=unpublish-leaves-mount")
	s.Drivers[0].Versions["v2"] = v2
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, result.Failures)
	assert.Contains(t, result.Failures[0].Verdict.Text, "CSI spec violated: NodeUnpublishVolume has no effect: 1 mounted still: ")
}

// A search makes thousands of runs. It bounds the memory of a program in each of them, and names
// the program's leftovers.
func TestADriverThatTakesTooMuchMemoryIsKilled(t *testing.T) {
	withHostdir(t)
	s := withBroken(t, "programs/hostdir-move.yaml", "stage-hoards-memory")
	s.Drivers[0].Program.Memory = resource.MustParse("64Mi")
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{})
	require.NoError(t, err)
	require.NotEmpty(t, result.Failures)
	assert.Contains(t, result.Failures[0].Verdict.Text+result.Failures[0].Got,
		"driver died: driver hostdir.csi.csisim.dev on node-a in NodeStageVolume: killed by csisim: it had more memory than the 64 MiB that it may have")
	took := func(u sim.Usage) bool {
		return u.Plugin == "driver hostdir.csi.csisim.dev on node-a" && u.Memory > 64<<20
	}
	assert.True(t, slices.ContainsFunc(result.Usage, took), "%v", result.Usage)
}

func TestProcessesThatADriverLeavesAreNamed(t *testing.T) {
	withHostdir(t)
	// this call does not occur twice here.
	sound := runBroken(t, "programs/hostdir-move.yaml", "publish-not-idempotent")
	assert.Empty(t, slices.DeleteFunc(sound.Notes, func(note string) bool { return !strings.HasPrefix(note, "left running") }))
	result := runBroken(t, "programs/hostdir-move.yaml", "start-leaves-process")
	assert.Equal(t, scenario.Passed, result.Exit, "its container ends with it")
	assert.Contains(t, result.Notes, "left running by the program of driver hostdir.csi.csisim.dev on node-a when it ended: 1 of its processes, such as watch:node-a infinity; csisim ended them")
}

// named replaces the parts of a text that differ between runs.
func named(text string) string {
	for _, r := range [][2]string{
		{`vol-[0-9a-f]{24}`, "VOLUME"}, {`pvc-[0-9a-f-]{36}`, "PV"}, {`[0-9a-f]{64}`, "HASH"}, {`/dev/loop[0-9]+`, "/dev/loopN"}, {`process [0-9]+`, "process N"},
		{`[0-9a-f-]{36}`, "POD"}, {regexp.QuoteMeta(os.TempDir()) + `/csisim-[0-9]+-[0-9]+`, "WORK"},
	} {
		text = regexp.MustCompile(r[0]).ReplaceAllString(text, r[1])
	}
	return text
}

// A container that ends is restarted immediately, then after 10 s, and so on. The report has the
// last output of its program before the wait that failed.
func TestADriverThatDiesIsRestartedLikeAContainer(t *testing.T) {
	withHostdir(t)
	result := runBroken(t, "programs/hostdir-move.yaml", "stage-panics")
	var died time.Duration
	var delays []time.Duration
	for _, e := range result.Trace {
		switch {
		case e.Kind == trace.Died:
			died = e.At
		case strings.Contains(e.Message, "restarted by the kubelet"):
			delays = append(delays, e.At-died)
		}
	}
	require.GreaterOrEqual(t, len(delays), 6)
	assert.Equal(t, []time.Duration{0, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second}, delays[:6])
	require.Len(t, result.Failures, 2)
	assert.Contains(t, result.Failures[0].Got, "-node-a-1.log:\n  panic: no backend for volume")
	assert.Contains(t, result.Failures[1].Verdict.Text, "timed out waiting for the condition")
}
