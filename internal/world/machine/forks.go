package machine

import (
	"os/exec"
	"sync"
	"time"
)

// openFiles is held for reading while csisim has files of machines open, and for writing while it forks. A new process has copies of all
// that is open until it is what it will be: what is mounted there would be busy meanwhile, although csisim has
// closed its files, and a driver's unmount would fail for no reason of its own.
var openFiles sync.RWMutex

// forkPatience bounds how long a fork waits for files: who reads from a server that is gone may never close them.
const forkPatience = 500 * time.Millisecond

// fork starts a command.
func fork(cmd *exec.Cmd) error {
	if alone := awaitFiles(); alone {
		defer openFiles.Unlock()
	}
	return cmd.Start()
}

// awaitFiles returns when no files are open, and keeps it so; false if its patience has ended before.
func awaitFiles() bool {
	for end := time.Now().Add(forkPatience); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if openFiles.TryLock() {
			return true
		}
	}
	return false
}
