package ledger

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Unmounts determines the call that removes a foreign mount: a mount of another volume, or one of
// the kubelet. It checks machines before and after every call. The calls in progress between two
// checks are suspected.
type Unmounts struct{ machines map[string]*mounted }

// Unmount is a mount that vanished although no call had to unmount it.
type Unmount struct {
	Target string
	Owner  string // in words
	// Calls are the calls during which it vanished: one of them unmounted it.
	Calls []*trace.Event
	// Started is the driver that was started meanwhile; empty if no driver was.
	Started string
}

// mounted holds the mounts of a machine.
type mounted struct {
	seen  View
	calls []underWay
	// settled holds, by path, the last mounting call until a later call concerns the path.
	settled map[string]*trace.Event
	// uncertain are the paths of undoing calls with an outcome that is unknown to their caller. The
	// effect may still happen at any time.
	uncertain map[string]bool
	// late are the paths of mounting calls with an outcome that is unknown to their caller. The
	// effect may still happen at any time.
	late map[string]bool
	// laid counts, by path, the mounts on top of others that propagated from another path.
	laid map[string]int
}

// View is the state of a machine at a check.
type View struct {
	Mounts  []string  // the targets below the kubelet's directory
	Missing []Missing // elsewhere
	Last    uint64    // Seq of the last event
	// ByHand are the targets of mounts that an administrator has made.
	ByHand map[string]bool
}

// Missing is a mount that a program has unmounted only for itself. Driver is the program's driver,
// empty if that is unknown.
type Missing struct{ Target, Driver string }

type underWay struct {
	*trace.Event
	deadline time.Duration
}

// NewUnmounts returns Unmounts without any observations.
func NewUnmounts() *Unmounts { return &Unmounts{machines: map[string]*mounted{}} }

func (u *Unmounts) on(machine string) *mounted {
	m := u.machines[machine]
	if m == nil {
		m = &mounted{settled: map[string]*trace.Event{}, uncertain: map[string]bool{}, late: map[string]bool{}, laid: map[string]int{}}
		u.machines[machine] = m
	}
	return m
}

// Began records a call and the virtual time at which its caller gives up.
func (u *Unmounts) Began(machine string, call *trace.Event, deadline time.Duration) {
	m := u.on(machine)
	m.calls = slices.DeleteFunc(m.calls, func(c underWay) bool { // its caller has given up
		over := c.deadline <= call.At
		if over {
			m.doubt(c.Event)
		}
		return over
	})
	m.calls = append(m.calls, underWay{call, deadline})
	delete(m.settled, mountPath(call))
}

// Ended records a call's outcome.
func (u *Unmounts) Ended(machine string, call *trace.Event) {
	m, at := u.on(machine), mountPath(call)
	m.calls = slices.DeleteFunc(m.calls, func(c underWay) bool { return c.Event == call })
	another := slices.ContainsFunc(m.calls, func(c underWay) bool { return mountPath(c.Event) == at })
	switch {
	case at == "" || another:
	case isUncertain(call.Code) || call.Injected != "" && !Makes(call):
		m.doubt(call)
	case Makes(call) && succeeded(call) && !m.uncertain[at]:
		m.settled[at] = call
	}
}

func (m *mounted) doubt(call *trace.Event) {
	switch at := mountPath(call); {
	case at == "":
	case Makes(call):
		m.late[at] = true
	default:
		m.uncertain[at] = true
	}
}

// isUncertain reports for a gRPC code whether the driver may still be working.
func isUncertain(code string) bool {
	return code == "DeadlineExceeded" || code == "Canceled" || code == "Unavailable"
}

// mountPath returns the path at which a call mounts or unmounts.
func mountPath(call *trace.Event) string {
	field := protoreflect.Name("target_path")
	switch method(call) {
	case "NodeStageVolume", "NodeUnstageVolume":
		field = "staging_target_path"
	case "NodePublishVolume", "NodeUnpublishVolume":
	default:
		return ""
	}
	if at := text(call.Request, field); at != "" {
		return path.Clean(at)
	}
	return ""
}

// Reset replaces the known mounts by the current ones.
func (u *Unmounts) Reset(machine string, now View) { u.on(machine).keep(now) }

// Started updates the known mounts after the start of a driver. It returns the driver's mounts that
// vanished although a pod uses them, and vanished mounts of an administrator. During its start a
// driver may unmount the remains of an interrupted call.
func (u *Unmounts) Started(machine, driver string, now View) (found []Unmount) {
	m := u.on(machine)
	for _, target := range m.seen.Mounts {
		if m.seen.ByHand[target] && !slices.Contains(now.Mounts, target) {
			found = append(found, Unmount{Target: target, Owner: administrator, Started: driver})
			continue
		}
		call := m.settled[path.Clean(target)]
		if call == nil || call.Driver != driver || slices.Contains(now.Mounts, target) {
			continue
		}
		delete(m.settled, path.Clean(target))
		found = append(found, Unmount{Target: target, Owner: ofCall(call), Started: driver})
	}
	m.keep(now)
	return found
}

