//go:build !linux

package proxy

import "errors"

// listening is the socket of a driver in another container, which needs Linux.
type listening string

var errNotLinux = errors.New("the process that listens at a socket can be found on Linux only")

func (listening) start() error { return errNotLinux }
func (listening) kill() error  { return errNotLinux }
func (listening) stop() error  { return errNotLinux }
