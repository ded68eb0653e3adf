package sim

import (
	"io/fs"
	"path"

	"github.com/csisim/csisim/internal/world/listing"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Files lists the contents of a node's kubelet directory, in the form of the recorded traces:
// directories with their modes, sockets, devices, links, mounts, and the content of volume data
// files.
func (c *Simulation) Files(name string) []string {
	n, err := c.node(name)
	if err != nil {
		return nil
	}
	mounts := map[string]machine.Mount{}
	table, err := n.machine.Mounts()
	if err == nil {
		for _, m := range table {
			mounts[m.Target] = m
		}
	}
	var lines []string
	for _, top := range listing.Tops {
		lines = append(lines, listed(n.machine, mounts, top)...)
	}
	return lines
}

// RecordFiles writes such a listing into the trace; when says about which moment.
func (c *Simulation) RecordFiles(node, when string) error {
	if _, err := c.node(node); err != nil {
		return err
	}
	c.World.Trace.Add(trace.Entry{Kind: trace.Files, Node: node, Message: when, Detail: c.Files(node)})
	return nil
}

func listed(m machine.Machine, mounts map[string]machine.Mount, name string) []string {
	full := path.Join(m.Layout().KubeletDir(), name)
	info, err := m.Lstat(full)
	if err != nil {
		return nil
	}
	mount, isMount := mounts[full]
	entry := listing.Entry{Name: name, Mode: info.Mode()}
	if isMount {
		entry.Mount = &mount
	}
	if entry.Mode&fs.ModeSymlink != 0 {
		entry.Link, _ = m.Readlink(full)
	}
	if listing.IsVolumeData(name) {
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
