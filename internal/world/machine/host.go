package machine

// Host is the computer that csisim runs on, as a machine: its files, mounts and sockets are
// those that are there. Nothing is taken away when it is closed.
type Host struct{ *Disk }

var _ Machine = Host{}

// NewHost is the host under the name of a node.
func NewHost(name string) Host { return Host{&Disk{name: name, host: true}} }

// PowerOff does nothing: the host goes on.
func (Host) PowerOff() error { return nil }

// Close does nothing.
func (Host) Close() error { return nil }
