package machine

import "os"

// FUSERefused returns the error of opening the FUSE device in this process, which also applies to
// programs that it starts on a node; nil if opening is permitted.
func FUSERefused() error {
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return device.Close()
}
