package workdir

import (
	"fmt"
	"os"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// owner is the process of a run's directory, from its lock file.
type owner struct {
	pid     int
	started uint64 // clock ticks since boot; 0 if not known
}

func writeOwner(lock *os.File) error {
	started, err := startTime(os.Getpid())
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(lock, "%d %d\n", namespaces.PID(), started)
	return err
}

// readOwner returns the zero owner if the run was killed before it wrote anything.
func readOwner(lock *os.File) owner {
	text := make([]byte, 64)
	n, _ := lock.ReadAt(text, 0)
	var o owner
	if _, err := fmt.Sscanf(string(text[:n]), "%d %d", &o.pid, &o.started); err != nil {
		return owner{}
	}
	return o
}
