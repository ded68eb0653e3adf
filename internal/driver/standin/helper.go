package standin

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// helperDir is the directory in which mount(8) looks for helpers that mount special file systems.
const helperDir = "/sbin"

// MountHelpers adds the files of dir, such as mount.nfs, to a node's directory of mount helpers.
// They take precedence over the host's helpers.
func (n Node) MountHelpers(dir string) error {
	return n.Furnish(func() error {
		target, err := filepath.EvalSymlinks(helperDir)
		if err != nil {
			return fmt.Errorf("find the directory of mount helpers: %w", err)
		}
		_, err = Run("mount", "-t", "overlay", "-o", "lowerdir="+dir+":"+target, "csisim", target)
		if err == nil {
			return nil
		}
		// In a container there are too many other layers below it.
		if failed := os.CopyFS(target, os.DirFS(dir)); failed != nil {
			return errors.Join(err, failed)
		}
		return nil
	})
}

// WriteProgram writes an executable file.
func WriteProgram(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o755)
}
