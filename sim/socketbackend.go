package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// existing is a driver that csisim does not run: its socket is linked to the path that the node
// expects. It can be neither killed nor started.
type existing struct {
	*plugin
	target string
}

func newSocketBackend(p *plugin) (backend, error) {
	s := p.driver.Socket
	target := s.Controller
	switch {
	case p.node != "" && s.Nodes[p.node] != "":
		target = s.Nodes[p.node]
	case p.node != "" && s.Node != "":
		target = s.Node
	case target == "":
		target = s.Node
	}
	absolute, err := filepath.Abs(target)
	if err != nil {
		return nil, &EnvironmentError{Doing: "find the socket of " + p.String(), Err: err}
	}
	return &existing{plugin: p, target: absolute}, nil
}

func (e *existing) start() error {
	if err := e.link(e.target, e.socket); err != nil || e.addons == e.socket {
		return err
	}
	target, err := filepath.Abs(e.driver.Socket.Addons)
	if err != nil {
		return &EnvironmentError{Doing: "find the socket of CSI-Addons of " + e.String(), Err: err}
	}
	return e.link(target, e.addons)
}

// link has a socket be found where the node expects it.
func (e *existing) link(target, socket string) error {
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
	link := e.machine.Path(socket)
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		return &EnvironmentError{Doing: "link the socket of " + e.String(), Err: err}
	}
	_ = os.Remove(link)
	if err := os.Symlink(target, link); err != nil {
		return &EnvironmentError{Doing: "link the socket of " + e.String(), Err: err}
	}
	return nil
}

func (e *existing) kill() error {
	return &ConfigError{Subject: e.String(), Problem: "it was started outside csisim and can be neither killed nor stopped"}
}

func (e *existing) stop() error {
	if e.addons != e.socket {
		_ = os.Remove(e.machine.Path(e.addons)) // the other one says whether that could be done
	}
	return os.Remove(e.machine.Path(e.socket))
}

func (e *existing) lostPower() {}
