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

// failingMounts are the faults of the mounted file systems of a volume in a call.
func failingMounts(c Called) (all []Fault) {
	if !c.OnNode || !c.Watched {
		return nil
	}
	for _, fails := range []string{StaleHandle, Broken, ReadOnly} {
		all = append(all, Fault{Name: "its mounted file system fails with " + fails, Effect: FailMounted, Fails: fails, Times: 1})
	}
	return all
}
