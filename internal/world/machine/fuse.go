package machine

import "os"

// FUSERefused returns the error with which this process, and thus any program that it starts on a
// node, opens the device of FUSE file systems; nil if it may.
func FUSERefused() error {
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return device.Close()
}
