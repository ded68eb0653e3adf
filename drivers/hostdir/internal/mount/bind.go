//go:build linux

package mount

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Flags restrict the access through a bind mount, as MS_ bits.
type Flags uintptr

// ReadOnly forbids writing.
const ReadOnly Flags = unix.MS_RDONLY

var flagsByOption = map[string]Flags{
	"rw": 0, "ro": ReadOnly, "defaults": 0,
	"noexec": unix.MS_NOEXEC, "nosuid": unix.MS_NOSUID, "nodev": unix.MS_NODEV,
	"noatime": unix.MS_NOATIME, "nodiratime": unix.MS_NODIRATIME, "relatime": unix.MS_RELATIME,
}

// ParseFlags translates mount options such as "ro" and "noexec".
func ParseFlags(options []string) (Flags, error) {
	var flags Flags
	for _, option := range options {
		f, known := flagsByOption[option]
		if !known {
			return 0, fmt.Errorf("mount option %q is not supported", option)
		}
		flags |= f
	}
	return flags, nil
}

// Bind makes source visible at target.
func Bind(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount --bind %s %s: %w", source, target, explain(err))
	}
	return nil
}

// atOnce are the flags that BindRestricted sets: they have the same value for
// mount(2) and for mount_setattr(2).
const atOnce = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// BindRestricted is Bind with flags from the first moment. A remount would affect only this mount
// namespace, not the namespaces to which the mount is propagated.
func BindRestricted(source, target string, flags Flags) error {
	set := uint64(flags) & atOnce
	if set == 0 {
		return Bind(source, target)
	}
	tree, err := unix.OpenTree(unix.AT_FDCWD, source, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC)
	if err != nil {
		return fmt.Errorf("clone the mount of %s: %w", source, explain(err))
	}
	defer unix.Close(tree)
	if err := unix.MountSetattr(tree, "", unix.AT_EMPTY_PATH, &unix.MountAttr{Attr_set: set}); err != nil {
		return fmt.Errorf("restrict the mount of %s to flags %#x: %w", source, set, explain(err))
	}
	if err := unix.MoveMount(tree, "", unix.AT_FDCWD, target, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("mount %s at %s: %w", source, target, explain(err))
	}
	return nil
}

// Restrict adds flags to the bind mount at target, and keeps the present flags. A user namespace
// would reject a remount without, for example, nosuid.
func Restrict(target string, flags Flags) error {
	var fs unix.Statfs_t
	if err := unix.Statfs(target, &fs); err != nil {
		return fmt.Errorf("statfs %s: %w", target, err)
	}
	const kept = unix.MS_RDONLY | unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC | unix.MS_NOATIME | unix.MS_NODIRATIME
	all := unix.MS_REMOUNT | unix.MS_BIND | uintptr(flags) | uintptr(fs.Flags)&kept
	if err := unix.Mount("", target, "", all, ""); err != nil {
		return fmt.Errorf("remount %s with flags %#x: %w", target, uintptr(flags), explain(err))
	}
	return nil
}

// Unmount unmounts every mount at path, including stacked mounts, and reports whether there was
// one.
func Unmount(path string) (was bool, err error) { return unmount(path, unix.UMOUNT_NOFOLLOW) }

// UnmountLazily is Unmount for mounts that may be in use. The processes that use them can continue
// to use them.
func UnmountLazily(path string) (was bool, err error) {
	return unmount(path, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
}

func unmount(path string, flags int) (was bool, err error) {
	for {
		table, err := Read()
		if err != nil {
			return was, err
		}
		if _, mounted := table.At(path); !mounted {
			return was, nil
		}
		if err := unix.Unmount(path, flags); err != nil {
			return was, fmt.Errorf("umount %s: %w", path, explain(err))
		}
		was = true
	}
}

func explain(err error) error {
	if errors.Is(err, unix.EPERM) {
		return fmt.Errorf("%w (hostdir needs CAP_SYS_ADMIN)", err)
	}
	return err
}
