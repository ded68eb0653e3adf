package check_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
)

// buildHostdir returns the reference driver that makes real mounts.
func buildHostdir(t testing.TB) string { return builtDriver(t, "hostdir") }

// hostdir is the reference driver, with a defect unless the name is empty.
func hostdir(program, defect string) check.Subject {
	return check.Subject{Driver: scenario.Driver{Program: &scenario.Program{Command: []string{
		program, "--endpoint={{.Endpoint}}", "--driver-name=hostdir.csi.csisim.dev", "--mode={{.Mode}}", "--node-id={{.NodeID}}",
		"--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}", "--broken=" + defect,
	}}}}
}

// withClaims are trials of volumes of claims, of each kind of fault and restart.
var withClaims = []string{
	"*/filesystem", "*/NodePublishVolume", "*/driver-on-node", "reboot/running", "claims/many", "share/subpath", "grow/in-use",
	"snapshot/restored", "stalled/*",
}

// The driver has volumes of claims, and inline volumes without podInfoOnMount. The test of
// README.md runs all trials of volumes of claims.
func TestASoundProgramWithInlineVolumesPasses(t *testing.T) {
	program := buildHostdir(t)
	subject := withInline(hostdir(program, ""), "also", false, persistent, ephemeral)
	patterns := append(withClaims, "inline/*")
	if *allTrials {
		patterns = nil
	}
	card := checked(t, subject, check.RunOptions{Parallel: 2, WorkDir: workDir(t)}, patterns...)
	assert.Empty(t, verdicts(card))
	assert.Empty(t, card.NotTried())
	assert.Subset(t, passed(card, "inline"), familyOfInline)
	assert.Zero(t, card.Totals().Overdue, "calls behind one that a fault stalls do not depend on the machine")

	running := func(s check.Subject) []string {
		_, trials := planned(t, s, check.RunOptions{WorkDir: workDir(t)})
		return check.Names(slices.DeleteFunc(trials, func(one *check.Trial) bool { return !one.Runs() }))
	}
	assert.Subset(t, running(subject), running(hostdir(program, "")), "a driver of claims alone has no trial beyond these")
}

