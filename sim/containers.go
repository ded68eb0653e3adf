package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
	"github.com/csisim/csisim/internal/world/workload"
)

// VolumeFile is a file in the root of a pod's volume.
type VolumeFile struct {
	Content string
	// UID and GID are its owner and group.
	UID, GID int
	// Mode are its permissions.
	Mode fs.FileMode
}

// WriteVolumeFile writes a file into the root of a volume, given by its name in the pod. It writes
// like a container that runs as the file's user and group. In a directory with setgid, the file
// gets the directory's group.
func (c *Simulation) WriteVolumeFile(pod store.Key, volumeName, name string, f VolumeFile) error {
	m, dir, err := c.published(pod, volumeName, name)
	if err != nil {
		return err
	}
	info, err := m.Lstat(dir)
	if err != nil {
		return fmt.Errorf("look at volume %s of pod %s: %w", volumeName, pod.Name, err)
	}
	if owner := info.Sys().(*syscall.Stat_t); info.Mode()&fs.ModeSetgid != 0 {
		f.GID = int(owner.Gid)
	}
	if err = m.(machine.VolumeFiles).WriteVolumeFile(dir, name, []byte(f.Content), f.Mode); err == nil {
		err = m.Lchown(path.Join(dir, name), f.UID, f.GID)
	}
	if err == nil {
		err = m.Chmod(path.Join(dir, name), f.Mode)
	}
	if err != nil {
		return fmt.Errorf("write %s into volume %s of pod %s: %w", name, volumeName, pod.Name, err)
	}
	return nil
}

// ReadVolumeFile reads a file in the root of a volume, given by its name in the pod.
func (c *Simulation) ReadVolumeFile(pod store.Key, volumeName, name string) (VolumeFile, error) {
	m, dir, err := c.published(pod, volumeName, name)
	if err != nil {
		return VolumeFile{}, err
	}
	content, err := m.(machine.VolumeFiles).ReadVolumeFile(dir, name)
	if err != nil {
		return VolumeFile{}, fmt.Errorf("read %s in volume %s of pod %s: %w", name, volumeName, pod.Name, err)
	}
	info, err := m.Lstat(path.Join(dir, name))
	if err != nil {
		return VolumeFile{}, fmt.Errorf("look at %s in volume %s of pod %s: %w", name, volumeName, pod.Name, err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	return VolumeFile{Content: string(content), UID: int(owner.Uid), GID: int(owner.Gid), Mode: info.Mode().Perm()}, nil
}

// published returns the directory of a pod's volume, and its machine.
func (c *Simulation) published(key store.Key, volumeName, file string) (machine.Machine, string, error) {
	wrong := func(err error) (machine.Machine, string, error) {
		return nil, "", &ConfigError{Subject: fmt.Sprintf("volume %q of pod %s", volumeName, key.Name), Problem: err.Error()}
	}
	pod, spec, err := volume.WithFiles(c.World.Store, key, volumeName, file)
	if err != nil {
		return wrong(err)
	}
	n, err := c.nodes.Named(pod.Spec.NodeName)
	if err != nil {
		return nil, "", err
	}
	dir := fakekubelet.TargetPath(n.Machine.Layout().KubeletDir(), pod.UID, spec)
	if mounted, err := n.Machine.IsMountPoint(dir); err != nil || !mounted {
		return wrong(fmt.Errorf("nothing is mounted at %s on %s", dir, n.Name))
	}
	return n.Machine, dir, nil
}

// RunsAs returns the user and group of a pod's containers: as the first container sets them,
// otherwise as the pod sets them, otherwise root.
func (c *Simulation) RunsAs(key store.Key) (uid, gid int) {
	pod, _ := store.Get[*corev1.Pod](c.World.Store, key)
	return workload.RunsAs(pod)
}

// Life describes when the instances of a record container end, and with which exit codes.
type Life = fakekubelet.Life

// ExitContainer ends a container of a pod like a process that exits with a code. The name may be
// empty if the pod has only one container. The kubelet then follows the pod's restart policy. The
// container must be a record.
func (c *Simulation) ExitContainer(key store.Key, container string, code int) error {
	wrong := func(err error) error {
		return &ConfigError{Subject: strings.Join(strings.Fields("container "+container+" of pod "+key.Name), " "), Problem: err.Error()}
	}
	pod, found := store.Get[*corev1.Pod](c.World.Store, key)
	if !found || pod.Spec.NodeName == "" {
		return wrong(errors.New("the pod is not on a node"))
	}
	n, err := c.nodes.Named(pod.Spec.NodeName)
	if err != nil {
		return err
	}
	if container == "" && len(pod.Spec.Containers) == 1 {
		container = pod.Spec.Containers[0].Name
	}
	c.World.Trace.Note(n.Name, "container %s of pod %s exits with code %d", container, key.Name, code)
	if err := n.Runtime.Exit(pod, container, int32(code)); err != nil {
		return wrong(err)
	}
	if n.Kubelet != nil {
		n.Kubelet.ContainerExited(pod.UID)
	}
	return nil
}
