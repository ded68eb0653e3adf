package fakekubelet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/feature"
)

const (
	rwo  = corev1.ReadWriteOnce
	rwx  = corev1.ReadWriteMany
	rwop = corev1.ReadWriteOncePod

	recursive   = corev1.SELinuxChangePolicyRecursive
	mountOption = corev1.SELinuxChangePolicyMountOption
)

func seLinuxMount(s *storagev1.CSIDriverSpec) { s.SELinuxMount = new(true) }

var anyMode = feature.Gates{feature.SELinuxMount: true}

// options returns all options with a level; for "level only" just the level.
func options(level string) *corev1.SELinuxOptions {
	switch {
	case level == "":
		return nil
	case strings.HasPrefix(level, "only "):
		return &corev1.SELinuxOptions{Level: strings.TrimPrefix(level, "only ")}
	}
	return &corev1.SELinuxOptions{User: "system_u", Role: "system_r", Type: "svirt_lxc_net_t", Level: level}
}

// labelled gives the pod SELinux options and a change policy.
func labelled(level string, policy corev1.PodSELinuxChangePolicy) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		spec.SecurityContext = &corev1.PodSecurityContext{SELinuxOptions: options(level)}
		if policy != "" {
			spec.SecurityContext.SELinuxChangePolicy = &policy
		}
	}
}

const fileLabel = "system_u:object_r:container_file_t:"

// K-SEL-1, K-SEL-2
//
// conformance: csimock-selinux-rwop, csimock-selinux-rwo-gate-off, csimock-selinux-rwo-gate-on,
// csimock-selinux-rwo-gate-on-mountoption, csimock-selinux-no-context,
// unit-selinux-publish-supported, unit-selinux-label-rwop-partial-options,
// unit-selinux-label-rwop-no-options, unit-selinux-label-rwop-driver-opt-out,
// unit-selinux-label-rwx-gate-off, unit-selinux-label-cp-rwx, unit-selinux-label-cp-rwx-recursive,
// unit-selinux-label-cp-rwop-recursive, unit-selinux-label-cp-rwop-mountoption,
// unit-selinux-label-all-rwx, unit-selinux-label-all-rwx-recursive,
// unit-selinux-label-all-rwop-recursive, unit-selinux-label-all-rwop-mountoption,
// suite-selinux-rwop-default, suite-selinux-rwo-mountoption, suite-selinux-rwop-recursive,
// suite-selinux-rwo-recursive, unit-selinux-populate-rwop-full, unit-selinux-populate-rwop-partial,
// unit-selinux-populate-rwx-gate-off, unit-selinux-populate-rwx-gate-on,
// unit-selinux-populate-rwop-driver-opt-out
func TestTheLabelOfAMountedVolume(t *testing.T) {
	for _, c := range []struct {
		name   string
		mode   corev1.PersistentVolumeAccessMode
		gates  feature.Gates
		level  string
		policy corev1.PodSELinuxChangePolicy
		optOut bool // of the driver
		off    bool // on the node
		label  string
	}{
		{name: "one pod's volume", mode: rwop, level: "s0:c1,c2", label: fileLabel + "s0:c1,c2"},
		{name: "missing parts are the system's", mode: rwop, level: "only s0:c3,c4", label: fileLabel + "s0:c3,c4"},
		{name: "no options", mode: rwop},
		{name: "the driver does not", mode: rwop, level: "s0:c1,c2", optOut: true},
		{name: "the node does not", mode: rwop, level: "s0:c1,c2", off: true},
		{name: "the pod does not", mode: rwop, level: "s0:c1,c2", policy: recursive},
		{name: "the pod insists", mode: rwop, level: "s0:c1,c2", policy: mountOption, label: fileLabel + "s0:c1,c2"},
		{name: "one node's volume", mode: rwo, level: "s0:c1,c2"},
		{name: "many nodes' volume", mode: rwx, level: "s0:c1,c2"},
		{name: "many nodes' volume, recursive", mode: rwx, level: "s0:c1,c2", policy: recursive},
		{name: "one node's volume, any mode", mode: rwo, gates: anyMode, level: "s0:c1,c2", label: fileLabel + "s0:c1,c2"},
		{name: "one node's volume, any mode, the pod insists", mode: rwo, gates: anyMode, level: "s0:c1,c2", policy: mountOption, label: fileLabel + "s0:c1,c2"},
		{name: "many nodes' volume, any mode", mode: rwx, gates: anyMode, level: "s0:c1,c2", label: fileLabel + "s0:c1,c2"},
		{name: "many nodes' volume, any mode, recursive", mode: rwx, gates: anyMode, level: "s0:c1,c2", policy: recursive},
		{name: "one pod's volume, any mode, recursive", mode: rwop, gates: anyMode, level: "s0:c1,c2", policy: recursive},
		{name: "one pod's volume, any mode, the pod insists", mode: rwop, gates: anyMode, level: "s0:c1,c2", policy: mountOption, label: fileLabel + "s0:c1,c2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := setting{seLinux: !c.off, features: c.gates, csiDriver: seLinuxMount}
			if c.optOut {
				s.csiDriver = nil
			}
			n := start(t, s)
			n.volume("data", accessMode(c.mode), func(pv *corev1.PersistentVolume) { pv.Spec.MountOptions = []string{"noatime"} })
			n.pod("web", using("data"), labelled(c.level, c.policy))
			n.run("web")
			flags, data := []string{"noatime"}, ""
			if c.label != "" {
				flags = append(flags, `context="`+c.label+`"`)
				data = `"seLinuxMountContext":"` + c.label + `"`
			}
			assert.Equal(t, flags, request[*csispec.NodeStageVolumeRequest](n).VolumeCapability.GetMount().MountFlags)
			assert.Equal(t, flags, request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.GetMount().MountFlags)
			text, err := n.machine.ReadFile(strings.TrimSuffix(n.targetOf("web"), "mount") + "vol_data.json")
			assert.NoError(t, err)
			assert.Contains(t, string(text), data)
			assert.Equal(t, c.label != "", strings.Contains(string(text), "seLinuxMountContext"), "K-PATH-10")
		})
	}
}

