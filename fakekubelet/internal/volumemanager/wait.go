package volumemanager

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/migration"
)

// The timeout and the interval of a pod worker's checks for its volumes. K-REC-8, K-POD-6
const (
	WaitLimit  = 2*time.Minute + 3*time.Second
	waitPeriod = 300 * time.Millisecond
	pathPeriod = 100 * time.Millisecond
)

// WaitError lists the volumes for which a pod still waits, by their names in the pod. K-REC-9
type WaitError struct {
	Unmounted  []string // all missing volumes
	Unattached []string // volumes that the kubelet does not hold
	Failed     []string // volumes that could not be looked up
	Cause      string
	// Timeout: the wait timed out or was cancelled, and no event is emitted. K-POD-2
	Timeout bool
	// Exhausted is the driver that can attach no more volumes to the node. K-ALLOC-3
	Exhausted string
}

func (e *WaitError) Error() string {
	return fmt.Sprintf("unmounted volumes=%v, unattached volumes=%v, failed to process volumes=%v: %s", e.Unmounted, e.Unattached, e.Failed, e.Cause)
}

// WaitForAttachAndMount waits until every volume of the pod is certainly mounted. It ends at once
// when the volumes cannot be looked up, or when cancelled returns true. K-REC-8, K-POD-4
func (m *Manager) WaitForAttachAndMount(p *kernel.Process, pod *corev1.Pod, cancelled func() bool) *WaitError {
	expected := m.expectedVolumes(pod)
	if len(expected) == 0 {
		return nil
	}
	m.populator.reprocess(pod.UID)
	var errs []string
	outcome := poll(p, "its volumes to be mounted: "+strings.Join(expected, " "), cancelled, func() bool {
		errs = m.desired.popErrors(pod.UID)
		return len(errs) > 0 || len(m.missing(pod, expected).Unmounted) == 0
	})
	e := m.missing(pod, expected)
	if len(e.Unmounted) == 0 {
		return nil
	}
	e.Cause, e.Timeout = outcome, true
	if outcome == polled {
		e.Cause, e.Timeout = strings.Join(errs, "; "), false
	}
	e.Exhausted = m.exhausted(p, pod, e.Unattached)
	return e
}

// WaitForUnmount waits until no volume of the pod is certainly mounted. Uncertain volumes do not
// count. It reports whether this happened in time. An earlier error in looking up the volumes also
// ends the wait. K-REC-10, K-RACE-18
func (m *Manager) WaitForUnmount(p *kernel.Process, uid types.UID) bool {
	never := func() bool { return false }
	poll(p, "its volumes to be unmounted", never, func() bool {
		return len(m.desired.popErrors(uid)) > 0 || len(m.mountedOf(uid)) == 0
	})
	return len(m.mountedOf(uid)) == 0
}

// WaitForAllPodsUnmount waits until no volume of the pods is certainly mounted, at the latest until
// a moment of virtual time. Its error lists these volumes for each pod that still has some. K-POD-9
func (m *Manager) WaitForAllPodsUnmount(p *kernel.Process, pods []*corev1.Pod, limit time.Duration) error {
	for {
		var left []error
		for _, pod := range pods {
			if names := m.mountedOf(pod.UID); len(names) > 0 {
				left = append(left, fmt.Errorf("pod %s/%s: mounted volumes=%v: %s", pod.Namespace, pod.Name, names, timedOut))
			}
		}
		if len(left) == 0 || p.Elapsed() >= limit {
			return errors.Join(left...)
		}
		p.Sleep(min(waitPeriod, limit-p.Elapsed()))
	}
}

// mountedOf names the volumes that are certainly mounted for a pod.
func (m *Manager) mountedOf(uid types.UID) (names []string) {
	for _, name := range m.actual.ofPod[uid] {
		if m.actual.pod(name, uid).state == mounted {
			names = append(names, name)
		}
	}
	return names
}

// The outcomes of poll, in the words of context errors.
const (
	polled   = ""
	timedOut = "context deadline exceeded"
	canceled = "context canceled"
)

// poll checks at once, and then at every period with a change, until done returns true or the limit
// is reached. A cancellation ends it at once.
func poll(p *kernel.Process, why string, cancelled, done func() bool) string {
	begin := p.Elapsed()
	limit := begin + WaitLimit
	for !done() {
		p.ParkUntil(why, limit)
		next := begin + (p.Elapsed()-begin+waitPeriod-1)/waitPeriod*waitPeriod
		p.WaitUntil(why, min(next, limit), cancelled)
		switch {
		case cancelled():
			return canceled
		case p.Elapsed() >= limit:
			return timedOut
		}
	}
	return polled
}

// PossiblyMounted reports whether a volume of the pod is or may be mounted, according to the
// kubelet's state and the disk. K-POD-6
func (m *Manager) PossiblyMounted(uid types.UID) bool {
	return len(m.actual.ofPod[uid]) > 0 || m.csi.AnyMounted(uid)
}

// WaitForPathsGone polls without limit until no volume of the pod may be mounted. K-POD-6
func (m *Manager) WaitForPathsGone(p *kernel.Process, uid types.UID) {
	tick := p.Tick(pathPeriod)
	for m.PossiblyMounted(uid) {
		if len(m.actual.ofPod[uid]) > 0 {
			tick.Wait("its volumes to be unpublished")
		} else { // only the driver can remove this mount, at an unknown time
			p.Idle(pathPeriod)
		}
	}
}

// missing returns the pod's volumes that may not be mounted, and the reasons.
func (m *Manager) missing(pod *corev1.Pod, expected []string) *WaitError {
	e := &WaitError{Unmounted: slices.Clone(expected), Failed: slices.Clone(expected)}
	without := func(names, gone []string) []string {
		return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(gone, name) })
	}
	for _, name := range m.desired.others[pod.UID] {
		e.Failed, e.Unmounted = without(e.Failed, []string{name}), without(e.Unmounted, []string{name})
	}
	for _, name := range m.desired.ofPod[pod.UID] {
		names := m.desired.wants(name, pod.UID).volumeNames
		e.Failed = without(e.Failed, names)
		if held := m.actual.pod(name, pod.UID); held != nil && held.state == mounted {
			e.Unmounted = without(e.Unmounted, names)
		}
		if m.actual.volumes[name] == nil {
			e.Unattached = append(e.Unattached, names...)
		}
	}
	slices.Sort(e.Unattached)
	return e
}

// expectedVolumes returns the pod volumes to wait for, sorted.
func (m *Manager) expectedVolumes(pod *corev1.Pod) []string {
	mounts, devices := usedVolumes(pod)
	var names []string
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		plugin, inTree := migration.InlinePlugin(v)
		migrated := inTree && m.migration.Stage(plugin) != migration.Disabled
		mayBeCSI := v.CSI != nil || v.PersistentVolumeClaim != nil || v.Ephemeral != nil || migrated
		if mayBeCSI && (mounts[v.Name] || devices[v.Name]) {
			names = append(names, v.Name)
		}
	}
	slices.Sort(names)
	return names
}
