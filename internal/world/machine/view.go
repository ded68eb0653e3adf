package machine

// Views is a machine that keeps FUSE volumes in the state in which running containers see them. A
// container has the mount that existed at its start, not a mount that replaces it at the same path.
type Views interface {
	// KeepView keeps the FUSE mount at path for ViewOf, and replaces the mount that it kept before.
	// It keeps no mount of other file systems, because these need no daemon.
	KeepView(path string) error
	// ViewOf describes the mount that KeepView has kept at path.
	ViewOf(path string) (View, error)
	// CloseViews drops the mounts that KeepView has kept below a directory; an empty directory
	// means all. A power-off drops all, too.
	CloseViews(dir string) error
}

// View is the state of a kept mount. The zero value means that no mount was kept, or that path
// still shows it.
type View struct {
	// Err is the error of the mount, ENOTCONN if its daemon has exited; nil if the daemon answers.
	Err error
	// Covered means that the mount is still in the mount table, below another one at its path.
	Covered bool
}

var _ Views = (*Disk)(nil)
