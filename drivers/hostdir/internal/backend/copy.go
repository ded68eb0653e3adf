//go:build linux

package backend

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// fill creates a volume's content at path, empty or as a copy of from.
func fill(path, from string, block bool, size int64) error {
	if block {
		return makeImage(path, from, size)
	}
	if from == "" {
		return os.Mkdir(path, 0o755)
	}
	return copyTree(from, path)
}

// makeImage creates a sparse image of size bytes that starts with from's content.
func makeImage(path, from string, size int64) error {
	image, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer image.Close()
	if err := image.Truncate(size); err != nil || from == "" {
		return err
	}
	return copySparse(image, from)
}

// copySparse copies the data, but not the holes, of from to the same offsets in to.
func copySparse(to *os.File, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	for end := int64(0); ; {
		start, err := in.Seek(end, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) { // only a hole is left
			return nil
		}
		if err != nil {
			return err
		}
		if end, err = in.Seek(start, unix.SEEK_HOLE); err != nil {
			return err
		}
		data := io.NewSectionReader(in, start, end-start)
		if _, err := io.Copy(io.NewOffsetWriter(to, start), data); err != nil {
			return err
		}
	}
}

// copyTree copies directories, files, symbolic links and special files with
// their owners and modes.
func copyTree(from, to string) error {
	type settled struct {
		path string
		info fs.FileInfo
	}
	var dirs []settled
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if d.IsDir() {
			dirs = append(dirs, settled{target, info})
			return os.Mkdir(target, 0o700)
		}
		if err := copyEntry(path, target, info); err != nil {
			return err
		}
		return copyOwner(target, info)
	})
	// A directory gets its mode last, because the mode may forbid writing.
	for i := len(dirs) - 1; i >= 0 && err == nil; i-- {
		err = copyOwner(dirs[i].path, dirs[i].info)
	}
	return err
}

func copyEntry(from, to string, info fs.FileInfo) error {
	switch info.Mode().Type() {
	case 0:
		return makeImage(to, from, info.Size())
	case fs.ModeSymlink:
		link, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(link, to)
	default:
		stat := info.Sys().(*syscall.Stat_t)
		return unix.Mknod(to, stat.Mode, int(stat.Rdev))
	}
}

func copyOwner(path string, info fs.FileInfo) error {
	stat := info.Sys().(*syscall.Stat_t)
	if err := os.Lchown(path, int(stat.Uid), int(stat.Gid)); err != nil {
		return err
	}
	if info.Mode().Type() == fs.ModeSymlink {
		return nil
	}
	return unix.Chmod(path, stat.Mode&0o7777)
}
