//go:build linux

package broken

import (
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
)

// UnmountOthers unmounts all mounts below the kubelet's directory, in which the target lies, except
// the driver's own.
func UnmountOthers(target string, isOwn func(path string) bool) error {
	kubelet, _, _ := strings.Cut(target, "/pods/")
	table, err := mount.Read()
	if err != nil {
		return err
	}
	for _, point := range slices.Backward(table) {
		if strings.HasPrefix(point.Path, kubelet+"/") && !isOwn(point.Path) {
			if err := unix.Unmount(point.Path, unix.MNT_DETACH); err != nil {
				return err
			}
		}
	}
	return nil
}
