package machine

import "path"

// CanWrite tries to make a directory in dir.
func CanWrite(m Machine, dir string) bool {
	name := path.Join(dir, probeName)
	if m.Mkdir(name, 0o755) != nil {
		return false
	}
	_ = m.Remove(name) // if the removal fails, the caller's machine keeps the directory
	return true
}

const probeName = ".csisim-writes"

// WritesReadOnly returns a place where a container with a read-only volume can write. The container
// runtime shows the tree of mounts at target, and makes only the top mount read-only. Places are
// target and the mount points below it. The result is empty if the container can write in none of
// them.
func WritesReadOnly(m Machine, target string, places []string) string {
	if d, ok := m.(*Disk); ok {
		if place, err := d.writesReadOnly(target, places); err == nil {
			return place
		}
	}
	for _, place := range places {
		if place != target && CanWrite(m, place) {
			return place
		}
	}
	return ""
}
