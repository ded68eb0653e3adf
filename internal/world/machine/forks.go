package machine

import (
	"os/exec"
	"sync"
	"time"
)

// openFiles is locked for reading while csisim has files of machines open, and for writing while it
// starts a program. A new process has copies of all open descriptors until it executes its own
// program. A mount there would be busy meanwhile, although csisim has closed its files, and a
// driver's unmount would fail for no fault of the driver. Commands of stand-ins that run while
// their files of a machine are open do not wait.
var openFiles sync.RWMutex

// entrance is passed by goroutines that open files, and locked by a fork that waits until all are
// closed.
var entrance sync.Mutex

// forkPatience limits how long a fork waits for open files: a read from an unreachable server may
// never end.
const forkPatience = 500 * time.Millisecond

// withFiles runs a function that opens files of a machine, and closes them again.
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

// awaitFiles waits until no files are open, and keeps other goroutines from opening any. It returns
// false if files are open for longer than its patience.
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