// workDir has a short path, because socket paths have a limited length.
func workDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "c")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// Given the reference driver with a defect, when the trial is run, then the verdict names the
// defect.
var defects = []struct{ name, trial, verdict string }{
	{"publish-not-idempotent", "repeated/block", "NodePublishVolume is not idempotent: 1 mount, then 2"},
	{"publish-not-idempotent", "lost/NodePublishVolume", "NodePublishVolume is not idempotent: 1 mount, then 2"},
	{"publish-unmounts-others", "share/subpath", "foreign mount: driver hostdir.csi.csisim.dev unmounted "},
	{"publish-leaves-process", "life/filesystem", "left behind: process "},
	{"readonly-top-only", "repeated/read-only", "NodePublishVolume ignores readonly: a container that has the volume read-only can write in /var/lib/kubelet/pods/"},
	{"unpublish-not-found-errors", "repeated/filesystem", "NodeUnpublishVolume is not idempotent: OK, then NotFound"},
	{"unpublish-leaves-target-dir", "life/filesystem", "NodeUnpublishVolume leaves what it has to delete: /var/lib/kubelet/pods/"},
	{"unpublish-leaves-mount", "life/filesystem", "NodeUnpublishVolume has no effect: 1 mounted still: "},
	{"unpublish-ignores-errors", "system-calls/NodeUnpublishVolume", "NodeUnpublishVolume has no effect: 1 mounted still: "},
	{"create-leaves-directory", "system-calls/CreateVolume", "CreateVolume leaves an orphan: /run/csisim/state/hostdir.csi.csisim.dev/preparing-"},
	{"unpublish-trusts-stat", "broken-mount/NodeUnpublishVolume", "NodeUnpublishVolume has no effect: 1 mounted still: "},
	{"unpublish-ignores-errors", "in-use/NodeUnpublishVolume", "NodeUnpublishVolume has no effect: 1 mounted still: "},
	{"list-omits-nodes", "life/listed", "ListVolumes leaves out a node: volume vol-"},
	{"detach-from-all-nodes", "access/ReadWriteMany", "ListVolumes leaves out a node: volume vol-"},
	{"readonly-for-all", "share/read-only-beside", "data lost: pod default/again cannot write its data: volume pvc-"},
	{"device-remembered", "share/blocks-in-turns", "data lost: "},
	{"device-recorded", "reboot/blocks-in-another-order", "does not find its data: volume "},
	{"limit-too-high", "share/up-to-the-limit", "ControllerPublishVolume fails for good: ResourceExhausted: node node-a has 3 of 3 volumes"},
	{"list-ignores-source", "listed/snapshots", "ListSnapshotsResponse.entries.snapshot.source_volume_id is vol-"},
	{"pages-skip", "listed/snapshots", "ListSnapshots leaves out on its pages what it lists at once: snap-"},
	{"pages-skip", "listed/volumes", "ListVolumes leaves out on its pages what it lists at once: vol-"},
	{"get-omits-nodes", "listed/volumes", "ControllerGetVolume leaves out a node: volume vol-"},
	{"copy-stops-early", "snapshot/cloned", "found an incomplete copy (file .csisim-kept/file: other content)"},
	{"copy-stops-early", "snapshot/larger-block", "found an incomplete copy (block at offset 8388608: other content)"},
	{"list-omits-blocks", "life/listed", "ListVolumes leaves out a node: volume vol-"},
	{"stats-swapped", "life/measured", "NodeGetVolumeStatsResponse.usage.used falls from 16"},
	{"expand-shrinks", "grow/lowered-block", "ControllerExpandVolume makes a volume smaller: "},
	{"list-keeps-deleted", "snapshot/restored", "ListSnapshots lists a deleted snapshot: snap-"},
	{"copy-follows-links", "snapshot/cloned", "found an incomplete copy (symbolic link .csisim-kept/link: none)"},
	{"stats-remembered", "grow/measured", "NodeGetVolumeStatsResponse.usage.total is 16777216 still, as before the volume grew to 33554432 bytes"},
	{"stats-remembered", "grow/measured-block", "NodeGetVolumeStatsResponse.usage.total is 16777216 of a block device of 33554432 bytes"},
	{"stats-of-node", "life/measured-block", " of a block device of 16777216 bytes"},
	{"requests-logged", "life/secrets", "CreateVolume logs a secret: hostdir.csi.csisim.dev-control-plane-1.log has the value of key: "},
	{"sizes-compared", "claims/odd-size", "CreateVolume is not idempotent: OK, then AlreadyExists"},
	{"clone-remembered", "snapshot/cloned-again", "data lost: pod default/reader-b does not find its data"},
	{"topology-first-requisite", "life/second-node", "timed out waiting for the condition: pod web in phase Running"},
	{"secret-in-volume-context", "life/secrets", "CreateVolume returns a secret: volume_context has the value of key under key"},
	{"secret-in-publish-context", "life/secrets", "ControllerPublishVolume returns a secret: publish_context has the value of key under key"},
	{"publish-leaves-file", "life/again-and-again", "left behind: open file /run/csisim/state/hostdir.csi.csisim.dev on node-a (of driver hostdir.csi.csisim.dev on node-a, which has "},
	{"publish-leaves-zombie", "life/again-and-again", "left behind: dead process true on node-a (of driver hostdir.csi.csisim.dev on node-a, which has "},
	{"unmounts-lazily", "in-use/NodeUnpublishVolume", "NodeUnpublishVolume unmounts lazily: /var/lib/kubelet/pods/"},
	{"unmounts-lazily", "in-use/NodeUnstageVolume", "NodeUnstageVolume unmounts lazily: /var/lib/kubelet/plugins/"},
	{"delete-forgets-first", "crash-driver/DeleteVolume", "DeleteVolume leaves data: what was written to volume vol-"},
	{"delete-takes-origin", "snapshot/clone-deleted", "data lost: pod default/after does not find its data"},
	{"delete-takes-own-snapshot", "snapshot/restored-twice", "CreateVolume fails for good: NotFound: snapshots "},
	{"restore-consumes", "snapshot/restored-twice", "data lost: pod default/again does not find its data"},
	{"expand-once", "grow/twice", "ControllerExpandVolume fails for good: OutOfRange: volume vol-"},
	{"expand-records-first", "grow/driver-killed-block", "NodeExpandVolume leaves a device too small: "},
	{"stage-clears", "system-calls/NodeStageVolume", "data lost: pod default/after does not find its data"},
	{"readonly-sticks", "life/read-only-first", "data lost: pod default/web cannot write its data: volume pvc-"},
	{"stop-unmounts", "restart/driver-updated", "foreign mount: driver hostdir.csi.csisim.dev unmounted "},
	{"publish-ignores-errors", "system-calls/NodePublishVolume", "NodePublishVolume has no effect: nothing is mounted at "},
	{"records-in-container", "restart/driver-on-node", "NodeUnpublishVolume has no effect: 1 mounted still: "},
	{"records-in-container", "restart/driver-updated", "NodeUnpublishVolume has no effect: 1 mounted still: "},
	{"records-in-container", "crash-driver/NodeUnpublishVolume", "NodeUnpublishVolume has no effect: 1 mounted still: "},
	{"detach-refuses-elsewhere", "repeated/many-nodes", "ControllerUnpublishVolume is not idempotent: OK, then FailedPrecondition"},
	{"unpublish-compares-paths", "life/filesystem", "NodeUnpublishVolume has no effect: 1 mounted still: "},
	{"unpublish-removes-parent", "life/filesystem", "NodeUnpublishVolume removes what the driver has not made: /var/lib/kubelet/pods/"},
	{"socket-stays", "crash-driver/NodeStageVolume", "does not start again: start driver hostdir.csi.csisim.dev on node-a: program exited before it answered: exit status 1"},
	{"unpublish-removes-content", "in-use/NodeUnpublishVolume", "data lost: pod default/after does not find its data"},
	{"unpublish-removes-content", "system-calls/NodeUnpublishVolume", "data lost: pod default/after does not find its data"},
	{"stage-not-idempotent", "repeated/filesystem", "NodeStageVolume is not idempotent: OK, then Internal"},
	{"unstage-leaves-mount", "repeated/filesystem", "NodeUnstageVolume has no effect: 1 mounted still"},
	{"unstage-leaves-mount", "life/filesystem", "NodeUnstageVolume has no effect: 1 mounted still"},
	{"publish-ignores-errors", "system-calls/NodePublishVolume", "NodePublishVolume has no effect: nothing is mounted at "},
	{"create-not-idempotent", "claims/repeated", "CreateVolume is not idempotent: volume vol-"},
	{"delete-leaves-volume", "claims/repeated", "DeleteVolume has no effect: volume vol-"},
	{"attach-to-many-nodes", "contradicted/ControllerPublishVolume", "ControllerPublishVolume accepts a contradiction: a single-node volume attached to node-a, then also to node-b"},
	{"forget-attachments-on-restart", "restart/driver-controller", "forbidden call: Node"},
	{"lost-state-on-restart", "restart/driver-controller", "ControllerPublishVolume fails for good: NotFound: "},
	{"expand-forgets-size", "grow/in-use", "ControllerExpandVolume has no effect: volume vol-"},
	{"expand-leaves-device", "grow/block", "NodeExpandVolume leaves a device too small: "},
	{"expand-skips-node", "grow/block", "ControllerExpandVolume leaves a device too small: "},
	{"delete-takes-snapshots", "snapshot/source-deleted", "CreateVolume fails for good: NotFound: snapshots "},
	{"delete-wipes-copies", "snapshot/cloned-source-deleted", "data lost: "},
	{"copy-stays-small", "snapshot/larger-block", "NodePublishVolume leaves a device too small: "},
	{"copy-stays-small", "snapshot/cloned-larger-block", "NodePublishVolume leaves a device too small: "},
	{"copy-recorded-small", "snapshot/cloned-larger", "ListVolumesResponse.entries.volume.capacity_bytes is 16777216 of volume vol-"},
	{"start-unmounts", "restart/driver-on-node", "foreign mount: driver hostdir.csi.csisim.dev unmounted "},
	{"detach-not-found-errors", "repeated/filesystem", "ControllerUnpublishVolume is not idempotent: OK, then NotFound"},
	{"publish-wrong-volume-after-restart", "restart/while-running", "data lost: pod default/second does not find its data"},
	{"block-leaks-loop", "life/block", "left behind: loop device "},
	{"detach-loses-data", "life/used-again", "data lost: "},
	{"detach-leaves-attachment", "repeated/filesystem", "ControllerUnpublishVolume has no effect: volume vol-"},
	{"stage-trusts-records", "reboot/running", "data lost: "},
	{"stage-leaks-mount", "life/filesystem", "NodeUnstageVolume leaves a mount: "},
	{"mount-group-ignored", "life/mount-group", "NodePublishVolume ignores volume_mount_group: "},
	{"records-not-synced", "reboot/running", "NodePublishVolume fails for good: Internal: read /run/csisim/state/hostdir.csi.csisim.dev-node-a/placements/"},
	{"group-mixes-volumes", "group/restored", "data lost: pod default/reader "},
	{"snapshot-restores-empty", "snapshot/restored", "data lost: "},
	{"snapshot-replaces-others", "snapshot/two-of-one", "data lost: "},
	{"snapshot-ignores-source", "contradicted/CreateSnapshot", "CreateSnapshot accepts a contradiction: a snapshot of volume vol-"},
	{"snapshot-ignores-errors", "snapshot/full-disk", "data lost: "},
	{"restore-ignores-errors", "snapshot/full-disk-restoring", "data lost: "},
	{"snapshot-of-first", "snapshot/of-two-volumes", "data lost: pod default/reader-"},
	{"copy-trusts-directory", "snapshot/driver-killed-restoring", "data lost: "},
	{"copy-trusts-directory", "snapshot/driver-killed-cloning", "data lost: "},
	{"expand-forgets-size", "grow/driver-killed-ControllerExpandVolume", "NodeExpandVolume fails for good: OutOfRange: "},
	{"publish-makes-file", "life/filesystem", "NodePublishVolume publishes no directory: a file lies at /var/lib/kubelet/pods/"},
	{"publish-makes-fifo", "life/filesystem", "NodePublishVolume publishes no directory: a FIFO lies at /var/lib/kubelet/pods/"},
	{"publish-makes-symlink", "life/filesystem", "NodePublishVolume publishes no directory: a symbolic link lies at /var/lib/kubelet/pods/"},
	{"calls-overlap", "overlap/NodePublishVolume", "NodePublishVolume has its effect twice when two calls overlap: 2 mounts of "},
	{"calls-overlap", "stalled/NodePublishVolume", "NodePublishVolume has its effect twice when two calls overlap: 2 mounts of "},
	{"calls-overlap", "stalled/NodeStageVolume", "foreign mount: driver hostdir.csi.csisim.dev unmounted "},
	{"deadline-keeps-lock", "timed-out/NodeStageVolume", "NodeStageVolume fails for good: Aborted: an operation on "},
	{"deadline-keeps-lock", "timed-out/DeleteVolume", "DeleteVolume fails for good: Aborted: an operation on "},
	{"stage-panics", "life/filesystem", "driver died: driver hostdir.csi.csisim.dev on node-a in NodeStageVolume: panic: no backend for volume vol-"},
	{"list-panics", "life/filesystem", "driver died: driver hostdir.csi.csisim.dev, controller in ListVolumes: panic: no page"},
	{"publish-exits", "life/filesystem", "driver died: driver hostdir.csi.csisim.dev on node-a in NodePublishVolume: exit status 3"},
	{"block-not-published", "life/block", "CreateVolume should refuse a raw block volume, which no node publishes: NodePublishVolume fails for good: InvalidArgument: block volumes are not supported"},
	{"publish-not-idempotent", "inline/repeated", "NodePublishVolume is not idempotent: 1 mount, then 2"},
	{"unpublish-not-found-errors", "inline/lost-NodeUnpublishVolume", "NodeUnpublishVolume fails for good: NotFound: "},
	{"unpublish-leaves-target-dir", "inline/life", "NodeUnpublishVolume leaves what it has to delete: /var/lib/kubelet/pods/"},
	{"calls-overlap", "inline/overlap-NodePublishVolume", "NodePublishVolume has its effect twice when two calls overlap: 2 mounts of "},
	{"inline-refusal-leaves-mount", "inline/wrong-attributes", "timed out waiting for the condition: pod wrong gone"},
	{"inline-shares-content", "inline/two-pods", "data lost: "},
	{"inline-forgotten-on-restart", "inline/restart-driver-on-node", "NodeUnpublishVolume fails for good: NotFound: "},
}

