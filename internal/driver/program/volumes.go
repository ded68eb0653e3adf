package program

import (
	"cmp"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/machine"
)

// Volume is a volume of a driver's container, as in the driver's deployment.
type Volume struct {
	// Path is the directory of the container on which it is mounted.
	Path string
	// HostPath is the directory of the node that is mounted there. Default: it is an emptyDir.
	HostPath string
	// EmptyDir is its name in the pod, and SubPath its mounted subdirectory.
	EmptyDir, SubPath string
	// InMemory means that an emptyDir is lost when its node loses power. Default: it is lost with
	// its pod.
	InMemory bool
	// ReadOnly means that the container cannot write there.
	ReadOnly bool
	// Propagation is HostToContainer, Bidirectional, or None, which is the default.
	Propagation string
}

// None, HostToContainer and Bidirectional are the propagations of Kubernetes.
const (
	None            = "None"
	HostToContainer = "HostToContainer"
	Bidirectional   = "Bidirectional"
)

// ReplacePod makes the next instance run in a new pod with empty emptyDirs.
func (p *Program) ReplacePod() { p.newPod = true }

// LosePower makes the next instance find its emptyDirs in memory empty.
func (p *Program) LosePower() { p.lostPower = true }

// emptyDir returns the directory of the host that an emptyDir shows.
func (p *Program) emptyDir(v Volume) string {
	return filepath.Join(p.spec.EmptyDirs, v.EmptyDir)
}

// clearEmptyDirs removes the emptyDirs that the next instance must not find.
func (p *Program) clearEmptyDirs() error {
	for _, v := range p.spec.Volumes {
		if v.EmptyDir != "" && (p.newPod || p.lostPower && v.InMemory) {
			if err := os.RemoveAll(p.emptyDir(v)); err != nil {
				return err
			}
		}
	}
	p.newPod, p.lostPower = false, false
	return nil
}

// container returns the container of the next instance, and its volumes, in addition to the
// kubelet's directory or in place of it.
func (p *Program) container(ownKubeletDir bool) (*machine.Container, []machine.Volume, error) {
	c := &machine.Container{Keeps: slices.Clone(p.spec.NodePaths), Before: p.last}
	var volumes []machine.Volume
	if err := p.clearEmptyDirs(); err != nil {
		return nil, nil, err
	}
	for _, v := range p.spec.Volumes {
		source := v.HostPath
		if v.EmptyDir != "" {
			source = filepath.Join(p.emptyDir(v), v.SubPath)
			if err := os.MkdirAll(source, 0o777); err != nil {
				return nil, nil, err
			}
		} else if slices.ContainsFunc([]string{"/dev", "/proc", "/sys"}, func(dir string) bool { return isWithin(source, dir) && source == v.Path }) {
			continue // every program sees these directories
		} else if _, inKubelets := p.machine.Layout().Below(path.Clean(source)); !inKubelets {
			c.Keeps = append(c.Keeps, source)
			if v.Propagation == Bidirectional {
				c.Shares = append(c.Shares, source)
			}
			if source == v.Path {
				continue // Keeps makes it visible there
			}
		} else if source == v.Path && !ownKubeletDir {
			continue
		} else if err := p.machine.MkdirAll(source, 0o750); err != nil {
			return nil, nil, err
		}
		volumes = append(volumes, machine.Volume{
			Source: source, Path: v.Path, ReadOnly: v.ReadOnly,
			Private: cmp.Or(v.Propagation, None) == None, Slave: v.Propagation == HostToContainer,
		})
	}
	return c, volumes, nil
}

// seesPartOfKubeletDir reports whether the container mounts only parts of the kubelet's directory,
// each with its own propagation, or mounts the directory at another path, for instance because only
// the node has the symlink. A container that mounts nothing at a usual place of the directory
// counts as mounting the whole directory.
func (p *Program) seesPartOfKubeletDir() bool {
	l, part := p.machine.Layout(), false
	for _, v := range p.spec.Volumes {
		at := path.Clean(v.Path)
		_, in := l.Below(at)
		switch {
		case at == l.KubeletDir() && path.Clean(v.HostPath) == at && v.Propagation == Bidirectional && !l.HasSymlink():
			return false
		case isWithin(l.KubeletDir(), at):
			return at == l.KubeletDir() || l.HasSymlink()
		case in, isWithin(at, machine.KubeletDir), isWithin(machine.KubeletDir, at):
			part = true
		}
	}
	return part
}

func isWithin(name, dir string) bool {
	below, is := strings.CutPrefix(path.Clean(name), strings.TrimSuffix(dir, "/"))
	return is && (below == "" || below[0] == '/')
}
