package sim

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"syscall"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// VolumeFile is a file in the root of a pod's volume.
type VolumeFile struct {
	Content string
	// UID and GID own it.
	UID, GID int
	// Mode are its permissions.
	Mode fs.FileMode
}

// WriteVolumeFile writes a file into the root of a volume, given by its name in the pod, as a container would that
// runs as the file's user and group. In a directory with setgid the file gets the directory's group.
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

// published is where the directory of a pod's volume is.
func (c *Simulation) published(key store.Key, volumeName, file string) (machine.Machine, string, error) {
	wrong := func(format string, args ...any) (machine.Machine, string, error) {
		return nil, "", &ConfigError{fmt.Sprintf("volume %q of pod %s", volumeName, key.Name), fmt.Sprintf(format, args...)}
	}
	if strings.Contains(file, "/") || file == "" || file == "." || file == ".." {
		return wrong("%q is no name of a file in its root", file)
	}
	pod, ok := store.Get[*corev1.Pod](c.World.Store, key)
	if !ok {
		return wrong("there is no such pod")
	}
	spec, block := c.specName(pod, volumeName)
	switch {
	case spec == "":
		return wrong("the pod has no such volume of a driver, or its claim has no volume yet")
	case block:
		return wrong("a block device has no files")
	case pod.Spec.NodeName == "":
		return wrong("the pod is on no node yet")
	}
	n, err := c.node(pod.Spec.NodeName)
	if err != nil {
		return nil, "", err
	}
	dir := fakekubelet.TargetPath(pod.UID, spec)
	if mounted, err := n.machine.IsMountPoint(dir); err != nil || !mounted {
		return wrong("nothing is mounted at %s on %s", dir, n.Name)
	}
	return n.machine, dir, nil
}

// specName is the name under which the kubelet knows a pod's volume: that of its PersistentVolume, of an inline
// volume its own; empty for other volumes.
func (c *Simulation) specName(pod *corev1.Pod, volumeName string) (name string, block bool) {
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.Name != volumeName {
			continue
		}
		if v.CSI != nil {
			return v.Name, false
		}
		key, _, ok := volume.ClaimOf(pod, v)
		claim, found := store.Get[*corev1.PersistentVolumeClaim](c.World.Store, key)
		if ok && found {
			return claim.Spec.VolumeName, volume.IsBlock(claim.Spec.VolumeMode)
		}
	}
	return "", false
}

// RunsAs is the user and group of a pod's containers: of the first one, else the pod's, else root.
func (c *Simulation) RunsAs(key store.Key) (uid, gid int) {
	pod, ok := store.Get[*corev1.Pod](c.World.Store, key)
	if !ok {
		return 0, 0
	}
	own, all := &corev1.SecurityContext{}, cmp.Or(pod.Spec.SecurityContext, &corev1.PodSecurityContext{})
	if containers := pod.Spec.Containers; len(containers) > 0 {
		own = cmp.Or(containers[0].SecurityContext, own)
	}
	return int(ptr.Deref(cmp.Or(own.RunAsUser, all.RunAsUser), 0)), int(ptr.Deref(cmp.Or(own.RunAsGroup, all.RunAsGroup), 0))
}
