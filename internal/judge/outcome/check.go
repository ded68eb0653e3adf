package outcome

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

// Before is the state of a node before the driver received a call.
type Before struct {
	above  string // a directory of the kubelet; empty for none
	mounts int    // number of mounts at the path of the call
}

// Before looks at the node before the driver receives a call.
func (j *Judge) Before(c Call) Before {
	path, _ := mountPath(c)
	mounts, _ := mountsAt(c, path)
	return Before{above(c), mounts}
}

// above returns the parent directory of the path of a call that unpublishes or unstages a volume.
// The kubelet has created this directory, and keeps files there.
func above(c Call) string {
	dir := ""
	switch r := c.Request().(type) {
	case *csi.NodeUnpublishVolumeRequest:
		dir = path.Dir(r.GetTargetPath())
	case *csi.NodeUnstageVolumeRequest:
		dir = path.Dir(r.GetStagingTargetPath())
	}
	if dir == "" || c.Machine() == nil {
		return ""
	}
	if _, err := c.Machine().Lstat(dir); err != nil {
		return ""
	}
	return dir
}

// Check checks a call and its outcome against the CSI spec, and records the driver's capabilities.
// It does not check an outcome that a fault caused.
func (j *Judge) Check(c Call, before Before, err error) {
	caps := j.CapsOf(c.Driver())
	j.noteAsked(c)
	found := contract.CheckRequest(c.Method(), c.Request(), caps)
	switch {
	case c.MadeByFault():
	case err != nil:
		found = append(found, contract.CheckError(c.Method(), c.Request(), status.Code(err), caps)...)
	default:
		if c.Event().Response == c.Answer() { // unless it is already known
			caps.Learn(c.Answer())
		}
		j.learnNode(c)
		found = append(found, contract.CheckResponse(c.Method(), c.Request(), c.Answer(), caps)...)
		found = append(found, j.checkTarget(c)...)
		found = append(found, j.checkFlags(c)...)
		found = append(found, j.checkGroup(c)...)
		found = append(found, j.checkUndone(c)...)
		found = append(found, j.checkDevice(c)...)
	}
	found = append(found, checkAround(c, before)...)
	j.Note(c, found)
}

// checkAround checks whether the parent directory still exists. It skips calls that the kubelet
// gave up, because the kubelet may have continued meanwhile.
func checkAround(c Call, before Before) []verdict.Verdict {
	if before.above == "" || c.GivenUp() {
		return nil
	}
	_, gone := c.Machine().Lstat(before.above)
	if !errors.Is(gone, fs.ErrNotExist) {
		return nil
	}
	return []verdict.Verdict{contract.RemovesOthers(c.Method(), before.above)}
}

// checkTarget checks the target path of a published volume. A missing path shows elsewhere.
func (j *Judge) checkTarget(c Call) []verdict.Verdict {
	request, ok := c.Request().(*csi.NodePublishVolumeRequest)
	if !ok || c.Machine() == nil {
		return nil
	}
	info, err := c.Machine().Lstat(request.GetTargetPath())
	if err != nil {
		return nil
	}
	return j.Seen(c, contract.CheckTarget(c.Method(), request, info.Mode()), "the target path is as requested: a directory or a block device")
}

// checkFlags checks that the published mount has the mount flags of the request. Machines in memory
// have no flags.
func (j *Judge) checkFlags(c Call) []verdict.Verdict {
	request, ok := c.Request().(*csi.NodePublishVolumeRequest)
	if !ok || c.Machine() == nil || c.InProcess() || !contract.ShowsFlags(request) {
		return nil
	}
	mounts, err := c.Machine().Mounts()
	if err != nil {
		return nil
	}
	for _, m := range slices.Backward(mounts) { // the topmost
		if m.Target == request.GetTargetPath() {
			return j.Seen(c, contract.CheckFlags(c.Method(), request, m.Options), "the mount at the target path has the requested mount flags")
		}
	}
	return nil // a missing mount shows elsewhere
}

// checkGroup checks the group of a published directory. Drivers in memory change none.
func (j *Judge) checkGroup(c Call) []verdict.Verdict {
	request, ok := c.Request().(*csi.NodePublishVolumeRequest)
	if !ok || c.Machine() == nil || c.InProcess() {
		return nil
	}
	if _, wanted := contract.GroupOf(request); !wanted {
		return nil
	}
	info, err := c.Machine().Lstat(request.GetTargetPath())
	if err != nil {
		return nil
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	mounts, err := c.Machine().Mounts()
	if !ok || err != nil {
		return nil
	}
	var options []string
	for _, m := range mounts { // the topmost is the last one
		if m.Target == request.GetTargetPath() {
			options = m.Options
		}
	}
	found := contract.CheckMountGroup(c.Method(), request, owner.Gid, options)
	return j.Seen(c, found, "the published directory belongs to volume_mount_group")
}

// Seen returns the breaches of a rule that only the machine shows. If there are none, it records
// that the rule was kept.
func (j *Judge) Seen(c Call, found []verdict.Verdict, rule string) []verdict.Verdict {
	if len(found) == 0 && j.trace.WantsStates() {
		j.trace.AddState(trace.Entry{Kind: trace.Kept, Detail: trace.Seen{Call: c.Event().Seq, Rule: rule}})
	}
	return found
}

// checkUndone looks for mounts and files that remain after NodeUnpublishVolume or NodeUnstageVolume
// has answered OK. A remaining target blocks the pod, and a remaining mount is in use when its
// volume is detached. It is reported once.
func (j *Judge) checkUndone(c Call) []verdict.Verdict {
	place, unpublishes := "", false
	switch r := c.Request().(type) {
	case *csi.NodeUnpublishVolumeRequest:
		place, unpublishes = r.GetTargetPath(), true
	case *csi.NodeUnstageVolumeRequest:
		place = r.GetStagingTargetPath()
	}
	if place == "" || c.Machine() == nil {
		return nil
	}
	mounted, err := c.Machine().IsMountPoint(place)
	if err != nil {
		return nil
	}
	seen := contract.Outcome{}
	rule := "nothing is mounted at the staging path any more"
	switch {
	case mounted:
		seen.Mounts = Mounts(c)
	case unpublishes:
		seen.Left, rule = leftAt(c, place), "nothing is mounted or left at the target path any more"
	}
	found := j.Seen(c, contract.CheckEffect(c.Method(), c.Request(), seen), rule)
	return slices.DeleteFunc(found, func(v verdict.Verdict) bool { return j.has(v) })
}

// leftAt returns the file that keeps the kubelet from removing the path at which a volume was
// published: the path itself, or the first file in its directory. An empty directory is no
// obstacle.
func leftAt(c Call, place string) string {
	info, err := c.Machine().Lstat(place)
	if err != nil {
		return ""
	}
	if !info.IsDir() {
		return place
	}
	entries, err := c.Machine().ReadDir(place)
	if err != nil || len(entries) == 0 {
		return ""
	}
	return path.Join(place, entries[0].Name())
}