// triesOf returns the number of attempts to find a defect. All processes of the machine share its
// loop devices. If another process takes a device meanwhile, a volume may get its former device
// again.
func triesOf(defect string) int {
	if strings.HasPrefix(defect, "device-") {
		return 5
	}
	return 1
}

func TestDefectsOfAProgramAreFound(t *testing.T) {
	program := buildHostdir(t)
	facts, trials := planned(t, hostdir(program, ""), check.RunOptions{WorkDir: workDir(t)})
	for _, d := range defects {
		t.Run(d.name+" by "+d.trial, func(t *testing.T) {
			// Another trial would use the loop device meanwhile.
			if d.name != "device-remembered" {
				t.Parallel()
			}
			try := func() *check.Card { return tried(t, facts, broken(t, trials, d.trial, "--broken=", d.name)) }
			if subject, other := otherSubject(program, d.name, d.trial); other || *allTrials {
				try = func() *check.Card { return checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, d.trial) }
			}
			var found string
			for range triesOf(d.name) {
				found = verdicts(try())
				if strings.Contains(found, d.verdict) {
					break
				}
			}
			assert.Contains(t, found, d.verdict)
		})
	}
}

// otherSubject returns the driver with a defect. It reports whether the plan for the sound driver
// lacks the trial that finds the defect.
func otherSubject(program, defect, trial string) (check.Subject, bool) {
	subject := hostdir(program, defect)
	command := &subject.Driver.Program.Command
	switch {
	case strings.HasPrefix(trial, "inline/"):
		return withInline(subject, "also", true, storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral), true
	case trial == "life/second-node":
		*command = append(*command, "--topology=zone={{.NodeName}}")
	case trial == "share/up-to-the-limit":
		*command = append(*command, "--max-volumes=3")
	case defect == "unpublish-compares-paths":
		subject.KubeletDir = scenario.KubeletDir{Path: "/var/lib/kubelet", SymlinkTo: "/mnt/kubelet"}
	default:
		// Answers to requests of check itself decide whether these trials run.
		return subject, trial == "life/mount-group" || defect == "block-not-published"
	}
	return subject, true
}

