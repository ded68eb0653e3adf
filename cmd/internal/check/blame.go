package check

import (
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// Blame is whose doing a finding is.
type Blame int

// Who may be to blame.
const (
	// Driver: it broke the CSI spec, refused for good what it was asked, lost data, or left something behind.
	Driver Blame = iota
	// Kubernetes: the driver did all that it was asked. Nobody asked it for what is missing, or something that is
	// up to others never came about; under the same faults real Kubernetes may do the same.
	Kubernetes
	// Scenario: it expects exactly what holds in some orders only.
	Scenario
	// Invariant: what the scenario says to hold always does not.
	Invariant
)

// Blame says whose doing it is, as far as one run shows.
func (f *Finding) Blame() Blame {
	switch {
	case strings.HasPrefix(f.Verdict, scenario.BrokenInvariant):
		return Invariant
	case f.rank == leaks && strings.Contains(f.Verdict, "which never came"):
		return Kubernetes
	case f.rank == waits:
		return Kubernetes
	case f.rank == spoils && !strings.HasPrefix(f.Verdict, "foreign mount") && !strings.HasPrefix(f.Verdict, "data lost"):
		return Scenario
	}
	return Driver
}