// conformance: unit-selinux-publish-no-csidriver
func TestWithoutACSIDriverThereIsNoLabel(t *testing.T) { // K-SEL-1
	n := start(t, setting{seLinux: true, noCSIDriver: true})
	n.volume("data", accessMode(rwop))
	n.attached("data")
	n.pod("web", using("data"), labelled("s0:c1,c2", ""))
	n.until(func() bool { return n.phase("web") == corev1.PodRunning })
	assert.Empty(t, request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.GetMount().MountFlags)
}

// seLinuxMetrics returns the SELinux gauges that are not zero, without their common parts.
func (n *node) seLinuxMetrics() map[string]float64 {
	found := map[string]float64{}
	for _, line := range n.kubelet.Metrics.Lines() {
		name, value, _ := strings.Cut(line, " ")
		short, ok := strings.CutPrefix(name, "volume_manager_selinux_")
		if !ok {
			continue
		}
		var v float64
		_, err := fmt.Sscan(value, &v)
		assert.NoError(n.t, err)
		short, _, _ = strings.Cut(short, "{")
		found[strings.TrimSuffix(short, "_total")] += v
	}
	return found
}

// K-SEL-3, K-MET-5. The question is whether a second pod is admitted to the node of the first one.
//
// conformance: csimock-selinux-second-pod-same-rwo, csimock-selinux-conflict-rwo-other,
// csimock-selinux-conflict-rwo-same-gate-on, csimock-selinux-conflict-rwo-other-gate-on,
// csimock-selinux-conflict-rwo-recursive-then-mountoption,
// csimock-selinux-conflict-rwx-other-gate-on, csimock-selinux-conflict-rwx-other-both-recursive,
// csimock-selinux-conflict-rwx-mountoption-then-nil, csimock-selinux-conflict-rwx-both-mountoption,
// csimock-selinux-conflict-rwop-other, csimock-selinux-conflict-rwop-other-both-mountoption,
// csimock-selinux-conflict-privileged-both-recursive,
// csimock-selinux-conflict-privileged-both-mountoption,
// csimock-selinux-conflict-opt-out-rwo-labels, csimock-selinux-conflict-opt-out-rwx-labels,
// csimock-selinux-conflict-opt-out-rwx-policies, unit-selinux-two-pods-rwop-other,
// unit-selinux-two-pods-cp-rwx-both-recursive, unit-selinux-two-pods-cp-rwx-both-mountoption,
// unit-selinux-two-pods-cp-rwx-other-both-recursive,
// unit-selinux-two-pods-cp-rwx-other-both-mountoption,
// unit-selinux-two-pods-all-rwop-recursive-then-nil, unit-selinux-two-pods-all-rwx-both-recursive,
// unit-selinux-two-pods-all-rwx-both-mountoption,
// unit-selinux-two-pods-all-rwx-other-both-recursive, unit-selinux-populate-rwx-other,
// unit-selinux-populate-rwop-other
// (the kubelet's part of each; events of controllers are not checked)
func TestASecondPodWithAnotherLabel(t *testing.T) {
	const one, other = "s0:c0,c1", "s0:c98,c99"
	type pod struct {
		level  string
		policy corev1.PodSELinuxChangePolicy
	}
	for _, c := range []struct {
		name          string
		mode          corev1.PersistentVolumeAccessMode
		gates         feature.Gates
		optOut        bool
		first, second pod
		refused       bool
		counted       string // a metric that goes up
	}{
		{"rwo, other", rwo, nil, false, pod{one, ""}, pod{other, ""}, false, "volume_context_mismatch_warnings"},
		{"rwo, same, any mode", rwo, anyMode, false, pod{one, ""}, pod{one, ""}, false, ""},
		{"rwo, other, any mode", rwo, anyMode, false, pod{one, ""}, pod{other, ""}, true, "volume_context_mismatch_errors"},
		{"rwo, recursive then mount option, any mode", rwo, anyMode, false, pod{one, recursive}, pod{one, mountOption}, true, "volume_context_mismatch_errors"},
		{"rwx, other, any mode", rwx, anyMode, false, pod{one, ""}, pod{other, ""}, true, "volume_context_mismatch_errors"},
		{"rwx, other, both recursive, any mode", rwx, anyMode, false, pod{one, recursive}, pod{other, recursive}, false, ""},
		{"rwx, mount option then nothing, any mode", rwx, anyMode, false, pod{one, mountOption}, pod{one, ""}, false, ""},
		{"rwx, both recursive, any mode", rwx, anyMode, false, pod{one, recursive}, pod{one, recursive}, false, ""},
		{"rwx, both recursive", rwx, nil, false, pod{one, recursive}, pod{one, recursive}, false, ""},
		{"rwx, both mount option", rwx, nil, false, pod{one, mountOption}, pod{one, mountOption}, false, ""},
		{"rwx, both mount option, any mode", rwx, anyMode, false, pod{one, mountOption}, pod{one, mountOption}, false, ""},
		{"rwx, other, both recursive", rwx, nil, false, pod{one, recursive}, pod{other, recursive}, false, ""},
		{"rwx, other, both mount option", rwx, nil, false, pod{one, mountOption}, pod{other, mountOption}, false, "volume_context_mismatch_warnings"},
		{"rwop, other", rwop, nil, false, pod{one, ""}, pod{other, ""}, true, "volume_context_mismatch_errors"},
		{"rwop, other, both mount option, any mode", rwop, anyMode, false, pod{one, mountOption}, pod{other, mountOption}, true, "volume_context_mismatch_errors"},
		{"rwop, recursive then nothing, any mode", rwop, anyMode, false, pod{one, recursive}, pod{one, ""}, true, "volume_context_mismatch_errors"},
		{"no options, both recursive, any mode", rwo, anyMode, false, pod{"", recursive}, pod{"", recursive}, false, ""},
		{"no options, both mount option, any mode", rwo, anyMode, false, pod{"", mountOption}, pod{"", mountOption}, false, ""},
		{"the driver does not, rwo, other", rwo, anyMode, true, pod{one, ""}, pod{other, ""}, false, ""},
		{"the driver does not, rwx, other", rwx, anyMode, true, pod{one, ""}, pod{other, ""}, false, ""},
		{"the driver does not, rwx, policies", rwx, anyMode, true, pod{one, recursive}, pod{one, mountOption}, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := setting{seLinux: true, features: c.gates, csiDriver: seLinuxMount}
			if c.optOut {
				s.csiDriver = nil
			}
			n := start(t, s)
			n.volume("data", accessMode(c.mode))
			n.pod("web", using("data"), labelled(c.first.level, c.first.policy))
			n.run("web")
			before := n.seLinuxMetrics()
			n.pod("log", using("data"), labelled(c.second.level, c.second.policy))
			n.pass(5 * time.Second)

			after := n.seLinuxMetrics()
			for name := range after {
				assert.Equal(t, name == c.counted, after[name] != before[name], name)
			}
			if c.counted != "" {
				assert.NotZero(t, after[c.counted])
			}
			if !c.refused {
				assert.Equal(t, corev1.PodRunning, n.phase("log"))
				assert.Equal(t, []string{"NodePublishVolume OK"}, n.calls())
				return
			}
			assert.Equal(t, corev1.PodPending, n.phase("log"))
			assert.Empty(t, n.calls())
			assert.Contains(t, n.events()[0], "Warning FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: conflicting SELinux labels of volume pv-data: ")
		})
	}
}

