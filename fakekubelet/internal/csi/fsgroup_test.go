package csi

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/version"
)

const (
	rwo  = corev1.ReadWriteOnce
	rox  = corev1.ReadOnlyMany
	rwx  = corev1.ReadWriteMany
	rwop = corev1.ReadWriteOncePod

	withFSType = storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy
	always     = storagev1.FileFSGroupPolicy
	never      = storagev1.NoneFSGroupPolicy
)

// K-FSG-1
//
// conformance: unit-fsgroup-no-fstype, unit-fsgroup-rwx-rox, unit-fsgroup-rwo-readonly,
// unit-fsgroup-rwo, unit-fsgroup-rwop, unit-fsgroup-default-no-fstype-no-group,
// unit-fsgroup-default-no-fstype, unit-fsgroup-default-rwo-readonly, unit-fsgroup-none-rwo,
// unit-ownership-rule-nothing-set, unit-ownership-rule-default-no-fstype,
// unit-ownership-rule-default-pv-without-modes, unit-ownership-rule-default-pv-empty-modes,
// unit-ownership-rule-default-rwo
func TestWhichVolumesTheKubeletGivesToTheGroup(t *testing.T) {
	group := new(int64(3000))
	pv := func(fsType string, readOnly bool, modes ...corev1.PersistentVolumeAccessMode) *Spec {
		s := persistentSpec("h1")
		s.ReadOnly, s.PV.Spec.CSI.FSType, s.PV.Spec.AccessModes = readOnly, fsType, modes
		return s
	}
	inline := func(fsType string) *Spec {
		return &Spec{Name: "scratch", Inline: &corev1.CSIVolumeSource{Driver: "d.example.com", FSType: &fsType}}
	}
	for _, c := range []struct {
		name   string
		spec   *Spec
		group  *int64
		policy storagev1.FSGroupPolicy
		want   bool
	}{
		{"the pod has no group", pv("ext4", false, rwo), nil, always, false},
		{"no policy of the driver's", pv("ext4", false, rwo), group, never, false},
		{"read-only", pv("ext4", true, rwo), group, withFSType, false},
		{"read-only, policy File", pv("ext4", true, rwo), group, always, false},
		{"policy File, any access mode, no fsType", pv("", false, rwx), group, always, true},
		{"no fsType", pv("", false, rwo), group, withFSType, false},
		{"no fsType, no group", pv("", false, rwo), nil, withFSType, false},
		{"no access modes", pv("ext4", false), group, withFSType, false},
		{"many nodes", pv("ext4", false, rwx, rox), group, withFSType, false},
		{"one node", pv("ext4", false, rwo), group, withFSType, true},
		{"one pod", pv("ext4", false, rwop), group, withFSType, true},
		{"one node among others", pv("ext4", false, rox, rwo), group, withFSType, true},
		{"inline", inline("ext4"), group, withFSType, true},
		{"inline without fsType", inline(""), group, withFSType, false},
	} {
		t.Run(c.name, func(t *testing.T) { assert.Equal(t, c.want, c.spec.takesGroup(c.group, c.policy, version.Newest)) })
	}
}

// Older kubelets gave fewer volumes to the group. K-FSG-1 [kubernetes/kubernetes#128244, #108662]
func TestOlderKubeletsGiveFewerVolumesToTheGroup(t *testing.T) {
	group, ext4 := new(int64(3000)), "ext4"
	oncePod := persistentSpec("h1")
	oncePod.PV.Spec.CSI.FSType, oncePod.PV.Spec.AccessModes = ext4, []corev1.PersistentVolumeAccessMode{rwop}
	inline := &Spec{Name: "scratch", Inline: &corev1.CSIVolumeSource{Driver: "d.example.com", FSType: &ext4}}
	for spec, change := range map[*Spec]version.Change{oncePod: version.OncePodFSGroup, inline: version.InlineFSGroup} {
		before, since := change.Before(), change.Before()+1
		assert.False(t, spec.takesGroup(group, withFSType, before), "%s before %v", change, since)
		assert.True(t, spec.takesGroup(group, withFSType, since), "%s since %v", change, since)
		assert.True(t, spec.takesGroup(group, always, before), "%s with the policy File", change)
	}
}

const volumeDir = "/var/lib/kubelet/pods/uid/volumes/v/mount"

type owned struct {
	group uint32
	mode  fs.FileMode
}

