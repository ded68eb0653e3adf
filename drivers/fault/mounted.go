package fault

// The errors of a mounted file system that fails: its server has forgotten it, its disk is broken,
// its daemon has died, or the kernel has made it read-only after an error.
const (
	StaleHandle  = "ESTALE"
	Broken       = "EIO"
	NotConnected = "ENOTCONN"
	ReadOnly     = "EROFS"
)

// MountErrors lists the errors with which the mounted file systems of volumes can be made to fail.
func MountErrors() []string { return []string{Broken, NotConnected, ReadOnly, StaleHandle} }
