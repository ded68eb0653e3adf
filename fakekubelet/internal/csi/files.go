package csi

import (
	"errors"
	"io/fs"
	"path"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// files changes the node's file system. Before each change another process may run, and a crash may
// happen.
type files struct {
	*Plugin
	process *kernel.Process
}

func (pl *Plugin) files(p *kernel.Process) files { return files{pl, p} }

// change makes one change on the disk and records it.
func (f files) change(what, name string, do func(machine.Machine) error) error {
	f.process.Yield(what, " ", name)
	err := do(f.machine)
	f.record(what, name, err)
	return err
}

func (f files) record(what, name string, err error) {
	e := trace.Entry{Kind: trace.FileChange, Actor: "kubelet", Node: f.kubelet.Node, Method: what, Name: name}
	if err != nil {
		e.Code, e.Message = "Failed", err.Error()
	}
	f.kubelet.Trace.AddChange(e)
}

func (f files) mkdir(name string) error {
	if _, err := f.machine.Lstat(name); err == nil {
		return nil
	}
	return f.change("mkdir", name, func(m machine.Machine) error { return m.MkdirAll(name, dirMode) })
}

func (f files) write(name string, data []byte) error {
	return f.change("write", name, func(m machine.Machine) error { return m.WriteFile(name, data, dataFileMode) })
}

func (f files) remove(name string) error {
	if _, err := f.machine.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.change("remove", name, func(m machine.Machine) error { return m.Remove(name) })
}

func (f files) removeAll(name string) error {
	if _, err := f.machine.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return f.change("remove all", name, func(m machine.Machine) error { return m.RemoveAll(name) })
}

// removeMountDir cleans up after an unmount: it removes the directory, the data file beside it and
// their parent. A directory that is still mounted stays, without an error. A directory that is not
// empty is an error. K-STAGE-8
func (f files) removeMountDir(mount string) error {
	mounted, err := f.machine.IsMountPoint(mount)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if mounted {
		return nil
	}
	parent := path.Dir(mount)
	for _, name := range []string{mount, path.Join(parent, dataFile), parent} {
		if err := f.remove(name); err != nil {
			return err
		}
	}
	return nil
}
