package machine

import "os"

// FUSERefused returns the error of opening the device of FUSE file systems, in this process and
// thus in any program that it starts on a node; nil if opening is permitted.
func FUSERefused() error {
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return device.Close()
}