// The reason to refuse the second pod is the access mode, not the label. K-SEL-3, K-MNT-3
//
// conformance: unit-selinux-two-pods-rwop-same, unit-selinux-two-pods-cp-rwop-same,
// unit-selinux-two-pods-cp-rwop-both-recursive, unit-selinux-two-pods-all-rwop-same,
// unit-selinux-populate-rwop-same
func TestASecondPodWithTheSameLabelOnAOnePodVolume(t *testing.T) {
	for name, c := range map[string]struct {
		gates  feature.Gates
		policy corev1.PodSELinuxChangePolicy
		flags  []string
	}{
		"nothing said":           {nil, "", []string{`context="` + fileLabel + `s0:c1,c2"`}},
		"nothing said, any mode": {anyMode, "", []string{`context="` + fileLabel + `s0:c1,c2"`}},
		"both recursive":         {nil, recursive, nil},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{seLinux: true, features: c.gates, csiDriver: seLinuxMount})
			n.volume("data", accessMode(rwop))
			n.pod("web", using("data"), labelled("s0:c1,c2", c.policy))
			n.run("web")
			before := n.seLinuxMetrics()
			n.pod("log", using("data"), labelled("s0:c1,c2", c.policy))
			n.pass(time.Second)
			assert.Equal(t, before, n.seLinuxMetrics())
			assert.Contains(t, n.events()[0], "volume uses the ReadWriteOncePod access mode and is already in use by another pod")
			n.deletePod("web")
			n.waitRunning("log")
			assert.Equal(t, c.flags, request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.GetMount().MountFlags)
		})
	}
}

