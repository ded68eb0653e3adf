package machine

import (
	"os/exec"
	"sync"
	"time"
)

// openFiles is locked for reading while csisim has files of machines open, and for writing while it
// starts a program. Until a new process executes its own program, it has copies of all open
// descriptors. These copies would keep a mount busy although csisim has closed its files, and a
// driver's unmount would fail without any fault of the driver. A stand-in may run a command while
// it has files on a machine open; the command does not wait for these files.
var openFiles sync.RWMutex

// entrance is a lock that goroutines pass before they open files. A fork locks it while it waits
// until all files are closed.
var entrance sync.Mutex

// forkPatience limits how long a fork waits for open files, because a read from an unreachable
// server may never end.
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
