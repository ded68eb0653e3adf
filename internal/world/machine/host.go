package machine

// Host is the computer on which csisim runs, as a machine with its own files, mounts and sockets.
// Close removes nothing.
type Host struct{ *Disk }

var _ Machine = Host{}

// NewHost returns the host under the name of a node.
func NewHost(name string) Host { return Host{&Disk{name: name, host: true}} }

// PowerOff does nothing: the host stays up.
func (Host) PowerOff() error { return nil }

// Close does nothing.
func (Host) Close() error { return nil }
