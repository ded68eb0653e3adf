//go:build linux

package defect

import (
	"os"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// otherFlags changes the flags of published volumes.
type otherFlags struct {
	service.Mounts
	change func(mount.Flags) mount.Flags
}

func (o otherFlags) Publish(v backend.Volume, source, target string, flags mount.Flags) error {
	return o.Mounts.Publish(v, source, target, o.change(flags))
}

func (o otherFlags) Restrict(target string, flags mount.Flags) error {
	if flags = o.change(flags); flags == 0 {
		return nil
	}
	return o.Mounts.Restrict(target, flags)
}

// publishing publishes volumes by another function.
type publishing struct {
	service.Mounts
	publish func(v backend.Volume, source, target string, flags mount.Flags) error
}

func (p publishing) Publish(v backend.Volume, source, target string, flags mount.Flags) error {
	return p.publish(v, source, target, flags)
}

// onPublish wraps the publishing of volumes.
func onPublish(publish func(d *service.Driver, next service.Mounts, v backend.Volume, source, target string, flags mount.Flags) error) func(*service.Driver) {
	return func(d *service.Driver) {
		next := d.Mounts
		d.Mounts = publishing{next, func(v backend.Volume, source, target string, flags mount.Flags) error {
			return publish(d, next, v, source, target, flags)
		}}
	}
}

// afterPublish runs a function after a volume was mounted at a target.
func afterPublish(do func(d *service.Driver, target string) error) func(*service.Driver) {
	return onPublish(func(d *service.Driver, next service.Mounts, v backend.Volume, source, target string, flags mount.Flags) error {
		if err := next.Publish(v, source, target, flags); err != nil {
			return err
		}
		return do(d, target)
	})
}

// staging stages volumes by another function.
type staging struct {
	service.Mounts
	stage func(v backend.Volume, content, staging string) error
}

func (s staging) Stage(v backend.Volume, content, staging string) error {
	return s.stage(v, content, staging)
}

// onStage wraps the staging of volumes.
func onStage(stage func(d *service.Driver, next service.Mounts, v backend.Volume, content, staging string) error) func(*service.Driver) {
	return func(d *service.Driver) {
		next := d.Mounts
		d.Mounts = staging{next, func(v backend.Volume, content, path string) error { return stage(d, next, v, content, path) }}
	}
}

// mounted reports whether something is mounted at a path.
func mounted(path string) bool {
	resolved, err := mount.Resolve(path)
	if err != nil {
		return false
	}
	table, err := mount.Read()
	_, is := table.At(resolved)
	return err == nil && is
}

// exists reports whether there is a file.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
