//go:build !linux

package mockprogram

import "errors"

// devices are the block devices of volumes on this node.
type devices struct{}

func (*devices) of(string) (string, error) { return "", errors.ErrUnsupported }
