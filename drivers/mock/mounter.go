package mock

// Mounter does the mounts of a simulated node. The driver holds no lock while it calls, so a
// Mounter may let other processes of a simulation run in between.
type Mounter interface {
	// Mount mounts source, the name of a volume or the path of another mount, on the directory
	// target, which it makes if it is missing.
	Mount(source, target string, readOnly bool) error
	// MountDevice puts the block device of the volume named source at the file target, which it
	// makes if it is missing.
	MountDevice(source, target string) error
	// Unmount takes off what is mounted on target, and removes a target that Mount or MountDevice
	// made. It is no error if there is nothing to do.
	Unmount(target string) error
	// IsMounted says whether something is mounted on target.
	IsMounted(target string) (bool, error)
}
