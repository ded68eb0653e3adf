package sim

import (
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Files lists what a node's kubelet directory holds, in the form of the recorded
// traces: directories with their modes, sockets, devices, links, mounts, and the
// content of volume data files.
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
	for _, top := range []string{"plugins", "plugins_registry", "pods"} {
		lines = append(lines, listing(n.machine, mounts, top)...)
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

func listing(m machine.Machine, mounts map[string]machine.Mount, name string) []string {
	full := path.Join(machine.KubeletDir, name)
	info, err := m.Lstat(full)
	if err != nil {
		return nil
	}
	lines := []string{describe(m, name, full, info, mountText(mounts, full))}
	if !info.IsDir() {
		return lines
	}
	if _, isMount := mounts[full]; isMount {
		return lines // what is below belongs to the driver
	}
	entries, err := m.ReadDir(full)
	if err != nil {
		return lines
	}
	for _, e := range entries {
		lines = append(lines, listing(m, mounts, path.Join(name, e.Name()))...)
	}
	return lines
}

func describe(m machine.Machine, name, full string, info fs.FileInfo, mount string) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSetgid != 0 && mode.IsDir():
		return fmt.Sprintf("%s/%s %o setgid", name, mount, mode.Perm())
	case mode.IsDir():
		return fmt.Sprintf("%s/%s %o", name, mount, mode.Perm())
	case mode&fs.ModeSocket != 0:
		return name + " (socket)"
	case mode&fs.ModeDevice != 0:
		return name + " (device)" + mount
	case mode&fs.ModeSymlink != 0:
		target, _ := m.Readlink(full)
		return name + " -> " + target
	case path.Base(name) == "vol_data.json":
		content, _ := m.ReadFile(full)
		return name + " = " + strings.TrimSpace(string(content))
	default:
		return name + mount
	}
}

func mountText(mounts map[string]machine.Mount, full string) string {
	mount, ok := mounts[full]
	if !ok {
		return ""
	}
	return fmt.Sprintf(" [mount %s %s src=%s]", mount.FSType, strings.Join(mount.Options, ","), mount.Root)
}
