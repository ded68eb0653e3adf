package broken

import (
	"os"
	"path/filepath"
)

// RecordedDevice returns the device that a file in a directory records for a volume. It records the
// current device if there is none yet, or if the record is not to be trusted.
func RecordedDevice(dir, volumeID, current string, trust bool) (string, error) {
	name := filepath.Join(dir, "device-"+volumeID)
	if old, err := os.ReadFile(name); err == nil && trust {
		return string(old), nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.WriteString(current); err != nil {
		return "", err
	}
	return current, f.Sync()
}
