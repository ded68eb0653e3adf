package mock

// Mounter makes the mounts of a simulated node. The driver holds no lock during the calls, so a
// Mounter may run other processes of a simulation.
type Mounter interface {
	// Mount mounts source on the directory target, which it creates if it does not exist. source is
	// the name of a volume or the path of another mount.
	Mount(source, target string, readOnly bool) error
	// MountDevice puts the block device of the volume named source at the file target, which it
	// creates if it does not exist.
	MountDevice(source, target string) error
	// Unmount unmounts target, and removes a target that Mount or MountDevice created. If nothing
	// is mounted, it is not an error.
	Unmount(target string) error
	// IsMounted reports whether target is a mount point.
	IsMounted(target string) (bool, error)
}

// GroupMounter is a Mounter that changes the group of a mounted volume, for VOLUME_MOUNT_GROUP.
type GroupMounter interface {
	Mounter
	// SetGroup changes the group of the directory that is mounted on target.
	SetGroup(target string, gid int) error
}
