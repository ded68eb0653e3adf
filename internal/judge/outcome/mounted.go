package outcome

import (
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
)

// mounting is a kind of call in which a driver mounts file systems.
type mounting struct{ driver, method string }

// mountPath returns the path at which the call mounts a file system, or a block device; empty if it
// mounts none.
func mountPath(c Call) (path string, filesystem bool) {
	switch r := c.Request().(type) {
	case *csi.NodeStageVolumeRequest:
		return r.GetStagingTargetPath(), r.GetVolumeCapability().GetMount() != nil
	case *csi.NodePublishVolumeRequest:
		return r.GetTargetPath(), r.GetVolumeCapability().GetMount() != nil
	}
	return "", false
}

// mountsAt counts the mounts at a path; false if the machine cannot count them.
func mountsAt(c Call, path string) (n int, known bool) {
	if c.Machine() == nil || path == "" {
		return 0, false
	}
	n, err := c.Machine().MountsAt(path)
	return n, err == nil
}

// CheckMounted compares the mounts at the path of the call, after the driver has answered OK, to
// those before. A repeated call adds none. A call of a mounting driver must leave a mount. A
// missing mount is reported if the driver is known to mount in such calls. A lost answer changes
// neither.
func (j *Judge) CheckMounted(c Call, before Before) {
	path, filesystem := mountPath(c)
	n, known := mountsAt(c, path)
	if !known {
		return
	}
	of := mounting{c.Driver(), c.Method()}
	switch {
	case before.mounts > 0 && n > before.mounts:
		j.Note(c, []verdict.Verdict{contract.StacksMounts(c.Method(), before.mounts, n)})
	case n > 0 && filesystem:
		j.mounts[of] = true
	case n == 0 && filesystem && j.mounts[of]:
		j.Note(c, []verdict.Verdict{contract.MountsNothing(c.Method(), path)})
	}
}

// SawMount records that the driver's program was about to mount at the path of the call.
func (j *Judge) SawMount(c Call, seen machine.SystemCall) {
	path, filesystem := mountPath(c)
	if filesystem && strings.HasPrefix(seen.Name, "mount") && seen.Path == path {
		j.mounts[mounting{c.Driver(), c.Method()}] = true
	}
}