// A sound driver passes with a kubelet directory at another path, or behind a symlink.
func TestASoundProgramPassesWithAnotherKubeletDirectory(t *testing.T) {
	program := buildHostdir(t)
	for _, dir := range []scenario.KubeletDir{
		{Path: "/var/lib/k0s/kubelet"}, {SymlinkTo: "/mnt/kubelet"}, {Path: "/mnt/kubelet", SymlinkFrom: "/var/lib/kubelet"},
	} {
		subject := hostdir(program, "")
		subject.KubeletDir = dir
		card := checked(t, subject, check.RunOptions{WorkDir: workDir(t), Parallel: 2}, "life/filesystem", "share/subpath", "restart/kubelet", "crash-caller/NodeUnstageVolume")
		assert.Empty(t, verdicts(card), dir.YAML())
		assert.Equal(t, check.Totals{Passed: 4}, counted(card), dir.YAML())
	}
}

// Given a driver without lists, when its detach answers OK but keeps the attachment, then the
// driver's refusal of another attachment reveals the defect. CSI "ControllerPublishVolume":
// ALREADY_EXISTS
func TestAnAttachmentThatStaysIsFoundWithoutLists(t *testing.T) {
	program := buildHostdir(t)
	for defect, want := range map[string]string{
		"": "", "detach-leaves-attachment": "ControllerUnpublishVolume has no effect: volume vol-",
	} {
		subject := hostdir(program, defect)
		subject.Driver.Program.Command = append(subject.Driver.Program.Command, "--without=list")
		found := verdicts(checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, "repeated/filesystem"))
		assert.Contains(t, found, want)
		assert.Equal(t, want == "", found == "", found)
	}
}

