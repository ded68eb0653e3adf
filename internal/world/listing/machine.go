package listing

import (
	"io/fs"
	"path"

	"github.com/csisim/csisim/internal/world/machine"
)

// Of lists the files of a node's kubelet directory.
func Of(m machine.Machine) []string {
	mounts := map[string]machine.Mount{}
	table, err := m.Mounts()
	if err == nil {
		for _, mount := range table {
			mounts[mount.Target] = mount
		}
	}
	var lines []string
	for _, top := range Tops {
		lines = append(lines, listed(m, mounts, top)...)
	}
	return lines
}

func listed(m machine.Machine, mounts map[string]machine.Mount, name string) []string {
	full := path.Join(m.Layout().KubeletDir(), name)
	info, err := m.Lstat(full)
	if err != nil {
		return nil
	}
	mount, isMount := mounts[full]
	entry := Entry{Name: name, Mode: info.Mode()}
	if isMount {
		entry.Mount = &mount
	}
	if entry.Mode&fs.ModeSymlink != 0 {
		entry.Link, _ = m.Readlink(full)
	}
	if IsVolumeData(name) {
		content, _ := m.ReadFile(full)
		entry.Content = string(content)
	}
	lines := []string{entry.String()}
	if !info.IsDir() || isMount {
		return lines // files below a mount belong to the driver
	}
	entries, err := m.ReadDir(full)
	if err != nil {
		return lines
	}
	for _, e := range entries {
		lines = append(lines, listed(m, mounts, path.Join(name, e.Name()))...)
	}
	return lines
}
