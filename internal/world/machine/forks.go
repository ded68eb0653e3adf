package machine

import (
	"os/exec"
	"sync"
	"time"
)

// openFiles is held for reading while csisim has files of machines open, and for writing while it starts a program. A new process has
// copies of all that is open until it runs its own program: what is mounted there would be busy meanwhile, although
// csisim has closed its files, and a driver's unmount would fail for no reason of its own. What stand-ins run while
// they have a machine's files open waits for nobody.
var openFiles sync.RWMutex

// entrance is passed by who opens files, and held by a fork that waits until all are closed.
var entrance sync.Mutex

// forkPatience bounds how long a fork waits for files: a read from a server that is gone may never end.
const forkPatience = 500 * time.Millisecond

// withFiles runs what opens files of a machine, and closes them again.
func withFiles(f func() error) error {
	entrance.Lock()
	openFiles.RLock()
	entrance.Unlock()
	defer openFiles.RUnlock()
	return f()
}

// fork starts a command.
func fork(cmd *exec.Cmd) error {
	if alone := awaitFiles(); alone {
		defer openFiles.Unlock()
	}
	return cmd.Start()
}

// awaitFiles returns when no files are open, and keeps it so; false if its patience has ended before.
func awaitFiles() bool {
	entrance.Lock()
	defer entrance.Unlock()
	for end := time.Now().Add(forkPatience); time.Now().Before(end); time.Sleep(50 * time.Microsecond) {
		if openFiles.TryLock() {
			return true
		}
	}
	return false
}
