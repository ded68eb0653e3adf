//go:build linux

// Package mount reads and changes the mount table of the process.
package mount

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Point is one line of the mount table.
type Point struct {
	// Device is the mounted file system as "major:minor".
	Device string
	// Root is the directory of that file system that is visible at Path.
	Root string
	// Path is the mount point.
	Path     string
	ReadOnly bool
}

// Table is the mount table, oldest mount first.
type Table []Point

// Read reads the mount table of this process.
func Read() (Table, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("read mount table: %w", err)
	}
	return parse(string(text))
}

func parse(mountinfo string) (Table, error) {
	var table Table
	for line := range strings.Lines(mountinfo) {
		// id parent major:minor root path options ...
		f := strings.SplitN(line, " ", 7)
		if len(f) < 7 {
			return nil, fmt.Errorf("mount table: malformed line %q", line)
		}
		readOnly := strings.HasPrefix(f[5]+",", "ro,")
		table = append(table, Point{Device: f[2], Root: unescape(f[3]), Path: unescape(f[4]), ReadOnly: readOnly})
	}
	return table, nil
}

// unescape undoes the octal escapes that the kernel uses for blanks.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// At returns the topmost mount exactly at path.
func (t Table) At(path string) (top Point, mounted bool) {
	for _, p := range t {
		if p.Path == path {
			top, mounted = p, true
		}
	}
	return top, mounted
}

// Shows reports whether the topmost mount at path is a bind mount of source.
func (t Table) Shows(source, path string) bool {
	top, mounted := t.At(path)
	if !mounted {
		return false
	}
	device, root := t.origin(source)
	return top.Device == device && top.Root == root
}

// origin returns the file system of a file or directory, and the path in it.
func (t Table) origin(path string) (device, root string) {
	for dir := path; ; dir = filepath.Dir(dir) {
		if p, mounted := t.At(dir); mounted {
			return p.Device, filepath.Join(p.Root, strings.TrimPrefix(path, dir))
		}
		if dir == filepath.Dir(dir) {
			return "", ""
		}
	}
}

// Resolve returns path in the form of the mount table, after resolving the links of its directory.
// The last element itself need not exist.
func Resolve(path string) (string, error) {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}
