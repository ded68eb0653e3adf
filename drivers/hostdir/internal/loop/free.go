//go:build linux

package loop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrNone is the error if there is no free device for an image.
var ErrNone = errors.New("no loop device is left")

// free returns the path of a free device: the device that the kernel offers or, if it has no node
// in /dev, as in containers, another device.
func free() (string, error) {
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return freeNode(err)
	}
	if err != nil {
		return "", err
	}
	defer control.Close()
	number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
	if err != nil {
		return "", fmt.Errorf("find a free loop device: %w", err)
	}
	offered := fmt.Sprintf("/dev/loop%d", number)
	if _, err := os.Stat(offered); err != nil {
		return freeNode(err)
	}
	return offered, nil
}

// freeNode returns the first free device in /dev. why is the reason why the kernel offered no
// usable device.
func freeNode(why error) (string, error) {
	nodes, err := filepath.Glob("/dev/loop[0-9]*")
	if err != nil {
		return "", err
	}
	var numbers []int
	for _, node := range nodes {
		if number, err := strconv.Atoi(strings.TrimPrefix(node, "/dev/loop")); err == nil {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	for _, number := range numbers {
		if _, err := os.Stat(fmt.Sprintf("/sys/block/loop%d/loop/backing_file", number)); errors.Is(err, os.ErrNotExist) {
			return fmt.Sprintf("/dev/loop%d", number), nil
		}
	}
	if len(numbers) == 0 {
		return "", fmt.Errorf("%w: %w: load the kernel module (modprobe loop) or, in a container, share the machine's /dev", ErrNone, why)
	}
	next := numbers[len(numbers)-1] + 1
	return "", fmt.Errorf("%w: all %d that have a node in /dev are in use, %v: detach some (losetup --list shows them) or make more nodes (mknod /dev/loop%d b 7 %d)",
		ErrNone, len(numbers), numbers, next, next)
}
