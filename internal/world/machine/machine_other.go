//go:build !linux

package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Only Linux has mount namespaces, bind mounts, and programs that are killed with their parents. A
// machine of another system is a directory.

var errNotLinux = errors.New("csisim mounts on Linux only: run it in a Linux container or virtual machine")

// ownRoot is the root of a machine in a namespace, which this system does not have.
type ownRoot struct {
	kubelet string
	memory  []uint64
}

func (*ownRoot) outside() string                   { panic("a machine in a namespace") }
func (*ownRoot) furnish() error                    { panic("a machine in a namespace") }
func (*ownRoot) lstat(string) (fs.FileInfo, error) { panic("a machine in a namespace") }
func (*ownRoot) close() error                      { panic("a machine in a namespace") }

// Written lists changes in namespaces: there are none.
func (*Disk) Written() ([]string, error) { return nil, nil }

// NewNamespace fails with ErrNoPermission.
func NewNamespace(name, _ string, _ bool, _ ...string) (*Disk, error) {
	return NewNamespaceWith(name, "", false, Layout{}, nil)
}

// NewNamespaceWith fails with ErrNoPermission.
func NewNamespaceWith(name, _ string, _ bool, _ Layout, _ *Network, _ ...string) (*Disk, error) {
	return nil, fmt.Errorf("make the mount namespace of node %s: %w: %w", name, ErrNoPermission, errNotLinux)
}

// Opened is not known.
func (*Process) Opened() map[string]int { return nil }

// RemoveDeadGroups finds no control groups.
func RemoveDeadGroups() []string { return nil }

// Memory returns the memory file systems of a machine in a namespace, which this system does not
// have.
func (*Disk) Memory() []uint64 { return nil }

// unshareNetwork fails: there are no network namespaces.
func unshareNetwork() (*os.File, error) {
	return nil, fmt.Errorf("%w: %w", ErrNoPermission, errNotLinux)
}

func (*Network) enter() error { return errNotLinux }

// unshareIPC fails: there are no IPC namespaces.
func unshareIPC() (*os.File, error) {
	return nil, fmt.Errorf("%w: %w", ErrNoPermission, errNotLinux)
}

func (d *Disk) keepBase() error { return nil }

func onMainThread() bool { return false }

// keptView is a mount that KeepView keeps, which this system does not support.
type keptView struct{}

// KeepView finds no mounts.
func (*Disk) KeepView(string) error { return nil }

// ViewOf finds no mounts.
func (*Disk) ViewOf(string) (View, error) { return View{}, nil }

// CloseViews finds no mounts.
func (*Disk) CloseViews(string) error { return nil }

// BindMount fails with ErrNoPermission.
func (d *Disk) BindMount(source, target string, _ bool) error {
	return &fs.PathError{Op: "bind mount " + source + " on", Path: target, Err: fmt.Errorf("%w: %w", ErrNoPermission, errNotLinux)}
}

// Unmount returns that nothing is mounted.
func (d *Disk) Unmount(target string) error {
	return &fs.PathError{Op: "unmount", Path: target, Err: syscall.EINVAL}
}

// IsMountPoint returns that nothing is mounted.
func (d *Disk) IsMountPoint(p string) (bool, error) {
	return false, d.look(func() error {
		_, err := os.Stat(d.within(p))
		return err
	})
}

// Mounts returns none.
func (d *Disk) Mounts() ([]Mount, error) { return nil, nil }

// Missing returns none.
func (d *Disk) Missing() ([]Missing, error) { return nil, nil }

// Strays returns none: they cannot be found.
func (d *Disk) Strays() ([]Stray, error) { return nil, nil }

// References returns none.
func (d *Disk) References(string) ([]string, error) { return nil, nil }

func (d *Disk) unmountAll() error { return nil }

func (*Disk) ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitEnd does not wait: the caller that reaps the child does.
func awaitEnd(int) {}

func (*Disk) killNeighbours(*thread) ([]string, error) { return nil, nil }

func (*Disk) killLeft() error { return nil }

// Holds returns none: they cannot be found.
func (p *Process) Holds() (files, unreaped []string) { return nil, nil }

func peakMemory(int) int64 { return 0 }

func threadID() int { return 0 }

// SharesProcesses concerns machines in namespaces, which this system does not have.
func (*Disk) SharesProcesses() error { return nil }

// identity is the identity of programs in their own root, which this system does not have.
type identity struct{}

func (*Root) identify(*ownRoot) (*identity, error) { return nil, errNotLinux }

func (*Root) startContained(*exec.Cmd, *identity, *ownRoot) error { return errNotLinux }

func (*identity) apply(*exec.Cmd) error { return errNotLinux }

// Quiet reports true for every program, because no activity can be observed.
func (p *Process) Quiet() bool { return true }

// Working reports false for every program, because no activity can be observed.
func (p *Process) Working() bool { return false }

func (p *Process) Busy() int { return 0 }

func (p *Process) Family() []int { return nil }

func (p *Process) processorTime() time.Duration { return 0 }

// keepBase does nothing: there are no namespaces.
func (p *Process) keepBase() error { return nil }

func (p *Process) addToBase(...string) error { return nil }

// OnLoss has no effect, because there is no process 1.
func (*Disk) OnLoss(func(how string)) {}

// Reboot has no effect.
func (*Disk) Reboot() error { return nil }

// SeeLoops has no effect, because there are no loop devices.
func (*Disk) SeeLoops(func(device string, fileSystem, inode uint64)) {}

func kernelPoints() []string { return nil }

func (c Command) confine() error { return nil }

// mountTable is empty.
type mountTable struct{}

func (*mountTable) close() error { return nil }

type mountsSeen struct{}

func forgetPages(*os.File) {}

func (*Disk) writesReadOnly(string, []string) (string, error) { return "", errNotLinux }

// changes of files cannot be observed.
type changes struct{}

func follow(*unsynced, *loopDevices, *lostFiles, bool) *changes { return nil }

// lostFiles would list the lost files of containers; they do not exist here.
type lostFiles struct{}

func (*lostFiles) lookups() []Lookup { return nil }

func (*Disk) contain(*Process, Command) (func() error, error) { panic("a machine in a namespace") }

// Memory is empty: no program is in a namespace.
func (*Process) Memory() []uint64 { return nil }

// loopDevices are unknown on this system.
type loopDevices struct{}

func (*loopDevices) lose() error { return nil }

// unsynced files are not known: changes cannot be observed.
type unsynced struct{}

func (*Disk) newUnsynced() *unsynced  { return nil }
func (*unsynced) lose() int           { return 0 }
func (*unsynced) reachAll()           {}
func (*unsynced) moved(time.Duration) {}

func (*changes) arm(*Hold)                            {}
func (*changes) release(*Hold)                        {}
func (*changes) refuseUnmount() func() (bool, string) { return nil }
func (*changes) watchBy(*CallWatch)                   {}
func (*changes) seenBy(*CallWatch) []SystemCall       { return nil }
func (*changes) endWatch(*CallWatch)                  {}

// controlGroup limits nothing here.
type controlGroup struct{}

func newControlGroup(Limits) *controlGroup { return nil }
func (*controlGroup) admit(*thread) error  { return nil }
func (*controlGroup) limit(*exec.Cmd)      {}
func (*controlGroup) bound(Limits) error   { return nil }
func (*controlGroup) leave(*thread) bool   { return false }
