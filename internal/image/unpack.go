package image

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Unpack writes the image's root file system into a directory, each layer on top of the lower ones.
// It keeps owners if this process may change owners. It ends when ctx is done.
func (r *Read) Unpack(ctx context.Context, dir string, owners bool) error {
	layers, err := r.image.Layers()
	if err != nil {
		return fmt.Errorf("read its layers: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for i, layer := range layers {
		content, err := layer.Uncompressed()
		if err != nil {
			return fmt.Errorf("read layer %d: %w", i+1, err)
		}
		err = (&unpacking{root: root, owners: owners, made: map[string]bool{}}).all(tar.NewReader(readUntil{ctx, content}))
		if err := errors.Join(err, content.Close()); err != nil {
			return fmt.Errorf("unpack layer %d of %d: %w", i+1, len(layers), err)
		}
	}
	return nil
}

// unpacking is the unpacking of one layer.
type unpacking struct {
	root   *os.Root
	owners bool
	made   map[string]bool // the layer's own entries, and their parent directories
}

// How a layer marks removed entries of lower layers (OCI image specification, Whiteouts).
const (
	whiteout = ".wh."
	opaque   = ".wh..wh..opq"
)

func (u *unpacking) all(layer *tar.Reader) error {
	for {
		h, err := layer.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := u.entry(h, layer); err != nil {
			return fmt.Errorf("%s: %w", h.Name, err)
		}
	}
}

var errOutside = errors.New("it leads out of the image")

func (u *unpacking) entry(h *tar.Header, content io.Reader) error {
	if slices.Contains(strings.Split(h.Name, "/"), "..") {
		return errOutside
	}
	name := path.Clean(strings.TrimLeft(h.Name, "/"))
	if h.Typeflag == tar.TypeXGlobalHeader {
		return nil
	}
	if name == "." {
		return u.attributes(h, name)
	}
	dir, err := u.resolve(path.Dir(name))
	if err != nil {
		return err
	}
	base := path.Base(name)
	if base == opaque {
		return u.clear(dir)
	}
	if gone, is := strings.CutPrefix(base, whiteout); is {
		return u.remove(dir, gone)
	}
	name = path.Join(dir, base)
	if err := u.makeRoom(h, name); err != nil {
		return err
	}
	if err := u.write(h, name, content); err != nil {
		return err
	}
	for at := name; at != "." && !u.made[at]; at = path.Dir(at) {
		u.made[at] = true
	}
	return u.attributes(h, name)
}

// makeRoom removes a lower layer's entry at an entry's path, unless both are directories.
func (u *unpacking) makeRoom(h *tar.Header, name string) error {
	there, err := u.root.Lstat(name)
	if err != nil || there.IsDir() && h.Typeflag == tar.TypeDir {
		return nil
	}
	return u.root.RemoveAll(name)
}

func (u *unpacking) write(h *tar.Header, name string, content io.Reader) error {
	switch h.Typeflag {
	case tar.TypeDir:
		if err := u.root.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case tar.TypeReg:
		f, err := u.root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = io.Copy(f, content)
		return errors.Join(err, f.Close())
	case tar.TypeSymlink:
		return u.root.Symlink(h.Linkname, name)
	case tar.TypeLink:
		if slices.Contains(strings.Split(h.Linkname, "/"), "..") {
			return errOutside
		}
		to := path.Clean(strings.TrimLeft(h.Linkname, "/"))
		dir, err := u.resolve(path.Dir(to))
		if err != nil {
			return err
		}
		return u.root.Link(path.Join(dir, path.Base(to)), name)
	case tar.TypeChar, tar.TypeBlock, tar.TypeFifo:
		return errors.New("it is a device or a pipe: images have directories, files and links only")
	}
	return fmt.Errorf("it is of the unknown type %q", h.Typeflag)
}

// attributes sets owner, mode and time.
func (u *unpacking) attributes(h *tar.Header, name string) error {
	if h.Typeflag == tar.TypeLink {
		return nil // it has the metadata of the linked file
	}
	if u.owners {
		if err := u.root.Lchown(name, h.Uid, h.Gid); err != nil {
			return err
		}
	}
	if h.Typeflag == tar.TypeSymlink {
		return nil
	}
	if err := u.root.Chmod(name, h.FileInfo().Mode()&(fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky)); err != nil {
		return err
	}
	return u.root.Chtimes(name, h.ModTime, h.ModTime)
}

var errWhiteout = errors.New("it is a whiteout of nothing")

// remove removes an entry of lower layers. The layer's own entries stay, at any position in the
// layer.
func (u *unpacking) remove(dir, name string) error {
	if name == "" || name == "." || name == ".." {
		return errWhiteout
	}
	name = path.Join(dir, name)
	if !u.made[name] {
		return u.root.RemoveAll(name)
	}
	info, err := u.root.Lstat(name)
	if err != nil || !info.IsDir() {
		return err
	}
	return u.clear(name)
}

// clear removes the entries of lower layers in a directory.
func (u *unpacking) clear(dir string) error {
	entries, err := fs.ReadDir(u.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := u.remove(dir, e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// maxLinks limits the symlinks in a path.
const maxLinks = 255

// resolve resolves the symlinks of a directory's path, absolute ones relative to the image's root.
// It makes missing directories.
func (u *unpacking) resolve(dir string) (string, error) {
	at, rest := ".", strings.Split(path.Clean(dir), "/")
	for links := 0; len(rest) > 0; {
		one := rest[0]
		rest = rest[1:]
		if one == "." || one == "" {
			continue
		}
		next := strings.TrimPrefix(path.Join("/", at, one), "/") // .. ends at the root
		if next == "" {
			at = "."
			continue
		}
		info, err := u.root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := u.root.Mkdir(next, 0o755); err != nil {
				return "", err
			}
		case err != nil:
			return "", err
		case info.Mode()&fs.ModeSymlink != 0:
			if links++; links > maxLinks {
				return "", errors.New("too many symlinks")
			}
			to, err := u.root.Readlink(next)
			if err != nil {
				return "", err
			}
			if path.IsAbs(to) {
				at = "."
			}
			rest = append(strings.Split(to, "/"), rest...)
			continue
		case !info.IsDir():
			return "", fmt.Errorf("%s is no directory", next)
		}
		at = next
	}
	return at, nil
}
