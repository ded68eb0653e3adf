package machine

import (
	"path"
)

// CopyTree replaces the files below a directory of one machine with copies of the files below a
// directory of another. The target directory itself, and its mounts, remain.
func CopyTree(from *Memory, source string, to *Memory, target string) error {
	if err := to.MkdirAll(target, 0o755); err != nil {
		return err
	}
	old, err := to.ReadDir(target)
	if err != nil {
		return err
	}
	for _, entry := range old {
		if err := to.RemoveAll(path.Join(target, entry.Name())); err != nil {
			return err
		}
	}
	entries, err := from.ReadDir(source)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if err := copyEntry(from, path.Join(source, entry.Name()), to, path.Join(target, entry.Name()), entry.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

func copyEntry(from *Memory, source string, to *Memory, target string, isDir bool) error {
	if isDir {
		return CopyTree(from, source, to, target)
	}
	data, err := from.ReadFile(source)
	if err != nil {
		return err
	}
	return to.WriteFile(target, data, 0o644)
}
