//go:build !linux

package workdir

import "os"

// Only on Linux can a run mount, attach loop devices and be distinguished from other processes.
// On other systems, a run leaves only files behind.

// KillPrograms kills nothing.
func KillPrograms(string) ([]Program, error) { return nil, nil }

// KillAll kills nothing.
func KillAll(func(pid int) bool) ([]Program, error) { return nil, nil }

func killPrograms(string, owner) ([]Program, error) { return nil, nil }
func unmountBelow(string) ([]string, error)         { return nil, nil }
func detachLoops(string) ([]string, error)          { return nil, nil }
func detachOrphans(string) ([]Leftover, error)      { return nil, nil }
func detachForgotten() ([]Leftover, error)          { return nil, nil }
func unregister(string)                             {}

// Loops finds none.
type Loops struct{}

// NewLoops looks for nothing.
func NewLoops(string) *Loops { return &Loops{} }

// AddMemory adds nothing.
func (*Loops) AddMemory(...uint64) error { return nil }

// RemoveMemory removes nothing.
func (*Loops) RemoveMemory(...uint64) error { return nil }

// Attached records nothing.
func (*Loops) Attached(string, uint64, uint64) {}

// InUse returns none.
func (*Loops) InUse() ([]Loop, error) { return nil, nil }

// Detach detaches nothing.
func (*Loops) Detach() error { return nil }

// Memory does not exist here.
type Memory struct{}

// NewMemory fails: there are no mount namespaces.
func NewMemory(string) (*Memory, error) { return nil, ErrNoNamespace }

// Path returns "".
func (*Memory) Path() string { return "" }

// Size returns 0.
func (*Memory) Size() uint64 { return 0 }

// Close closes nothing.
func (*Memory) Close() error { return nil }

// RemoveTree removes path and everything below it. A missing path is no error.
func RemoveTree(path string) error { return os.RemoveAll(path) }

func startTime(int) (uint64, error) { return 0, nil }

func isDying(owner) bool { return false }
