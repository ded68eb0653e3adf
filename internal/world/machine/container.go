package machine

// Container makes the root directory of a program that of a container: files that programs wrote to the
// machine's own root before are not in it. The kubelet's directory, directories of the host that are let
// through, and Keeps are the machine's.
type Container struct {
	// Keeps lists directories of the machine that the container mounts. They are made if missing.
	Keeps []string
	// Shares lists those of Keeps below which mounts reach from the container to the machine, and back.
	Shares []string
	// OwnKubeletDir leaves the kubelet's directory out, except for the volumes below it.
	OwnKubeletDir bool
	// Before is the instance that the program replaces. Default: none.
	Before *Process
}

// Lookup is a look of a program at a file that was lost with an earlier instance's container.
type Lookup struct {
	Path string // as the program finds it
	How  string // "opened", "looked up", "listed" or "removed"
}

// Lookups lists the looks of the program at files that were lost before it started, each file once.
func (p *Process) Lookups() []Lookup { return p.lost.lookups() }
