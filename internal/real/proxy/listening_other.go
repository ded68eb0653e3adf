//go:build !linux

package proxy

import "errors"

// listening is the socket of a driver in another container, which is on Linux.
type listening string

var errNotLinux = errors.New("only on Linux it is seen who listens at a socket")

func (listening) start() error { return errNotLinux }
func (listening) kill() error  { return errNotLinux }
func (listening) stop() error  { return errNotLinux }
