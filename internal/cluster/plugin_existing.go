package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Existing is the backend of a plugin that csisim does not run: its socket is linked to the path
// that the node expects. It can be neither killed nor started.
type Existing struct {
	*Plugin
	target, addons string // absolute paths
}

// NewExisting returns the backend of a plugin by the paths of its socket, and of its socket for
// CSI-Addons if it has a separate one.
func NewExisting(p *Plugin, socket, addons string) (*Existing, error) {
	e := &Existing{Plugin: p}
	var err error
	if e.target, err = filepath.Abs(socket); err != nil {
		return nil, &EnvironmentError{Doing: "find the socket of " + p.String(), Err: err}
	}
	if e.addons, err = filepath.Abs(addons); err != nil {
		return nil, &EnvironmentError{Doing: "find the socket of CSI-Addons of " + p.String(), Err: err}
	}
	return e, nil
}

// Start links the sockets.
func (e *Existing) Start() error {
	if err := e.link(e.target, e.Socket); err != nil || e.Addons == e.Socket {
		return err
	}
	return e.link(e.addons, e.Addons)
}

// link makes a socket available at the path that the node expects.
func (e *Existing) link(target, socket string) error {
	info, err := os.Stat(target)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: start the driver first, or correct the path", err)
	}
	if err != nil {
		return &EnvironmentError{Doing: "reach " + e.String(), Err: err}
	}
	if info.Mode()&os.ModeSocket == 0 {
		return &EnvironmentError{Doing: "reach " + e.String(), Err: fmt.Errorf("%s is not a unix socket", target)}
	}
	link := e.Machine.Path(socket)
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return &EnvironmentError{Doing: "link the socket of " + e.String(), Err: err}
	}
	_ = os.Remove(link)
	if err := os.Symlink(target, link); err != nil {
		return &EnvironmentError{Doing: "link the socket of " + e.String(), Err: err}
	}
	return nil
}

// Kill returns an error.
func (e *Existing) Kill() error {
	return &ConfigError{Subject: e.String(), Problem: "it was started outside csisim and can be neither killed nor stopped"}
}

// Stop removes the links.
func (e *Existing) Stop() error {
	if e.Addons != e.Socket {
		_ = os.Remove(e.Machine.Path(e.Addons)) // the error of the other socket is returned
	}
	return os.Remove(e.Machine.Path(e.Socket))
}

// LostPower does nothing.
func (e *Existing) LostPower() {}
