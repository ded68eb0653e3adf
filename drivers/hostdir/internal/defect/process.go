//go:build linux

package defect

import "os/exec"

// startProcess starts a process that has the name of a subject and never ends.
func startProcess(subject string) error {
	process := exec.Command("sleep", "infinity")
	process.Args[0] = "watch:" + subject
	if err := process.Start(); err != nil {
		return err
	}
	go func() { _ = process.Wait() }() // prevents a zombie if it is killed
	return nil
}
