package csi

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/version"
)

// fsGroup returns the group that the pod requests for its volumes; nil for none.
func fsGroup(pod *corev1.Pod) *int64 {
	if pod.Spec.SecurityContext == nil {
		return nil
	}
	return pod.Spec.SecurityContext.FSGroup
}

// mountGroup returns the pod's fsGroup for a driver that applies it itself. K-FSG-1
func mountGroup(pod *corev1.Pod, delegated bool) string {
	if group := fsGroup(pod); delegated && group != nil {
		return strconv.FormatInt(*group, 10)
	}
	return ""
}

// fsGroupPolicy returns the driver's policy; by default ReadWriteOnceWithFSType.
func (s *step) fsGroupPolicy() storagev1.FSGroupPolicy {
	if driver, ok := s.csiDriver(); ok && driver.Spec.FSGroupPolicy != nil {
		return *driver.Spec.FSGroupPolicy
	}
	return storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy
}

// takesGroup reports whether the kubelet gives the volume's files to the group. K-FSG-1
func (s *Spec) takesGroup(group *int64, policy storagev1.FSGroupPolicy, v version.Version) bool {
	switch {
	case group == nil, policy == storagev1.NoneFSGroupPolicy, s.ReadOnly:
		return false
	case policy == storagev1.FileFSGroupPolicy:
		return true
	case s.fsType() == "":
		return false
	case s.Inline != nil:
		return v.Has(version.InlineFSGroup)
	}
	modes := s.accessModes()
	return slices.Contains(modes, corev1.ReadWriteOnce) || slices.Contains(modes, corev1.ReadWriteOncePod) && v.Has(version.OncePodFSGroup)
}

// The permissions that a group needs. K-FSG-2
const (
	groupRead = fs.FileMode(0o660)
	groupPass = fs.FileMode(0o110)
)

// applyGroup changes all files of a published volume to the pod's fsGroup, unless the pod's policy
// accepts the state of the root directory. K-FSG-2
func (pl *Plugin) applyGroup(p *kernel.Process, pod *corev1.Pod, dir string) error {
	group, policy := int(*fsGroup(pod)), pod.Spec.SecurityContext.FSGroupChangePolicy
	if policy != nil && *policy == corev1.FSGroupChangeOnRootMismatch && pl.hasGroup(dir, group) {
		return nil
	}
	w := &groupWalk{Plugin: pl, process: p, group: group}
	p.Yield("change the group of " + dir)
	if pl.chownTime > 0 {
		reports := p.Go("progress of the change of a volume's group", func(q *kernel.Process) { w.report(q, pod, dir) })
		defer reports.Wake()
	}
	err := w.walk(dir)
	w.done = true
	pl.files(p).record("change group", dir, err)
	return err
}

// hasGroup reports whether a directory belongs to the group, and gives the group access to itself
// and to new files.
func (pl *Plugin) hasGroup(dir string, group int) bool {
	info, err := pl.machine.Lstat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	const need = groupRead | groupPass
	return ok && int(owner.Gid) == group && info.Mode()&need == need && info.Mode()&fs.ModeSetgid != 0
}

// groupWalk is a change of a volume's group in progress.
type groupWalk struct {
	*Plugin
	process *kernel.Process
	group   int
	files   int // number of files done
	done    bool
}

// walk changes everything in a directory and finally the directory itself. The directory's state
// then shows that nothing is left to change. It skips files that cannot be changed. K-FSG-2
func (w *groupWalk) walk(name string) error {
	info, err := w.machine.Lstat(name)
	if err != nil {
		return err
	}
	if info.IsDir() {
		entries, err := w.machine.ReadDir(name)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := w.walk(path.Join(name, e.Name())); err != nil {
				return err
			}
		}
	}
	w.files++
	w.change(name, info.Mode())
	return nil
}

func (w *groupWalk) change(name string, mode fs.FileMode) {
	w.process.Sleep(w.chownTime)
	_ = w.machine.Lchown(name, -1, w.group)
	if mode&fs.ModeSymlink != 0 {
		return
	}
	mode |= groupRead
	if mode.IsDir() {
		mode |= groupPass | fs.ModeSetgid
	}
	_ = w.machine.Chmod(name, mode)
}

// The times at which events are emitted during a long change of the group. K-FSG-3
const (
	firstReport = 30 * time.Second
	reportAgain = 60 * time.Second
)

// report emits an event with advice about a slow change and, every minute, its progress. K-FSG-3
func (w *groupWalk) report(p *kernel.Process, pod *corev1.Pod, dir string) {
	const reason = "VolumePermissionChangeInProgress"
	about := dir[max(0, strings.Index(dir, string(pod.UID))):]
	ended := func() bool { return w.done }
	if p.WaitUntil("the end of the change of a volume's group", p.Elapsed()+firstReport, ended) {
		return
	}
	w.kubelet.Event(pod, corev1.EventTypeWarning, reason, "Setting volume ownership for %s is taking longer than expected, consider using OnRootMismatch - "+
		"https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods", about)
	for !p.WaitUntil("the end of the change of a volume's group", p.Elapsed()+reportAgain, ended) {
		w.kubelet.Event(pod, corev1.EventTypeWarning, reason, "Setting volume ownership for %s, processed %d files.", about, w.files)
	}
}
