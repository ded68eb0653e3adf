//go:build linux

package defect

import (
	"io/fs"
	"os"
)

var copyFollowsLinks = &Defect{
	Name: "copy-follows-links",
	Does: "a volume made from another one, or from a snapshot, has files in place of symbolic links",
	Wrap: onCopied(func(path string, info fs.FileInfo) error {
		if info.Mode().Type() != fs.ModeSymlink {
			return nil
		}
		content, err := os.ReadFile(path)
		if err == nil {
			err = os.Remove(path)
		}
		if err == nil {
			err = os.WriteFile(path, content, 0o644)
		}
		return err
	}),
}
