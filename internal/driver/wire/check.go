package wire

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"syscall"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// check checks a call and its outcome against the CSI spec, and records the driver's capabilities.
// It does not check an outcome that a fault made.
func (w *Wire) check(c *call, err error) {
	caps := w.capsOf(c.site.Driver)
	c.noteAsked()
	found := contract.CheckRequest(c.method, c.request, caps)
	switch {
	case c.event.Injected != "" && !c.ownAnswer:
	case err != nil:
		found = append(found, contract.CheckError(c.method, c.request, status.Code(err), caps)...)
	default:
		if c.event.Response == c.answer { // not one that is known already
			caps.Learn(c.answer)
		}
		w.learnNode(c)
		found = append(found, contract.CheckResponse(c.method, c.request, c.answer, caps)...)
		found = append(found, c.checkTarget()...)
		found = append(found, c.checkFlags()...)
		found = append(found, c.checkGroup()...)
		found = append(found, c.checkUndone()...)
		found = append(found, c.checkDevice()...)
	}
	found = append(found, c.checkAround(err)...)
	w.note(c, found)
}

// lookAround notes the directory above the path of a call that unpublishes or unstages a volume.
// The kubelet has made this directory, and keeps files there.
func (c *call) lookAround() {
	above := ""
	switch r := c.request.(type) {
	case *csi.NodeUnpublishVolumeRequest:
		above = path.Dir(r.GetTargetPath())
	case *csi.NodeUnstageVolumeRequest:
		above = path.Dir(r.GetStagingTargetPath())
	default:
		return
	}
	if c.site.Machine == nil {
		return
	}
	if _, err := c.site.Machine.Lstat(above); err == nil {
		c.around = above
	}
}

// checkAround looks whether it is still there. Of a call that was given up the kubelet may have
// gone on.
func (c *call) checkAround(err error) []verdict.Verdict {
	if c.around == "" || err == errDeadline || err == ErrCallerExited {
		return nil
	}
	_, gone := c.site.Machine.Lstat(c.around)
	if !errors.Is(gone, fs.ErrNotExist) {
		return nil
	}
	return []verdict.Verdict{contract.RemovesOthers(c.method, c.around)}
}

// checkTarget checks the target path of a published volume. A missing path shows elsewhere.
func (c *call) checkTarget() []verdict.Verdict {
	request, ok := c.request.(*csi.NodePublishVolumeRequest)
	if !ok || c.site.Machine == nil {
		return nil
	}
	info, err := c.site.Machine.Lstat(request.GetTargetPath())
	if err != nil {
		return nil
	}
	return c.seen(contract.CheckTarget(c.method, request, info.Mode()), "the target path is as requested: a directory or a block device")
}

// checkFlags checks that the published mount has the mount flags of the request. Machines in memory
// have no flags.
func (c *call) checkFlags() []verdict.Verdict {
	request, ok := c.request.(*csi.NodePublishVolumeRequest)
	if !ok || c.site.Machine == nil || InProcess(c.site.Machine) || !contract.ShowsFlags(request) {
		return nil
	}
	mounts, err := c.site.Machine.Mounts()
	if err != nil {
		return nil
	}
	for _, m := range slices.Backward(mounts) { // the topmost
		if m.Target == request.GetTargetPath() {
			return c.seen(contract.CheckFlags(c.method, request, m.Options), "the mount at the target path has the requested mount flags")
		}
	}
	return nil // a missing mount shows elsewhere
}

