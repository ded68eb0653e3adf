package machine

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// OnLoss calls a function, on any thread, when process 1 of a machine in a namespace has ended, and
// with it all programs, although the machine was not closed. The argument describes how it ended.
// PowerOff and Reboot make the machine usable again.
func (d *Disk) OnLoss(lost func(how string)) {
	if d.own == nil {
		return
	}
	first := d.own.layers.first.Load()
	if first == nil {
		return
	}
	d.mu.Lock()
	d.lossSeen = lost
	d.mu.Unlock()
	go first.reportEnd(lost)
}

// reportEnd calls a function when process 1 has ended, unless csisim ended it.
func (f *firstProcess) reportEnd(lost func(how string)) {
	<-f.ended
	if !f.closing.Load() {
		lost(f.cmd.ProcessState.String())
	}
}

// Reboot starts process 1 again after it was lost. The machine must be powered off.
func (d *Disk) Reboot() error {
	if d.own == nil {
		return nil
	}
	before := d.own.layers.first.Load()
	if before == nil {
		return nil
	}
	if err := d.startFirstAgain(before); err != nil {
		return fmt.Errorf("start process 1 of node %s again: %w", d.name, err)
	}
	d.mu.Lock()
	seen := d.lossSeen
	d.mu.Unlock()
	if seen != nil {
		go d.own.layers.first.Load().reportEnd(seen)
	}
	return d.keepBase()
}

func (d *Disk) startFirstAgain(before *firstProcess) error {
	ours, err := os.Open("/proc/self/ns/pid")
	if err != nil {
		return err
	}
	defer ours.Close()
	proc, err := copyOf("/proc")
	if err != nil {
		return err
	}
	defer proc.Close()
	if err := before.end(); err != nil {
		return err
	}
	return d.do(func() error { return d.own.startFirst(ours, proc) })
}

// startFirst starts another process 1 from the machine's thread, which has the machine's root. ours
// is csisim's process namespace, and proc shows csisim's processes.
func (r *ownRoot) startFirst(ours, proc *os.File) error {
	if err := unix.Setns(int(ours.Fd()), unix.CLONE_NEWPID); err != nil {
		return fmt.Errorf("leave the process namespace: %w", err)
	}
	if err := mountError("/proc", unix.Unmount("/proc", unix.MNT_DETACH)); err != nil {
		return err
	}
	if err := moveTree(proc, rootPlace); err != nil {
		return err
	}
	first, err := startFirst("/", rootPlace)
	err = errors.Join(err, mountError(rootPlace, unix.Unmount(rootPlace, unix.MNT_DETACH)))
	if err != nil {
		return err
	}
	r.layers.first.Store(first)
	if err := maskKernel(""); err != nil {
		return err
	}
	return errors.Join(first.enterRoot(), first.adopt())
}
