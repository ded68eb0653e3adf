package broken

import "os"

// PrepareIn does something in a directory of its own, and leaves that directory if it fails.
func PrepareIn(dir string, make func() error) error {
	own, err := os.MkdirTemp(dir, "preparing-")
	if err != nil {
		return err
	}
	if err := make(); err != nil {
		return err
	}
	return os.Remove(own)
}