// checkGroup checks the group of a published directory. Drivers in memory change none.
func (c *call) checkGroup() []verdict.Verdict {
	request, ok := c.request.(*csi.NodePublishVolumeRequest)
	if !ok || c.site.Machine == nil || InProcess(c.site.Machine) {
		return nil
	}
	if _, wanted := contract.GroupOf(request); !wanted {
		return nil
	}
	info, err := c.site.Machine.Lstat(request.GetTargetPath())
	if err != nil {
		return nil
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	mounts, err := c.site.Machine.Mounts()
	if !ok || err != nil {
		return nil
	}
	var options []string
	for _, m := range mounts { // the topmost is the last one
		if m.Target == request.GetTargetPath() {
			options = m.Options
		}
	}
	found := contract.CheckMountGroup(c.method, request, owner.Gid, options)
	return c.seen(found, "the published directory belongs to volume_mount_group")
}

// seen records that a rule was kept which only the machine shows, if nothing was found.
func (c *call) seen(found []verdict.Verdict, rule string) []verdict.Verdict {
	if len(found) == 0 && c.wire.World.Trace.WantsStates() {
		c.wire.World.Trace.AddState(trace.Entry{Kind: trace.Kept, Detail: trace.Seen{Call: c.event.Seq, Rule: rule}})
	}
	return found
}

// checkUndone looks for mounts and files that NodeUnpublishVolume and NodeUnstageVolume leave
// although they answer OK. A target that stays keeps the pod, and a mount that stays is under the
// volume when it is detached. It is reported once.
func (c *call) checkUndone() []verdict.Verdict {
	place, unpublishes := "", false
	switch r := c.request.(type) {
	case *csi.NodeUnpublishVolumeRequest:
		place, unpublishes = r.GetTargetPath(), true
	case *csi.NodeUnstageVolumeRequest:
		place = r.GetStagingTargetPath()
	}
	if place == "" || c.site.Machine == nil {
		return nil
	}
	mounted, err := c.site.Machine.IsMountPoint(place)
	if err != nil {
		return nil
	}
	seen := contract.Outcome{}
	rule := "nothing is mounted at the staging path any more"
	switch {
	case mounted:
		seen.Mounts = c.mountsOfRequest()
	case unpublishes:
		seen.Left, rule = c.leftAt(place), "nothing is mounted or left at the target path any more"
	}
	found := c.seen(contract.CheckEffect(c.method, c.request, seen), rule)
	return slices.DeleteFunc(found, func(v verdict.Verdict) bool { return c.wire.has(v) })
}

// leftAt returns the file that keeps the kubelet from removing the path at which a volume was
// published: the path itself, or the first file in its directory. An empty directory is no
// obstacle.
func (c *call) leftAt(place string) string {
	info, err := c.site.Machine.Lstat(place)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		return place
	}
	entries, err := c.site.Machine.ReadDir(place)
	if err != nil || len(entries) == 0 {
		return ""
	}
	return path.Join(place, entries[0].Name())
}

// Report records a breach that a call shows together with others.
func (w *Wire) Report(call *trace.Event, v verdict.Verdict) {
	w.record(trace.Entry{Actor: call.Actor, Node: call.Node, Driver: call.Driver}, []verdict.Verdict{v})
}

// note records breaches of the CSI spec.
func (w *Wire) note(c *call, found []verdict.Verdict) {
	w.record(trace.Entry{Actor: c.site.Caller, Node: c.site.Node, Driver: c.site.Driver}, found)
}

func (w *Wire) record(by trace.Entry, found []verdict.Verdict) {
	for _, v := range found {
		v = v.Renamed(w.Renamed)
		if contract.MayRepeat(v) && slices.ContainsFunc(w.violations, func(earlier verdict.Verdict) bool { return contract.Repeats(v, earlier) }) {
			continue
		}
		kind := trace.Violation
		if v.Remark && !w.Strict {
			kind = trace.Remark
		} else {
			w.violations = append(w.violations, v)
		}
		by.Kind, by.Method, by.Message, by.Detail = kind, v.Method, v.Text, v
		w.World.Trace.Add(by)
	}
}

// has reports whether a verdict with the same words was recorded.
func (w *Wire) has(v verdict.Verdict) bool {
	return slices.ContainsFunc(w.violations, func(other verdict.Verdict) bool { return other.Text == v.Text })
}

func (w *Wire) capsOf(driver string) *contract.Caps {
	caps, ok := w.caps[driver]
	if !ok {
		caps = &contract.Caps{}
		w.caps[driver] = caps
	}
	return caps
}

// Attaches reports whether the driver's controller plugin declares that it attaches volumes.
func (w *Wire) Attaches(driver string) bool {
	return w.capsOf(driver).Controller.Has("PUBLISH_UNPUBLISH_VOLUME")
}

// StagesNot reports whether the driver's node plugins have declared their capabilities, and staging
// is not among them.
func (w *Wire) StagesNot(driver string) bool {
	node := w.capsOf(driver).Node
	return node != nil && !node.Has("STAGE_UNSTAGE_VOLUME")
}