// Given a driver that keeps records in its container, when it is restarted, then the card names the
// lost records that it tried to read. If its container mounts their directory from the node, there
// is no finding.
func TestRecordsOutliveAContainerInADirectoryOfTheNodeOnly(t *testing.T) {
	program := buildHostdir(t)
	subject := hostdir(program, "records-in-container")
	card := checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, "restart/driver-on-node")
	var text strings.Builder
	require.NoError(t, card.Text(&text, report.Terminal{}))
	assert.Regexp(t, `lost +/var/lib/hostdir/placements/[0-9a-f…]+\.json was written before the restart, lost with the container, and opened again by driver hostdir\.csi\.csisim\.dev on node-a\n`, text.String())

	subject.Driver.Program.NodePaths = []string{"/var/lib/hostdir"}
	card = checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, "restart/driver-on-node", "restart/driver-updated", "crash-driver/NodeUnpublishVolume", "reboot/running")
	assert.Empty(t, verdicts(card))
	assert.Equal(t, check.Totals{Passed: 4}, counted(card))
}

// Given a driver with two defects, and a trial with two faults that each show one of them, when the
// trial fails, then each fault has a separate verdict and can be tried alone.
func TestEachFaultOfATrialHasAVerdict(t *testing.T) {
	program := buildHostdir(t)
	subject := hostdir(program, "records-in-container,publish-ignores-errors")
	card := checked(t, subject, check.RunOptions{WorkDir: workDir(t), Parallel: 2}, "system-calls/NodePublishVolume")
	var failed []string
	for _, o := range card.Outcomes {
		require.True(t, o.Failed(), o.Name())
		failed = append(failed, o.Name())
	}
	assert.GreaterOrEqual(t, len(failed), 2, failed)
	assert.NotContains(t, failed, "system-calls/NodePublishVolume")
	found := verdicts(card)
	assert.Contains(t, found, "NodeUnstageVolume has no effect: 1 mounted still: ")
	assert.Contains(t, found, "NodePublishVolume has no effect: nothing is mounted at ")

	lost := card.Findings()[slices.IndexFunc(card.Findings(), func(f check.Finding) bool { return strings.HasPrefix(f.Name, "NodePublishVolume has no effect") })]
	require.Regexp(t, `^system-calls/NodePublishVolume-fail-\d$`, lost.Shown[0].Name())
	again := checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, lost.Shown[0].Name())
	assert.Contains(t, verdicts(again), "NodePublishVolume has no effect: nothing is mounted at ")
}

// Given a CSIDriver object with tokenRequests, when the driver logs the tokens, then the check
// reports it; a driver that keeps them secret passes.
func TestServiceAccountTokensInALogAreFound(t *testing.T) {
	program := buildHostdir(t)
	for _, defect := range []string{"", "tokens-logged", "requests-logged"} {
		subject := hostdir(program, defect)
		subject.CSIDriver = &storagev1.CSIDriverSpec{TokenRequests: []storagev1.TokenRequest{{Audience: "vault"}}}
		card := checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, "life/filesystem")
		if defect == "" {
			assert.Empty(t, verdicts(card))
			continue
		}
		assert.Contains(t, verdicts(card), "NodePublishVolume logs a secret: hostdir.csi.csisim.dev-node-a-1.log has the value of csi.storage.k8s.io/serviceAccount.tokens: ")
		assert.NotRegexp(t, `ey[A-Za-z0-9_-]{20}`, verdicts(card), "no token is shown")
	}
}

// Given Secrets with a user, an endpoint and a region, when the driver logs these values, then the
// check reports nothing, since they are not credentials.
func TestAccountsThatADriverLogsAreNoSecrets(t *testing.T) {
	program := buildHostdir(t)
	for defect, want := range map[string]string{"": "", "requests-logged": "logs a secret"} {
		subject := hostdir(program, defect)
		subject.Driver.Program.Command = append(subject.Driver.Program.Command, "--log-accounts")
		secret := map[string]string{"user": "storage-admin-7", "endpoint": "https://storage7.example.com:8443", "region": "eu-central-1", "password": "a1b2c3d4e5f6"}
		subject.Secrets = profile.Secrets{"provisioner": secret, "node-stage": secret, "node-publish": secret}
		found := verdicts(checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, "life/filesystem"))
		assert.Equal(t, want != "", strings.Contains(found, "secret"), found)
		assert.Contains(t, found, want)
	}
}