func ownerOf(t *testing.T, m machine.Machine, name string) owned {
	t.Helper()
	info, err := m.Lstat(name)
	require.NoError(t, err)
	return owned{info.Sys().(*syscall.Stat_t).Gid, info.Mode()}
}

func podOf(group int64, policy *corev1.PodFSGroupChangePolicy) *corev1.Pod {
	return &corev1.Pod{Spec: corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{FSGroup: &group, FSGroupChangePolicy: policy}}}
}

func TestAllFilesOfTheVolumeAreGivenToTheGroup(t *testing.T) { // K-FSG-2
	m := onNode(t, []string{volumeDir + "/sub"}, []string{volumeDir + "/sub/file", "/outside"}, func(pl *Plugin, p *kernel.Process) {
		require.NoError(t, pl.machine.Symlink("/outside", volumeDir+"/link"))
		require.NoError(t, pl.applyGroup(p, podOf(3000, nil), volumeDir))
	})
	dir := owned{3000, fs.ModeDir | fs.ModeSetgid | 0o770}
	assert.Equal(t, dir, ownerOf(t, m, volumeDir))
	assert.Equal(t, dir, ownerOf(t, m, volumeDir+"/sub"))
	assert.Equal(t, owned{3000, 0o664}, ownerOf(t, m, volumeDir+"/sub/file"))
	assert.EqualValues(t, 3000, ownerOf(t, m, volumeDir+"/link").group)
	assert.Equal(t, owned{0, 0o644}, ownerOf(t, m, "/outside"), "the target of a link is left alone")
}

// K-FSG-2, fact 70
//
// conformance: suite-fsgroup-always-new-group-rwop, suite-fsgroup-always-same-group-after-chgrp,
// suite-fsgroup-always-other-group-after-chgrp, suite-fsgroup-mismatch-new-group,
// suite-fsgroup-mismatch-other-group-after-chgrp
func TestTheChangePolicyAndASecondPod(t *testing.T) {
	alwaysChange, onMismatch := corev1.FSGroupChangeAlways, corev1.FSGroupChangeOnRootMismatch
	for _, c := range []struct {
		name   string
		policy *corev1.PodFSGroupChangePolicy
		byHand int    // another process changes the group of a file in between
		root   *owned // changes the root in between
		second int64
		file   uint32
	}{
		{"no policy, another group", nil, 0, nil, 2000, 2000},
		{"Always, another group", &alwaysChange, 0, nil, 2000, 2000},
		{"Always, the same group after a change by hand", &alwaysChange, 2000, nil, 1000, 1000},
		{"Always, another group after a change by hand", &alwaysChange, 2000, nil, 4000, 4000},
		{"OnRootMismatch, another group", &onMismatch, 0, nil, 2000, 2000},
		{"OnRootMismatch, another group after a change by hand", &onMismatch, 2000, nil, 4000, 4000},
		{"OnRootMismatch, the same group after a change by hand", &onMismatch, 2000, nil, 1000, 2000},
		{"OnRootMismatch, the root is not writable for the group", &onMismatch, 2000, &owned{1000, fs.ModeSetgid | 0o750}, 1000, 1000},
		{"OnRootMismatch, the root is not setgid", &onMismatch, 2000, &owned{1000, 0o770}, 1000, 1000},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := volumeDir + "/sub/file"
			m := onNode(t, []string{volumeDir + "/sub"}, []string{file}, func(pl *Plugin, p *kernel.Process) {
				require.NoError(t, pl.applyGroup(p, podOf(1000, c.policy), volumeDir))
				if c.byHand != 0 {
					require.NoError(t, pl.machine.Lchown(file, -1, c.byHand))
				}
				if c.root != nil {
					require.NoError(t, pl.machine.Chmod(volumeDir, c.root.mode))
				}
				require.NoError(t, pl.applyGroup(p, podOf(c.second, c.policy), volumeDir))
			})
			assert.Equal(t, c.file, ownerOf(t, m, file).group)
		})
	}
}

func TestADirectoryThatCannotBeReadFailsTheChange(t *testing.T) { // K-FSG-2
	onNode(t, nil, nil, func(pl *Plugin, p *kernel.Process) {
		assert.ErrorIs(t, pl.applyGroup(p, podOf(1000, nil), volumeDir), fs.ErrNotExist)
	})
}
