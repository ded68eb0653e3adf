package check

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// namesFUSE matches the errors of FUSE programs that cannot open their device: "fuse: failed to
// open /dev/fuse: Permission denied", "fuse device not found, try 'modprobe fuse' first".
// (libfuse 3.16, lib/mount.c: fuse_mount_sys; util/fusermount.c: open_fuse_device)
var namesFUSE = lazyregexp.New(`/dev/fuse\b|\bfuse:? device not found`)

// closedFUSE returns the reason why a driver program cannot mount with FUSE on this machine; empty
// if it can.
func (s Subject) closedFUSE() string {
	if s.Driver.Mock != nil || s.Driver.Socket != nil {
		return ""
	}
	if err := machine.FUSERefused(); err != nil {
		return fmt.Sprintf("the driver mounts with FUSE, and on this machine a driver cannot open its device: %v", err)
	}
	return ""
}

// needsFUSE reports whether a call failed because the driver could not open the FUSE device. The
// message is in the error of the call, or in the driver's output in the directory logs.
func needsFUSE(r *scenario.Result, logs string) bool {
	failed := false
	for _, e := range r.Trace {
		if e.Kind == trace.Call && e.Code != "" {
			failed = true
			if namesFUSE().MatchString(e.Message) {
				return true
			}
		}
	}
	return failed && logs != "" && fileNamesFUSE(logs)
}

// fileNamesFUSE reports whether a file below a directory has such an error.
func fileNamesFUSE(dir string) (found bool) {
	// A file that cannot be read has none.
	_ = filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			text, _ := os.ReadFile(file)
			found = found || namesFUSE().Match(text)
		}
		return nil
	})
	return found
}
