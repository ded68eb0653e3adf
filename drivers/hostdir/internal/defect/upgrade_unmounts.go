//go:build linux

package defect

var upgradeUnmounts = &Defect{
	Name:    "upgrade-unmounts",
	Does:    "the node service of this release unmounts all mounts of the old release when it starts",
	Upgrade: unmountAll,
}
