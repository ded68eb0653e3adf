package machine

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// KubeletDir is the default directory of the kubelet.
const KubeletDir = "/var/lib/kubelet"

// Layout determines the place of the kubelet's directory on a machine. The zero value is a
// directory at KubeletDir.
type Layout struct {
	// Dir is the kubelet's own path of the directory, its flag --root-dir. Default: KubeletDir.
	Dir string
	// SymlinkTo is the directory to which Dir is a symlink. Default: Dir is a directory.
	SymlinkTo string
	// SymlinkFrom is a symlink to Dir. Default: there is none.
	SymlinkFrom string
}

// KubeletDir returns the kubelet's own path of its directory.
func (l Layout) KubeletDir() string { return cmp.Or(l.Dir, KubeletDir) }

// real returns the directory without symlinks, as in mount tables.
func (l Layout) real() string { return cmp.Or(l.SymlinkTo, l.KubeletDir()) }

// symlink returns the symlink to the directory, or an empty path.
func (l Layout) symlink() string {
	if l.SymlinkTo != "" {
		return l.KubeletDir()
	}
	return l.SymlinkFrom
}

// HasSymlink reports whether two paths lead to the directory.
func (l Layout) HasSymlink() bool { return l.symlink() != "" }

// Below returns the part of a path below the directory, whether or not the path leads through the
// symlink.
func (l Layout) Below(p string) (below string, ok bool) {
	if below, ok = cutDir(p, l.real()); ok || !l.HasSymlink() {
		return below, ok
	}
	return cutDir(p, l.symlink())
}

// named returns a path in the directory in the form that the kubelet uses.
func (l Layout) named(p string) string {
	if below, ok := cutDir(p, l.real()); ok {
		return l.KubeletDir() + below
	}
	return p
}

// Mistake returns the first mistake in a layout and the condition that it breaks. Both are empty if
// there is no mistake.
func (l Layout) Mistake() (found, want string) {
	if l.SymlinkTo != "" && l.SymlinkFrom != "" {
		return "symlinks both ways", "a symlink to the kubelet's directory or from it"
	}
	dir, other := l.KubeletDir(), cmp.Or(l.SymlinkTo, l.SymlinkFrom)
	for _, p := range []string{dir, other} {
		if p == "" {
			continue
		}
		if want := wantedOf(p); want != "" {
			return fmt.Sprintf("path %q", p), want
		}
	}
	if other != "" && overlaps(dir, other) {
		return fmt.Sprintf("path %q beside %q", dir, other), "two directories, neither within the other"
	}
	return "", ""
}

// wantedOf returns the condition of a kubelet's directory that a path does not meet.
func wantedOf(p string) string {
	if !path.IsAbs(p) || path.Clean(p) != p {
		return "an absolute path without a slash at the end, . and .."
	}
	for _, place := range append([]string{"/dev", "/proc", "/sys"}, places...) {
		if overlaps(p, place) && (p != place || p != KubeletDir) || isCovered(p, place) {
			return "a directory that neither is in " + place + " nor contains it"
		}
	}
	return ""
}

// overlaps reports whether one directory contains the other.
func overlaps(a, b string) bool {
	return isWithin(a, strings.TrimSuffix(b, "/")) || isWithin(b, strings.TrimSuffix(a, "/"))
}

// isCovered reports whether a directory that matches the pattern contains a path.
func isCovered(p, pattern string) bool {
	start, wild := strings.CutSuffix(pattern, "*")
	return wild && strings.HasPrefix(p, start)
}

func isWithin(path, dir string) bool {
	_, within := cutDir(path, dir)
	return within
}
