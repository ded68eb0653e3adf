package machine

import (
	"errors"
	"io/fs"
	"path"
	"sync"
)

// Memory is a machine that exists only in memory. It is deterministic, and cheap enough for a
// thousand nodes in one process. It cannot run programs. Drivers are Go servers bound to its
// sockets.
type Memory struct {
	name   string
	layout Layout

	mu        sync.Mutex
	root      mount
	mounted   map[location]*mount
	nextMount int
	kept      map[string]location // open by KeepOpen
	held      map[*inode]bool     // opened exclusively
	listeners []*memoryListener
	watches   []*memoryWatch
	pending   []notice // events to deliver once the lock is free
}

var _ Machine = (*Memory)(nil)

// NewMemory makes a machine with an empty tree, except for the kubelet's directory.
func NewMemory(name string) *Memory { return NewMemoryWith(name, Layout{}) }

// NewMemoryWith is NewMemory for a machine with another layout.
func NewMemoryWith(name string, l Layout) *Memory {
	m := &Memory{name: name, layout: l}
	m.format()
	return m
}

// Name returns the name of the node.
func (m *Memory) Name() string { return m.name }

// Layout returns the place of the kubelet's directory.
func (m *Memory) Layout() Layout { return m.layout }

// Path returns path: there are only node paths.
func (m *Memory) Path(path string) string { return path }

// ProgramPath returns path.
func (m *Memory) ProgramPath(path string) string { return path }

// Missing returns none: there are no programs.
func (m *Memory) Missing() ([]Missing, error) { return nil, nil }

// Strays returns none: there are no programs.
func (m *Memory) Strays() ([]Stray, error) { return nil, nil }

// NodePath returns path.
func (m *Memory) NodePath(path string) string { return path }

// Start fails, because no other process could see the machine's files.
func (m *Memory) Start(Command) (*Process, error) {
	return nil, errors.New("this node's machine is in memory: it cannot run programs")
}

// PowerOff ends all servers, keeps their socket files, and removes all mounts.
func (m *Memory) PowerOff() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range m.listeners {
		l.die()
	}
	m.listeners = nil
	for at := range m.mounted {
		at.node.mounts = 0
	}
	m.mounted, m.kept, m.held = nil, nil, nil
	return nil
}

// Close powers off and forgets all files and watches.
func (m *Memory) Close() error {
	if err := m.PowerOff(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.watches = nil
	m.format()
	return nil
}

// format makes an empty tree.
func (m *Memory) format() {
	m.root = mount{root: &inode{mode: dirMode(0o755)}}
	m.makeDirs(m.layout.real())
	if link := m.layout.symlink(); link != "" {
		at := m.makeDirs(path.Dir(link)).add(path.Base(link), fs.ModeSymlink|fs.ModePerm)
		at.inside = content(m.layout.real())
	}
}

// makeDirs makes a directory and its missing parents in the root file system.
func (m *Memory) makeDirs(p string) *inode {
	dir := m.root.root
	for _, name := range components(p) {
		child := dir.child(name)
		if child == nil {
			child = dir.add(name, dirMode(0o755))
		}
		dir = child
	}
	return dir
}

// read runs a function that only reads the machine.
func (m *Memory) read(look func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return look()
}

// change runs a change of the machine and then reports it to the watches. Their callbacks may use
// the machine again.
func (m *Memory) change(do func() error) error {
	m.mu.Lock()
	err := do()
	pending := m.pending
	m.pending = nil
	m.mu.Unlock()
	for _, n := range pending {
		n.deliver()
	}
	return err
}
