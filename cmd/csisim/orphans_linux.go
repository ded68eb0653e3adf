package main

import (
	"bytes"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/workdir"
)

// adoptOrphans makes this process the parent of what driver programs start and
// leave. A kernel that does not know how leaves them to init.
func adoptOrphans() { _ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// killOrphans kills what programs have left, whatever it did to hide. It is called
// when the programs themselves have ended: each child that there is is an orphan.
func killOrphans() error {
	_, err := workdir.KillAll(isLivingChild)
	for {
		if reaped, _ := unix.Wait4(-1, nil, unix.WNOHANG, nil); reaped <= 0 {
			return err
		}
	}
}

func isLivingChild(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	// pid (name) state parent …, and the name may contain spaces
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	return len(fields) > 1 && string(fields[0]) != "Z" && string(fields[1]) == strconv.Itoa(os.Getpid())
}
