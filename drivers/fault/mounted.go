package fault

// The errors of a failing mounted file system: its server has lost the file handle, its disk is
// broken, its daemon has exited, or the kernel has made it read-only after an error.
const (
	StaleHandle  = "ESTALE"
	Broken       = "EIO"
	NotConnected = "ENOTCONN"
	ReadOnly     = "EROFS"
)

// MountErrors lists the errors by which the mounted file systems of volumes can fail.
func MountErrors() []string { return []string{Broken, NotConnected, ReadOnly, StaleHandle} }
