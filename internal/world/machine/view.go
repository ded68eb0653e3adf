package machine

// Views is a machine that keeps volumes of FUSE as running containers have them. A container has
// the mount that it found at its start: a mount that replaces it at the same path is not the
// container's.
type Views interface {
	// KeepView keeps the mount of FUSE at path for ViewOf, in the place of one that it kept before.
	// It keeps no other mount: other file systems need no daemon.
	KeepView(path string) error
	// ViewOf describes the mount that KeepView has kept at path.
	ViewOf(path string) (View, error)
	// CloseViews drops the mounts that KeepView has kept below a directory, or all for an empty
	// one. A power-off drops all, too.
	CloseViews(dir string) error
}

// View is the state of a kept mount. The zero value means that no mount was kept, or that path
// still shows it.
type View struct {
	// Err is the error with which the mount answers, ENOTCONN if its daemon has exited; nil if the
	// daemon answers.
	Err error
	// Covered says that the mount is still in the mount table, below another one at its path.
	Covered bool
}

var _ Views = (*Disk)(nil)
