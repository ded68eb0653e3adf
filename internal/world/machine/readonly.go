package machine

import "path"

// CanWrite tries to make something in a directory.
func CanWrite(m Machine, dir string) bool {
	name := path.Join(dir, probeName)
	if m.Mkdir(name, 0o755) != nil {
		return false
	}
	_ = m.Remove(name) // it is the fault of who lets it be made that it is there at all
	return true
}

const probeName = ".csisim-writes"

// WritesReadOnly is where a container can write that has a published volume read-only: the
// container runtime shows it the tree of mounts at target, whose top alone it makes read-only.
// Places are target and the mount points below it. It is empty if the container can write in
// none of them.
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
