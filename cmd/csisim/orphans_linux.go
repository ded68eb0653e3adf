package main

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/workdir"
)

// adoptOrphans makes this process the parent of processes that driver programs start and abandon. A
// kernel without this feature leaves them to init.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// killOrphans kills the processes that programs have left behind, however they hide. It is called
// when the programs themselves have ended, so every remaining child is an orphan.
func killOrphans() error {
	_, err := workdir.KillAll(isLivingChild)
	for {
		if reaped, _ := unix.Wait4(-1, nil, unix.WNOHANG, nil); reaped <= 0 {
			return err
		}
	}
}

func isLivingChild(pid int) bool {
	stat, err := workdir.StatOf(pid)
	return err == nil && stat.State != 'Z' && stat.Parent == os.Getpid()
}
