package machine

// Command is a program to run on a machine.
type Command struct {
	Path   string   // the executable, a path of the host; a bare name is looked up in PATH
	Args   []string // without the program's name
	Env    []string // "NAME=value", in addition to csisim's own environment, which they override
	Dir    string   // working directory, a node path; default: the kubelet's directory
	Stdout string   // host file for standard output; empty: discarded. See Process.Stdout
	Stderr string   // host file for standard error; may be the same as Stdout
	// Volumes are shown to this program alone; only in a namespace.
	Volumes []Volume
}

// Volume is a directory of the node that a program finds at another path too, as a
// container does its volume mounts.
type Volume struct {
	Source string // a directory of the node
	Path   string // where the program finds it: /csi
}
