package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/workdir"
)

// ControlPlane is the machine on which controller plugins run; the machines of further replicas
// have a number.
const ControlPlane = "control-plane"

// Machines makes the computers of a cluster.
type Machines struct {
	World  *component.World
	Layout machine.Layout
	// Dir is the directory of all machines. Default: the machines are in memory.
	Dir   string
	Loops *workdir.Loops
	// Namespaces gives each machine a mount namespace. Programs then change no directories of the
	// host except those in Through. OnDisk keeps the directories of kubelets on disk there.
	// Keep keeps the files of all machines on disk when they are closed.
	Namespaces, OnDisk, Keep bool
	Through                  []string
	// Lost is called when process 1 of a machine was killed from outside, for example by the kernel
	// for lack of memory. All programs of the machine have then ended.
	Lost func(m *machine.Disk, how string)
	// Apart describes the reason and the consequences if the machines are not fully separate.
	Apart string
	// Written are the changes of the host's directories that were kept off the host.
	Written []string

	disks []*machine.Disk
}

// New creates a computer. The computer of a node with networks gets a network.
func (all *Machines) New(name string, network *machine.Network) (machine.Machine, error) {
	if all.Dir == "" {
		return machine.NewMemoryWith(name, all.Layout), nil
	}
	create := all.newDisk
	if all.Namespaces {
		create = all.newApart
	}
	m, err := create(name, filepath.Join(all.Dir, name), network)
	if err != nil {
		return nil, err
	}
	if all.Keep {
		m.Keep()
	}
	all.disks = append(all.disks, m)
	all.keepTime(m)
	m.SeeLoops(all.Loops.Attached)
	return m, nil
}

func (all *Machines) newDisk(name, dir string, _ *machine.Network) (*machine.Disk, error) {
	return machine.NewDiskWith(name, dir, all.Layout)
}

// newApart creates a machine in a separate mount namespace.
func (all *Machines) newApart(name, dir string, network *machine.Network) (*machine.Disk, error) {
	m, err := machine.NewNamespaceWith(name, dir, all.OnDisk, all.Layout, network, all.Through...)
	if err != nil {
		return nil, err
	}
	if namespaces.Rootless() {
		all.Apart = "by mount namespaces of an ordinary user: no loop devices, no device nodes, no change of owners"
		if err := machine.FUSERefused(); err != nil {
			all.Apart += fmt.Sprintf(", no FUSE (%v)", err)
		}
	}
	if cause := m.SharesProcesses(); cause != nil {
		all.Apart = cmp.Or(all.Apart, "by mount namespaces") + fmt.Sprintf("; they share processes (%v), so a program that enters the mount namespace of process 1 leaves its node", cause)
	}
	m.OnLoss(func(how string) {
		all.World.Kernel.Arrive("end of process 1 of "+name, func() { all.Lost(m, how) })
	})
	return m, all.Loops.AddMemory(m.Memory()...)
}

// keepTime makes a machine use the cluster's time for files on its disk.
func (all *Machines) keepTime(d *machine.Disk) {
	moved := func() { d.ClockMoved(all.World.Kernel.Elapsed()) }
	moved()
	all.World.Kernel.OnClock(moved)
}

// Close frees the loop devices of a machine's memory while their owner is still known, and closes
// the machine.
func (all *Machines) Close(m machine.Machine) (err error) {
	if d, is := m.(*machine.Disk); is {
		err = all.Loops.RemoveMemory(d.Memory()...)
	}
	return errors.Join(err, m.Close())
}

// KeepWritten collects the changes of programs, before their machines are closed.
func (all *Machines) KeepWritten() error {
	for _, disk := range all.disks {
		changes, err := disk.Written()
		if err != nil {
			return err
		}
		for _, change := range changes {
			if line := disk.Name() + ": " + change; !slices.Contains(all.Written, line) {
				all.Written = append(all.Written, line)
			}
		}
	}
	return nil
}
