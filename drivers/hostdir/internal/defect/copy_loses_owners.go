//go:build linux

package defect

import (
	"io/fs"
	"os"
)

var copyLosesOwners = &Defect{
	Name: "copy-loses-owners",
	Does: "a volume made from another one, or from a snapshot, belongs to the driver",
	Wrap: onCopied(func(path string, _ fs.FileInfo) error { return os.Lchown(path, os.Getuid(), os.Getgid()) }),
}