// Given a sound driver with volumes that are bound to zones, then a pod can use its volume on any
// node.
func TestASoundDriverWithTopologyPasses(t *testing.T) {
	subject := hostdir(buildHostdir(t), "")
	subject.Driver.Program.Command = append(subject.Driver.Program.Command, "--topology=zone={{.NodeName}}")
	card := checked(t, subject, check.RunOptions{WorkDir: workDir(t), Parallel: 2}, "life/*", "claims/*")
	assert.Empty(t, verdicts(card))
	assert.Contains(t, passed(card, "life"), "second-node")
}

// Given a driver that was built with -race, when it has a data race, then the verdict names the
// functions; a sound driver passes.
func TestDataRacesThatADriverReportsAreFindings(t *testing.T) {
	_ = buildHostdir(t) // skips without root
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-race", "-o", dir, "../../../drivers/hostdir").CombinedOutput(); err != nil {
		t.Skipf("the race detector is not there: %s", out)
	}
	for defect, want := range map[string]string{"": "", "publish-races": "data race in defect.countPublished"} {
		card := checked(t, hostdir(filepath.Join(dir, "hostdir"), defect), check.RunOptions{WorkDir: workDir(t)}, "life/filesystem")
		found := verdicts(card)
		assert.Contains(t, found, want)
		assert.Equal(t, want == "", found == "", found)
	}
}

// remarkable are defects that no container can exploit, because its own mount is read-only.
var remarkable = []string{"ignore-readonly", "readonly-by-remount"}

// If the driver ignores readonly or only remounts, only the node can write to the volume. This is a
// note, and a failure with Strict.
func TestAnIgnoredReadonlyIsANote(t *testing.T) {
	program := buildHostdir(t)
	for _, name := range remarkable {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const remark = "NodePublishVolume ignores readonly: files can be made in /var/lib/kubelet/pods/"
			card := checked(t, hostdir(program, name), check.RunOptions{WorkDir: workDir(t)}, "repeated/read-only")
			assert.Empty(t, verdicts(card))
			assert.Equal(t, check.Totals{Passed: 1}, counted(card))
			require.Len(t, card.Remarks(), 1)
			assert.Contains(t, card.Remarks()[0].Text, remark)
			card = checked(t, hostdir(program, name), check.RunOptions{WorkDir: workDir(t), Strict: true}, "repeated/read-only")
			assert.Contains(t, verdicts(card), remark)
			assert.Empty(t, card.Remarks())
			assert.Equal(t, check.Totals{Failed: 1}, counted(card))
		})
	}
	assert.Empty(t, checked(t, hostdir(program, ""), check.RunOptions{WorkDir: workDir(t)}, "repeated/read-only").Remarks(), "a sound driver")
}

// noted are defects that do not affect Kubernetes, or that a correct file system may also show.
var noted = []struct{ name, trial, note string }{
	{"copy-loses-modes", "snapshot/cloned", "a copy loses the modes of its files: volume pvc-"},
	{"copy-loses-owners", "snapshot/cloned", "a copy loses the owners of its files: volume pvc-"},
	{"list-fails-for-unknown", "snapshot/restored", "ListSnapshots fails for the id of a deleted snapshot: NotFound"},
	{"expand-shrinks", "grow/lowered", "ControllerExpandVolumeResponse.capacity_bytes is 33554432 of a volume that has 50331648 by an earlier answer"},
}

func TestAPossibleDefectOfAFileSystemIsANote(t *testing.T) {
	program := buildHostdir(t)
	for _, d := range noted {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			card := checked(t, hostdir(program, d.name), check.RunOptions{WorkDir: workDir(t)}, d.trial)
			assert.Empty(t, verdicts(card))
			require.Len(t, card.Remarks(), 1)
			assert.Contains(t, card.Remarks()[0].Text, d.note)
		})
	}
}

// Given a driver that shrinks a volume and reports the smaller size in its answers, when a
// container had the larger device, then the card has a finding and no note.
func TestASmallerVolumeIsReportedOnce(t *testing.T) {
	card := checked(t, hostdir(buildHostdir(t), "expand-shrinks"), check.RunOptions{WorkDir: workDir(t)}, "grow/lowered*")
	require.Len(t, card.Findings(), 1)
	assert.Equal(t, check.DataLoss, card.Findings()[0].Harm)
	assert.Empty(t, card.Remarks())
}

// Kubernetes detaches a deleted volume only if it was deleted in the storage system.
func TestADriverThatCannotDetachADeletedVolumeGetsANote(t *testing.T) {
	const trial = "repeated/filesystem"
	card := checked(t, hostdir(buildHostdir(t), "detach-deleted-errors"), check.RunOptions{WorkDir: workDir(t)}, trial)
	assert.Empty(t, verdicts(card))
	require.Len(t, card.Remarks(), 1)
	assert.Contains(t, card.Remarks()[0].Text, "ControllerUnpublishVolume does not detach a deleted volume: NotFound for volume vol-")
}

// By design, a driver may remove the files of snapshots later.
func TestFilesOfDeletedSnapshotsAreANote(t *testing.T) {
	program := buildHostdir(t)
	card := checked(t, hostdir(program, "snapshot-leaves-checksums"), check.RunOptions{WorkDir: workDir(t)}, "snapshot/restored")
	assert.Empty(t, verdicts(card))
	require.Len(t, card.Remarks(), 1)
	assert.Contains(t, card.Remarks()[0].Text, "DeleteSnapshot leaves data: files of snapshot snap-")
	assert.Empty(t, checked(t, hostdir(program, ""), check.RunOptions{WorkDir: workDir(t)}, "snapshot/*").Remarks(), "a sound driver")
}

