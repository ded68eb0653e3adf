// Package machine is the simulated computer of a node, for drivers written in Go: files, mounts,
// sockets and programs, in memory or on disk.
package machine

import "github.com/csisim/csisim/internal/world/machine"

// KubeletDir is the default directory of the kubelet.
const KubeletDir = machine.KubeletDir

// The errors of a machine that refuses an operation.
var (
	// ErrNoPermission is returned if the host permits this user neither to mount nor to create
	// namespaces.
	ErrNoPermission = machine.ErrNoPermission
	// ErrNotIsolated is returned by a machine without its own mount namespace.
	ErrNotIsolated = machine.ErrNotIsolated
)

type (
	// Machine is the computer of one simulated node.
	Machine = machine.Machine
	// Memory is a machine that exists in memory only.
	Memory = machine.Memory
	// Disk is a machine with a tree in a directory of the host.
	Disk = machine.Disk
	// Devices is a machine with block devices that can be read and written in part.
	Devices = machine.Devices
	// VolumeFiles is a machine that reads and writes files of volumes.
	VolumeFiles = machine.VolumeFiles

	// Layout determines the path of the kubelet's directory on a machine.
	Layout = machine.Layout
	// Service is one gRPC service and its server.
	Service = machine.Service
	// Listener is a bound socket.
	Listener = machine.Listener
	// Command is a program to run on a machine.
	Command = machine.Command
	// Process is a running program.
	Process = machine.Process
	// Volume is visible to one program only.
	Volume = machine.Volume
	// Stray is a process that a program of the machine has started.
	Stray = machine.Stray

	// Mount is an entry of a machine's mount table.
	Mount = machine.Mount
	// Missing is a mount that a program has unmounted only for itself.
	Missing = machine.Missing
	// Event is one change below a watched directory.
	Event = machine.Event
	// Op is the kind of change in an Event.
	Op = machine.Op
)

// The changes of a watched directory.
const (
	Created = machine.Created
	Removed = machine.Removed
)

// NewMemory returns a machine in memory. Its tree holds only the kubelet's directory.
func NewMemory(name string) *Memory { return machine.NewMemory(name) }

// NewDisk returns a machine in dir, which it creates if it does not exist. Its mounts are visible
// on the host.
func NewDisk(name, dir string) (*Disk, error) { return machine.NewDisk(name, dir) }
