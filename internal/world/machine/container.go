package machine

// Container gives the program the root directory of a fresh container. It lacks files that programs
// wrote to the machine's root before. The kubelet's directory, the host's shared directories and
// Keeps are the same as on the machine.
type Container struct {
	// Keeps lists directories of the machine that the container mounts. Missing ones are created.
	Keeps []string
	// Shares lists the directories in Keeps with mounts that propagate between the container and
	// the machine in both directions.
	Shares []string
	// Before is the instance that the program replaces. Default: none.
	Before *Process
}

// Lookup is a program's access to a file that was lost with an earlier instance's container.
type Lookup struct {
	Path string // in the program's notation
	How  string // "opened", "looked up", "listed" or "removed"
}

// Lookups lists the program's lookups of files that were lost before it started, each file once.
func (p *Process) Lookups() []Lookup { return p.lost.lookups() }
