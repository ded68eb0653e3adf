package cluster

import (
	"errors"
	"io/fs"
	"path"

	"github.com/csisim/csisim/internal/world/machine"
)

// Serving is the backend of a plugin with servers in Go code of this process.
type Serving struct {
	*Plugin
	// Services makes the services, whenever the plugin starts.
	Services func() []machine.Service

	listener machine.Listener
}

// Start serves at the socket.
func (s *Serving) Start() error {
	if err := s.Machine.Remove(s.Socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &EnvironmentError{Doing: "remove the old socket of " + s.String(), Err: err}
	}
	// The driver's own directory has the mode that a DaemonSet's hostPath of type DirectoryOrCreate
	// gives it.
	if err := s.Machine.MkdirAll(path.Dir(s.Socket), 0o755); err != nil {
		return &EnvironmentError{Doing: "make the directory of " + s.String(), Err: err}
	}
	listener, err := s.Machine.BindSocket(s.Socket, s.Services()...)
	if err != nil {
		return &EnvironmentError{Doing: "start " + s.String(), Err: err}
	}
	s.listener = listener
	return nil
}

// Kill leaves the socket file.
func (s *Serving) Kill() error { s.listener.Abandon(); return nil }

// Stop removes the socket.
func (s *Serving) Stop() error { return s.listener.Close() }

// LostPower does nothing: the servers keep no state on the node.
func (s *Serving) LostPower() {}
