package wire

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
)

// mounting is a kind of call by which a driver mounts file systems.
type mounting struct{ driver, method string }

// mountPath returns the path at which the call mounts a file system, or a block device; empty if it
// mounts none.
func (c *call) mountPath() (path string, filesystem bool) {
	switch r := c.request.(type) {
	case *csi.NodeStageVolumeRequest:
		return r.GetStagingTargetPath(), r.GetVolumeCapability().GetMount() != nil
	case *csi.NodePublishVolumeRequest:
		return r.GetTargetPath(), r.GetVolumeCapability().GetMount() != nil
	}
	return "", false
}

// mountsAt counts the mounts at a path; false if the machine does not know.
func (c *call) mountsAt(path string) (n int, known bool) {
	if c.site.Machine == nil || path == "" {
		return 0, false
	}
	if mounted, err := c.site.Machine.IsMountPoint(path); errors.Is(err, fs.ErrNotExist) || err == nil && !mounted {
		return 0, true // the whole table need not be listed
	}
	mounts, err := c.site.Machine.Mounts()
	if err != nil {
		return 0, false
	}
	for _, m := range mounts {
		if m.Target == path {
			n++
		}
	}
	return n, true
}

// countMounts counts the mounts at the path of the call before the driver receives it.
func (c *call) countMounts() {
	path, _ := c.mountPath()
	c.mountsBefore, _ = c.mountsAt(path)
}

// checkMounted compares the mounts at the path of the call, once the driver has answered OK, with
// those before. A repeated call adds none. A call that mounts leaves a mount, so that one without
// is reported if the driver is known to mount in such calls. A lost answer changes neither.
func (c *call) checkMounted() {
	path, filesystem := c.mountPath()
	n, known := c.mountsAt(path)
	if !known {
		return
	}
	of := mounting{c.site.Driver, c.method}
	switch {
	case c.mountsBefore > 0 && n > c.mountsBefore:
		c.wire.note(c, []verdict.Verdict{contract.StacksMounts(c.method, c.mountsBefore, n)})
	case n > 0 && filesystem:
		c.wire.mounts[of] = true
	case n == 0 && filesystem && c.wire.mounts[of]:
		c.wire.note(c, []verdict.Verdict{contract.MountsNothing(c.method, path)})
	}
}

// sawMount notes that the driver's program was about to mount at the path of the call.
func (c *call) sawMount(seen machine.SystemCall) {
	path, filesystem := c.mountPath()
	if filesystem && strings.HasPrefix(seen.Name, "mount") && seen.Path == path {
		c.wire.mounts[mounting{c.site.Driver, c.method}] = true
	}
}
