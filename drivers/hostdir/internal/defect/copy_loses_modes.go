//go:build linux

package defect

import (
	"io/fs"
	"os"
)

var copyLosesModes = &Defect{
	Name: "copy-loses-modes",
	Does: "a volume made from another one, or from a snapshot, has the usual modes",
	Wrap: onCopied(func(path string, info fs.FileInfo) error {
		if info.Mode().IsRegular() {
			return os.Chmod(path, 0o644)
		}
		return nil
	}),
}
