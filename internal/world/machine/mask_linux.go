package machine

import (
	"os"
	"slices"

	"github.com/csisim/csisim/internal/world/nodeinit"
)

// kernelPoints returns the mounts that belong to the processes of a container.
func kernelPoints() []string {
	return slices.Concat([]string{"/proc"}, nodeinit.ReadOnly, nodeinit.Masked)
}

// maskKernel hides files of /proc about the whole host, and makes others read-only.
func maskKernel(root string) error {
	for _, name := range nodeinit.Masked {
		if err := mask(root + name); err != nil {
			return err
		}
	}
	for _, name := range nodeinit.ReadOnly {
		name = root + name
		if _, err := os.Stat(name); err != nil {
			continue
		}
		if err := bindTree(name, name); err != nil {
			return err
		}
		if err := readOnly(name); err != nil {
			return err
		}
	}
	return nil
}

// mask shows /dev/null at target, if that exists.
func mask(target string) error {
	if _, err := os.Lstat(target); err != nil {
		return nil
	}
	return bindTree("/dev/null", target)
}