// The driver stalls only in the intended call, even if it makes no change in this call.
func TestADriverThatChangesNothingInACallDoesNotStallInTheNextOnes(t *testing.T) {
	card := checked(t, hostdir(buildHostdir(t), "unstage-leaves-mount"), check.RunOptions{WorkDir: workDir(t)}, "stalled/NodeUnstageVolume")
	assert.Contains(t, verdicts(card), "NodeUnstageVolume has no effect: 1 mounted still")
	assert.Zero(t, card.Totals().Overdue, "no call waits for the one that stalls")
}

// The CSI spec does not require mount options, and Kubernetes never verifies them.
func TestMountOptionsThatAreIgnoredAreANote(t *testing.T) {
	const trial, remark = "life/mount-options", "NodePublishVolume ignores mount_flags: the mount at /var/lib/kubelet/pods/"
	program := buildHostdir(t)
	for defect, without := range map[string]string{"mount-flags-ignored": "is without nosuid and noexec", "mount-flags-partly": "is without noexec"} {
		ignoring := hostdir(program, defect)
		card := checked(t, ignoring, check.RunOptions{WorkDir: workDir(t)}, trial)
		assert.Empty(t, verdicts(card))
		require.Len(t, card.Remarks(), 1)
		assert.Contains(t, card.Remarks()[0].Text, remark)
		assert.Contains(t, card.Remarks()[0].Text, without)
		assert.Contains(t, verdicts(checked(t, ignoring, check.RunOptions{WorkDir: workDir(t), Strict: true}, trial)), remark)
	}

	sound := checked(t, hostdir(program, ""), check.RunOptions{WorkDir: workDir(t), Strict: true}, trial)
	assert.Equal(t, check.Totals{Passed: 1}, counted(sound))
}

// Given a driver that reads the target before it unmounts it. When the mounted file system fails,
// then the pod cannot end until the file system works again, and the card has a note. A driver that
// reads the mount table instead finds the mount and unmounts it.
func TestAVolumeThatStaysMountedWhileItsFileSystemFailsIsANote(t *testing.T) {
	const trial, remark = "broken-mount/NodeUnpublishVolume", "NodeUnpublishVolume fails as long as the mounted file system fails, so the pod cannot end: "
	program := buildHostdir(t)
	card := checked(t, hostdir(program, "unpublish-needs-stat"), check.RunOptions{WorkDir: workDir(t)}, trial)
	assert.Empty(t, verdicts(card))
	require.Len(t, card.Remarks(), 1)
	assert.Contains(t, card.Remarks()[0].Text, remark)
	assert.Contains(t, card.Remarks()[0].Text, "stale file handle")

	sound := checked(t, hostdir(program, ""), check.RunOptions{WorkDir: workDir(t)}, "broken-mount/*")
	assert.Empty(t, verdicts(sound))
	assert.Empty(t, sound.Remarks())
}

// A driver that changes the group of volumes to that of pods passes.
func TestASoundDriverMayGiveVolumesToGroups(t *testing.T) {
	subject := hostdir(buildHostdir(t), "")
	subject.Driver.Program.Command = append(subject.Driver.Program.Command, "--mount-group")
	card := checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, "life/mount-group", "life/filesystem", "repeated/read-only")
	assert.Empty(t, verdicts(card))
	assert.Equal(t, check.Totals{Passed: 3}, counted(card))
}

// K-EXP-8: the kubelet names a staging path to drivers that do not stage.
func TestASoundDriverWithoutStagingGrows(t *testing.T) {
	subject := hostdir(buildHostdir(t), "")
	subject.Driver.Program.Command = append(subject.Driver.Program.Command, "--no-stage")
	card := checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, "grow/unused", "grow/block")
	assert.Empty(t, verdicts(card))
	assert.Equal(t, check.Totals{Passed: 2}, counted(card))
}

// Without attachments a volume can be deleted while it is still on a node.
func TestASoundDriverWithoutAttachmentsPassesWhenItStalls(t *testing.T) {
	subject := hostdir(buildHostdir(t), "")
	subject.Driver.Program.Command = append(subject.Driver.Program.Command, "--no-attach")
	card := checked(t, subject, check.RunOptions{WorkDir: workDir(t), Parallel: 2}, "stalled/*")
	assert.Empty(t, verdicts(card))
	assert.Contains(t, passed(card, "stalled"), "NodeUnstageVolume")
}