// conformance: csimock-selinux-conflict-first-succeeded
func TestAnEndedPodIsNoConflict(t *testing.T) { // K-SEL-3
	n := start(t, setting{seLinux: true, features: anyMode, csiDriver: seLinuxMount})
	n.volume("data")
	n.pod("web", using("data"), labelled("s0:c0,c1", ""))
	n.run("web")
	n.setPhase("web", corev1.PodSucceeded)
	n.settle()
	before := n.seLinuxMetrics()
	n.pod("log", using("data"), labelled("s0:c98,c99", ""))
	n.run("log")
	after := n.seLinuxMetrics()
	assert.Equal(t, before["volumes_admitted"]+1, after["volumes_admitted"])
	assert.Zero(t, after["volume_context_mismatch_errors"])
}

// K-SEL-3, K-REC-4, K-REC-6: after the first pod is deleted, the volume is unmounted, unstaged and
// mounted again with the other label.
//
// conformance: csimock-selinux-second-pod-other-rwo,
// csimock-selinux-second-pod-policy-mount-to-recursive, unit-selinux-staged-label-remembered
func TestASecondPodWaitsForTheFirstToBeUnmounted(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy corev1.PodSELinuxChangePolicy
		flags  []string
	}{
		{"another label", "", []string{`context="` + fileLabel + `s0:c98,c99"`}},
		{"none, as it wants its files labelled one by one", recursive, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{seLinux: true, features: anyMode, csiDriver: seLinuxMount})
			n.volume("data")
			n.pod("web", using("data"), labelled("s0:c0,c1", ""))
			n.run("web")
			n.pod("log", using("data"), labelled("s0:c98,c99", c.policy))
			n.pass(15 * time.Second)
			assert.Empty(t, n.calls())

			n.forget()
			n.deletePod("web")
			n.waitRunning("log")
			assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK", "NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
			assert.Equal(t, c.flags, request[*csispec.NodeStageVolumeRequest](n).VolumeCapability.GetMount().MountFlags)
			assert.Equal(t, c.flags, request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.GetMount().MountFlags)
		})
	}
}

// K-SEL-3: while the old mount is being undone the new pod gets an event.
func TestAPodThatNeedsAVolumeBeforeItsUnmount(t *testing.T) {
	n := start(t, setting{seLinux: true, features: anyMode, csiDriver: seLinuxMount})
	n.volume("data")
	n.pod("web", using("data"), labelled("s0:c0,c1", ""))
	n.run("web")
	n.fail("NodeUnstageVolume", codes.Internal, 5)
	n.deletePod("web")
	n.pass(2 * time.Second)
	n.forget()
	n.pod("log", using("data"), labelled("s0:c98,c99", ""))
	n.pass(time.Second)
	assert.Contains(t, n.events()[0], `waiting for unmount of volume "`+string(unique("data"))+`", because it is already mounted to a different pod with a different SELinux label`)
	n.waitRunning("log")
	assert.Equal(t, []string{`context="` + fileLabel + `s0:c98,c99"`}, request[*csispec.NodeStageVolumeRequest](n).VolumeCapability.GetMount().MountFlags)
}

