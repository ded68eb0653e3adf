package mock

// Mounter makes the mounts of a simulated node. The driver holds no lock during the calls, so a
// Mounter may let other processes of a simulation run.
type Mounter interface {
	// Mount mounts source, the name of a volume or the path of another mount, on the directory
	// target, which it creates if it is missing.
	Mount(source, target string, readOnly bool) error
	// MountDevice puts the block device of the volume named source at the file target, which it
	// creates if it is missing.
	MountDevice(source, target string) error
	// Unmount unmounts target, and removes a target that Mount or MountDevice created. It is no
	// error if nothing is mounted.
	Unmount(target string) error
	// IsMounted reports whether target is a mount point.
	IsMounted(target string) (bool, error)
}

// GroupMounter is a Mounter that changes the group of a mounted volume, for VOLUME_MOUNT_GROUP.
type GroupMounter interface {
	Mounter
	// SetGroup gives the directory that is mounted on target to a group.
	SetGroup(target string, gid int) error
}