// Given a driver with a lock that prevents its second start, when a step ends the driver or its
// node loses power, then it does not start again. This is one finding, during a call and between
// calls.
func TestADriverThatDoesNotStartAgainIsNamed(t *testing.T) {
	subject := hostdir(buildHostdir(t), "")
	subject.Driver.Program.NodePaths = []string{"/var/lib/hostdir-starts"}
	const once = `if test -n "$(ls /var/lib/hostdir-starts)"; then echo refused: an old lock; exit 3; fi; mkdir /var/lib/hostdir-starts/$$; exec "$@"`
	subject.Driver.Program.Command = append([]string{"sh", "-c", once, "sh"}, subject.Driver.Program.Command...)
	card := checked(t, subject, check.RunOptions{WorkDir: workDir(t)}, "reboot/running", "reboot/NodeStageVolume", "restart/driver-on-node")
	var names []string
	for _, f := range card.Findings() {
		names = append(names, f.Name)
		assert.Equal(t, check.NotStarted, f.Harm)
	}
	assert.Equal(t, []string{"node, killed at …, does not start again", "driver, killed at …, does not start again"}, names)
}

// An error that no fault causes does no harm if the repeated call succeeds.
func TestAnErrorWithoutAFaultIsANote(t *testing.T) {
	program := buildHostdir(t)
	trials := []string{"life/filesystem", "life/read-only", "lost/NodeUnstageVolume"}
	card := checked(t, hostdir(program, "unstage-fails-once"), check.RunOptions{WorkDir: workDir(t)}, trials...)
	assert.Empty(t, verdicts(card))
	require.Len(t, card.Remarks(), 1)
	assert.Contains(t, card.Remarks()[0].Text, "NodeUnstageVolume is answered with Internal, and with OK when it is repeated, though no fault was injected: volume ")
	require.Len(t, card.Remarks()[0].Shown, 2, "the other trial has a fault")
	assert.Equal(t, trials[0], card.Remarks()[0].Shown[0].Name())
	assert.Empty(t, checked(t, hostdir(program, ""), check.RunOptions{WorkDir: workDir(t)}, trials...).Remarks(), "a sound driver")
}

// wasteful are defects that harm no container: the wasted resources are freed when the program
// ends, and its memory may be bounded.
var wasteful = []string{"stage-hoards-memory", "start-leaves-process"}

func TestTheMemoryOfAProgramIsBoundedAndItsLeftoversAreNamed(t *testing.T) {
	program := buildHostdir(t)
	greedy := hostdir(program, "stage-hoards-memory")
	greedy.Driver.Program.Memory = resource.MustParse("64Mi")
	card := checked(t, greedy, check.RunOptions{WorkDir: workDir(t)}, "life/filesystem")
	assert.Contains(t, verdicts(card), "driver died: driver hostdir.csi.csisim.dev on node-a in NodeStageVolume: killed by csisim: it had more memory than the 64 MiB that it may have")

	const left = "in 1 run a program left processes running when it ended, such as watch:"
	card = checked(t, hostdir(program, "start-leaves-process"), check.RunOptions{WorkDir: workDir(t)}, "life/filesystem")
	assert.Empty(t, verdicts(card))
	assert.Contains(t, onWide(t, card), left)
	assert.NotContains(t, onWide(t, checked(t, hostdir(program, ""), check.RunOptions{WorkDir: workDir(t)}, "life/filesystem")), left, "a sound driver")
}

func onWide(t *testing.T, card *check.Card) string {
	var text strings.Builder
	require.NoError(t, card.Text(&text, report.Terminal{Width: 200}))
	return text.String()
}

// counted returns the totals, without totals that vary between runs.
func counted(c *check.Card) check.Totals {
	t := c.Totals()
	return check.Totals{Passed: t.Passed, Failed: t.Failed, NotTried: t.NotTried, Known: t.Known}
}

// Every defect that the driver lists is found.
func TestEveryDefectOfTheReferenceDriverIsFound(t *testing.T) {
	help, _ := exec.Command(buildHostdir(t), "--help").CombinedOutput()
	_, list, found := strings.Cut(string(help), "misbehave as names say, separated by commas:\n")
	require.True(t, found, string(help))
	known := map[string]bool{}
	for _, d := range defects {
		known[d.name] = true
	}
	for _, d := range slices.Concat(remarkable, wasteful, []string{"mount-flags-ignored", "mount-flags-partly", "detach-deleted-errors", "publish-races", "tokens-logged", "unstage-fails-once", "unstage-forgives-after-restart", "unpublish-needs-stat", "snapshot-leaves-checksums", "stats-of-root"}) {
		known[d] = true
	}
	for _, d := range noted {
		known[d.name] = true
	}
	for _, d := range dayTwoDefects {
		known[d.name] = true
	}
	for _, d := range upgradeDefects {
		known[d.defect] = true
	}
	for line := range strings.Lines(list) {
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || strings.HasPrefix(name, "-") {
			break
		}
		assert.True(t, known[name], "which trial finds %s?", name)
	}
}

// BenchmarkCheck is the whole check of a sound driver program on two cores.
func BenchmarkCheck(b *testing.B) {
	program := buildHostdir(b)
	for b.Loop() {
		card := checked(b, hostdir(program, ""), check.RunOptions{Parallel: 2, WorkDir: workDir(b)})
		require.Empty(b, verdicts(card))
		b.ReportMetric(float64(len(card.Outcomes)), "scenarios")
	}
}
