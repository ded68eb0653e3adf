package machine

import "os"

// FUSERefused returns the error of opening the FUSE device in this process; nil if opening is
// permitted. The result also applies to programs that this process starts on a node.
func FUSERefused() error {
	device, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return device.Close()
}
