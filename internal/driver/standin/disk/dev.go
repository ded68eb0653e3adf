// Package disk gives nodes block devices with the content of files, as a cloud attaches volumes to
// its servers.
package disk

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/internal/driver/standin"
)

// Dev is the directory in which a node's own /dev is built and changed.
const Dev = "/run/csisim/dev"

// FurnishDev gives a node a separate /dev with the devices of the host. Other devices can be added
// to it. Skip selects names that the node does not get. It runs within the node.
func FurnishDev(skip func(name string) bool) error {
	if err := os.MkdirAll(Dev, 0o755); err != nil {
		return err
	}
	if _, err := standin.Run("mount", "-t", "tmpfs", "-o", "mode=755", "dev", Dev); err != nil {
		return err
	}
	if err := makeDevice("zero", "c", "1", "5"); err != nil {
		return fmt.Errorf("%w: run as root of this machine: a user namespace permits no devices", err)
	}
	if err := copyDevices(skip); err != nil {
		return err
	}
	if _, err := standin.Run("mount", "--rbind", Dev, "/dev"); err != nil {
		return err
	}
	// Drivers that miss a device make the kernel and udev rescan. This must not affect the host.
	_, err := standin.Run("mount", "-o", "remount,bind,ro", "/sys")
	return err
}

// makeDevice creates a device node in the node's own /dev.
func makeDevice(name, kind, major, minor string) error {
	_, err := standin.Run("mknod", filepath.Join(Dev, name), kind, major, minor)
	return err
}

// copyDevices copies the entries of the host's /dev to the node's /dev. It skips links to disks,
// and the many terminals.
func copyDevices(skip func(name string) bool) error {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return err
	}
	devices := []string{"-a", "-t", Dev}
	for _, e := range entries {
		from, to := filepath.Join("/dev", e.Name()), filepath.Join(Dev, e.Name())
		switch {
		case e.Name() == "disk", e.Name() == "zero", skip(e.Name()):
		case strings.HasPrefix(e.Name(), "tty") && e.Name() != "tty":
		case e.IsDir():
			if err := os.Mkdir(to, 0o755); err != nil {
				return err
			}
			if _, err := standin.Run("mount", "--rbind", from, to); err != nil {
				return err
			}
		case e.Type()&(fs.ModeDevice|fs.ModeSymlink) != 0:
			devices = append(devices, from)
		}
	}
	_, err = standin.Run("cp", devices...)
	return err
}