func TestContainersWithDifferentLabels(t *testing.T) { // K-SEL-3
	two := func(spec *corev1.PodSpec) {
		c := spec.Containers[0]
		c.Name = "second"
		spec.Containers[0].SecurityContext = &corev1.SecurityContext{SELinuxOptions: options("s0:c1")}
		c.SecurityContext = &corev1.SecurityContext{SELinuxOptions: options("s0:c2")}
		spec.Containers = append(spec.Containers, c)
	}
	for _, c := range []struct {
		mode    corev1.PersistentVolumeAccessMode
		refused bool
		counted string
	}{
		{rwop, true, "pod_context_mismatch_errors"},
		{rwo, false, "pod_context_mismatch_warnings"},
	} {
		t.Run(string(c.mode), func(t *testing.T) {
			n := start(t, setting{seLinux: true, csiDriver: seLinuxMount})
			n.volume("data", accessMode(c.mode))
			n.pod("web", using("data"), two)
			n.pass(time.Second)
			assert.Equal(t, c.refused, n.phase("web") == corev1.PodPending)
			assert.NotZero(t, n.seLinuxMetrics()[c.counted])
			if c.refused {
				assert.Contains(t, n.events()[0], "multiple SELinux labels found: "+fileLabel+"s0:c1,"+fileLabel+"s0:c2")
			}
		})
	}
}

// K-RECON-2: the label is on disk, so after a restart the kubelet recognizes the label of the
// mount.
//
// conformance: unit-rebuild-selinux-context
func TestTheLabelOutlivesTheKubelet(t *testing.T) {
	n := start(t, setting{seLinux: true, csiDriver: seLinuxMount})
	n.volume("data", accessMode(rwop))
	n.pod("web", using("data"), labelled("s0:c0,c1", ""))
	n.run("web")
	n.restart(nothing)
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls(), "nothing is unmounted")
}

// conformance: suite-restart-handover-forced-new-selinux
func TestARestartWithAnotherPodThatHasAnotherLabel(t *testing.T) { // K-SEL-3, K-RECON-8
	n := start(t, setting{seLinux: true, csiDriver: seLinuxMount})
	n.volume("data", accessMode(rwop))
	n.pod("web", using("data"), labelled("s0:c0,c1", ""))
	n.run("web")
	n.restart(func() {
		n.pod("log", using("data"), labelled("s0:c98,c99", ""))
		n.forceDelete("web")
	})
	n.waitRunning("log")
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK", "NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
	assert.Len(t, n.mounts(), 2)
}

// If a volume with a label was never mounted, it does not count as desired: its entry is dropped,
// and the volume is verified again. That resets the backoff of the failed mount. K-REC-6, K-OP-4
func TestALabelledVolumeThatCannotBeStagedHasNoBackoff(t *testing.T) {
	n := start(t, setting{seLinux: true, csiDriver: seLinuxMount})
	n.volume("data", accessMode(rwop))
	n.fail("NodeStageVolume", codes.Internal, 0)
	n.pod("web", using("data"), labelled("s0:c0,c1", ""))
	n.pass(3 * time.Second)
	assert.Greater(t, len(n.times("NodeStageVolume")), 8)
	for _, gap := range n.gaps("NodeStageVolume") {
		assert.LessOrEqual(t, gap, 0.3)
	}
	n.heal()
	n.forget()
	n.waitRunning("web")
	assert.Equal(t, csi.DefaultDir.StagingPath(driverName, "h-data"), request[*csispec.NodeStageVolumeRequest](n).StagingTargetPath)
}

// K-RACE-38: pods with different labels use a volume one after the other. A new pod is rejected
// while the old one exists. Then the old mount is completely undone first.
func TestPodsWithDifferentLabelsTakeTurns(t *testing.T) {
	n := start(t, setting{seLinux: true, csiDriver: seLinuxMount})
	n.volume("data", accessMode(corev1.ReadWriteOncePod))
	n.pod("web-0", using("data"), labelled("s0:c0,c1", ""))
	n.run("web-0")
	for i, level := range []string{"s0:c2,c3", "s0:c0,c1", "s0:c2,c3"} {
		before, after := fmt.Sprintf("web-%d", i), fmt.Sprintf("web-%d", i+1)
		n.pod(after, using("data"), labelled(level, ""))
		n.pass(3 * time.Second)
		assert.Empty(t, n.calls())
		assert.Contains(t, n.events()[0], "conflicting SELinux labels of volume pv-data")
		n.forget()
		n.deletePod(before)
		n.waitRunning(after)
		assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK", "NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
		assert.Equal(t, []string{`context="` + fileLabel + level + `"`}, request[*csispec.NodeStageVolumeRequest](n).VolumeCapability.GetMount().MountFlags)
		n.forget()
	}
}
