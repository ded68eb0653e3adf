package data

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
)

// The forms of remarks on volumes that were mounted again over a dead mount. The new mount may
// propagate to running containers, but not to their open files.
const (
	remounted verdict.Form = "running containers see a new mount only with mountPropagation: HostToContainer"
	openFiles verdict.Form = "files that running containers have open end with the FUSE daemon"
)

// keepView keeps the volume as the starting containers see it.
func keepView(u Use) {
	if m, can := u.Machine.(machine.Views); can && !u.Block {
		_ = m.KeepView(u.Path) // a volume that cannot be kept is read only at its path
	}
}

// inContainers reports whether the running containers have the volume at its path. They do not have
// a mount made after their start, unless it covers the old one and propagates to them.
func (c *Check) inContainers(u Use, wrote record) bool {
	m, can := u.Machine.(machine.Views)
	if !can || u.Block {
		return true
	}
	view, err := m.ViewOf(u.Path)
	switch {
	case err != nil || !errors.Is(view.Err, syscall.ENOTCONN):
		return true
	case view.Covered && u.Propagated:
		c.remarkOnView(u, openFiles, view.Err)
		return true
	case view.Covered:
		c.remarkOnView(u, remounted, view.Err)
		return true
	}
	c.violation(u, wrote.String(), content{
		problem:    fmt.Sprintf("%v in its containers, as the volume was unmounted and mounted again after their start", view.Err),
		daemonDied: true,
	})
	return false
}

// remarkOnView remarks on the dead mount of a pod's containers, once for each pod and volume.
func (c *Check) remarkOnView(u Use, form verdict.Form, err error) {
	key := u.Pod + " " + u.Volume.String() + " in containers"
	if c.reported[key] {
		return
	}
	c.reported[key] = true
	c.say(u, verdict.Verdict{Form: form, Remark: true},
		fmt.Sprintf("volume %s at %s on %s was mounted again over the old mount, with which pod %s began: %v", u.Name, u.Path, u.Node, u.Pod, err))
}
