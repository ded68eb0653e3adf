//go:build !linux

package network

import (
	"context"
	"errors"
	"net/netip"
	"os"
)

var errNotLinux = errors.New("only Linux has network namespaces")

// device is the end of a TUN device, which this system does not support.
type device struct {
	address netip.Addr
	file    *os.File
	ctx     context.Context // of the connections through it
	end     context.CancelFunc
}

func (*device) write([]byte) {}

func openDevice(netip.Addr) (*device, error) { return nil, errNotLinux }
