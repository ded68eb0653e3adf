package machine

import (
	"errors"
	"sync"
)

// Memory is a machine that exists in memory only: deterministic, and cheap
// enough for a thousand nodes in one process. It cannot run programs; drivers
// are Go servers bound to its sockets.
type Memory struct {
	name string

	mu        sync.Mutex
	root      mount
	mounted   map[location]*mount
	nextMount int
	kept      map[string]location // open by KeepOpen
	held      map[*inode]bool     // open for somebody alone
	listeners []*memoryListener
	watches   []*memoryWatch
	pending   []notice // events that wait for the lock to be free
}

var _ Machine = (*Memory)(nil)

// NewMemory makes a machine whose tree holds nothing but the kubelet's directory.
func NewMemory(name string) *Memory {
	m := &Memory{name: name}
	m.format()
	return m
}

// Name is the name of the node.
func (m *Memory) Name() string { return m.name }

// Path is path: the node's paths are the only ones.
func (m *Memory) Path(path string) string { return path }

// ProgramPath is path.
func (m *Memory) ProgramPath(path string) string { return path }

// Missing are none: there are no programs.
func (m *Memory) Missing() ([]Missing, error) { return nil, nil }

// Strays are none: there are no programs.
func (m *Memory) Strays() ([]Stray, error) { return nil, nil }

// NodePath is path.
func (m *Memory) NodePath(path string) string { return path }

// Start fails: nothing outside this process could see the machine's files.
func (m *Memory) Start(Command) (*Process, error) {
	return nil, errors.New("this node's machine is in memory: it cannot run programs")
}

// PowerOff ends all servers, whose socket files stay, and drops all mounts.
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

var kubeletDir = components(KubeletDir)

// format makes an empty tree.
func (m *Memory) format() {
	m.root = mount{root: &inode{mode: dirMode(0o755)}}
	dir := m.root.root
	for _, name := range kubeletDir {
		dir = dir.add(name, dirMode(0o755))
	}
}

// read runs a look at the machine.
func (m *Memory) read(look func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return look()
}

// change runs a change of the machine and then reports it to the watches, whose
// callbacks are free to use the machine again.
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
