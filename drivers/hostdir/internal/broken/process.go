package broken

import (
	"log"
	"os"
	"os/exec"
)

// Exit ends the driver.
func Exit() {
	log.Print("giving up")
	os.Exit(3)
}

// StartProcess starts a process that calls itself after a target and never ends.
func StartProcess(target string) error {
	process := exec.Command("sleep", "infinity")
	process.Args[0] = "watch:" + target
	if err := process.Start(); err != nil {
		return err
	}
	go func() { _ = process.Wait() }() // whoever kills it leaves no zombie
	return nil
}
