//go:build linux

package defect

import "net"

var socketStays = &Defect{
	Name:   "socket-stays",
	Does:   "a driver that was killed does not start again, since its socket is there already",
	Listen: func(path string) (net.Listener, error) { return net.Listen("unix", path) },
}
