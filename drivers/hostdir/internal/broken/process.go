package broken

import (
	"log"
	"os"
	"os/exec"
	"syscall"
)

// Exit ends the driver.
func Exit() {
	log.Print("giving up")
	os.Exit(3)
}

// StartProcess starts a process that is named after a target and never ends.
func StartProcess(target string) error {
	process := exec.Command("sleep", "infinity")
	process.Args[0] = "watch:" + target
	if err := process.Start(); err != nil {
		return err
	}
	go func() { _ = process.Wait() }() // avoids a zombie if it is killed
	return nil
}

// LeaveZombie starts a program and does not wait for it.
func LeaveZombie() error { return exec.Command("true").Start() }

// LeaveFile opens a file and never closes it.
func LeaveFile(path string) error {
	_, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	return err
}