// keep stores the current mounts. Of several mounts at a path, all but the lowest can be on top of
// another one.
func (m *mounted) keep(now View) {
	m.seen = now
	if len(m.laid) == 0 {
		return
	}
	there := map[string]int{}
	for _, target := range now.Mounts {
		there[target]++
	}
	for target, n := range m.laid {
		m.laid[target] = min(n, max(0, there[target]-1))
	}
}

// Saw updates the known mounts, and returns those that should not have vanished. byKubelet reports
// whether the kubelet unmounted a target after an event.
func (u *Unmounts) Saw(machine string, now View, byKubelet func(target string, after uint64) bool) (found []Unmount) {
	m := u.on(machine)
	m.lay(without(now.Mounts, m.seen.Mounts))
	for _, target := range without(m.seen.Mounts, now.Mounts) {
		if m.laid[target] > 0 {
			m.laid[target]--
			continue
		}
		if owner := m.ownerOf(target, byKubelet); owner != "" {
			found = append(found, m.unmounts(Missing{Target: target}, owner)...)
		}
	}
	for _, missing := range without(now.Missing, m.seen.Missing) {
		found = append(found, m.unmounts(missing, "the node")...)
	}
	m.keep(now)
	return found
}

// lay notes new mounts. A second mount at a target covers the first mount. The kernel then also
// copies the second mount to the staging path, and the copy vanishes with the mount.
func (m *mounted) lay(targets []string) {
	isOfCall := func(target string) bool {
		return m.late[target] || slices.ContainsFunc(m.calls, func(c underWay) bool { return Makes(c.Event) && mountPath(c.Event) == target })
	}
	if !slices.ContainsFunc(targets, isOfCall) {
		return
	}
	for _, target := range targets {
		if !isOfCall(target) && slices.Contains(m.seen.Mounts, target) {
			m.laid[target]++
		}
	}
}

// unmounts returns the unmount with the suspected calls, or nothing if there are none.
func (m *mounted) unmounts(gone Missing, owner string) []Unmount {
	one := Unmount{Target: gone.Target, Owner: owner}
	for _, c := range m.calls {
		if gone.Driver == "" || gone.Driver == c.Driver {
			one.Calls = append(one.Calls, c.Event)
		}
	}
	if one.Calls == nil {
		return nil
	}
	return []Unmount{one}
}

// ownerOf describes the owner of a mount; empty if it is unknown.
func (m *mounted) ownerOf(target string, byKubelet func(string, uint64) bool) string {
	if m.seen.ByHand[target] {
		return administrator
	}
	for at := target; at != "/"; at = path.Dir(at) { // drivers mount below a staging path, too
		if call := m.settled[at]; call != nil {
			return ofCall(call)
		}
	}
	if isKubelets(target) && !byKubelet(target, m.seen.Last) {
		return "the kubelet"
	}
	return ""
}

// administrator is the owner of mounts that neither Kubernetes nor a driver has made.
const administrator = "an administrator"

// ofCall describes the owner of a mount that a call has made.
func ofCall(call *trace.Event) string {
	return fmt.Sprintf("driver %s (%s of volume %s)", call.Driver, method(call), volumeOf(call))
}

// isKubelets reports whether the kubelet itself mounts at a path: a subpath of a volume, or a block
// device.
func isKubelets(target string) bool {
	dir := DirOf(target)
	place := dir.Locate(target)
	return place.Kubelet && place.Pod != "" && (strings.Contains(target, "/volume-subpaths/") || strings.HasPrefix(target, dir.blockDir()+"/"))
}

// without returns the elements of a list minus the elements of the other list. Repetitions count.
func without[T comparable](list, other []T) (rest []T) {
	count := map[T]int{}
	for _, e := range other {
		count[e]++
	}
	for _, e := range list {
		if count[e]--; count[e] < 0 {
			rest = append(rest, e)
		}
	}
	return rest
}

// foreignMount is the form of a verdict on an unmount.
const foreignMount verdict.Form = "foreign mount"

// Verdict returns the verdict on the unmount on a node.
func (u Unmount) Verdict(node string) verdict.Verdict {
	v := verdict.Verdict{Breaks: verdict.ForeignMounts, Form: foreignMount, Node: node, Found: []string{u.On(node)}}
	if len(u.Calls) == 1 {
		v.Method = u.Calls[0].Method
	}
	return v.Worded(verdict.Say("%s: %s", verdict.Kept(foreignMount), verdict.Quoted(u.On(node))))
}

// On describes the unmount on a node in one line.
func (u Unmount) On(node string) string {
	what := fmt.Sprintf("%s on %s, a mount of %s,", u.Target, node, u.Owner)
	if u.Started != "" {
		return fmt.Sprintf("driver %s unmounted %s when it was started again", u.Started, what)
	}
	if len(u.Calls) == 1 {
		return fmt.Sprintf("driver %s unmounted %s during %s", u.Calls[0].Driver, what, about(u.Calls[0]))
	}
	var calls []string
	for _, call := range u.Calls {
		calls = append(calls, about(call)+" of driver "+call.Driver)
	}
	return fmt.Sprintf("%s was unmounted during one of these calls: %s", what, strings.Join(calls, "; "))
}

// about describes a call with its volume.
func about(call *trace.Event) string {
	if volume := volumeOf(call); volume != "" {
		return method(call) + " of volume " + volume
	}
	return method(call)
}
