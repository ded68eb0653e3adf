package fakekubelet

import (
	"fmt"
	"io/fs"
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// API is how the programs in containers reach the API server.
type API struct {
	Host, Port string
	// Authority is the certificate in PEM that they trust.
	Authority []byte
}

// accountDir is where every container finds its service account.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// filesDir is where the kubelet puts a volume of the pod that it makes itself.
func (w *podWorker) filesDir(name string) string {
	return path.Join(csi.PodDir(w.pod.UID), "files", name)
}

// accountFiles is the directory of the pod's service account; no volume has that name.
const accountFiles = ".serviceaccount"

// makeFiles makes the volumes of the pod that are no driver's.
func (w *podWorker) makeFiles(p *kernel.Process) error {
	for i := range w.pod.Spec.Volumes {
		v := &w.pod.Spec.Volumes[i]
		if err := w.makeVolume(p, v); err != nil {
			return fmt.Errorf("MountVolume.SetUp failed for volume %q : %w", v.Name, err)
		}
	}
	if !w.mountsAccount() {
		return nil
	}
	if err := w.makeAccountFiles(p); err != nil {
		return fmt.Errorf("MountVolume.SetUp failed for volume \"kube-api-access\" : %w", err)
	}
	return nil
}

// mountsAccount reports whether containers find the pod's service account.
func (w *podWorker) mountsAccount() bool {
	wanted := w.pod.Spec.AutomountServiceAccountToken
	return w.options.API != nil && (wanted == nil || *wanted)
}

func (w *podWorker) makeAccountFiles(p *kernel.Process) error {
	content, err := w.accountFiles(p)
	if err != nil {
		return err
	}
	return w.writeFiles(accountFiles, content, 0o644)
}

// removeFiles removes the files of makeFiles.
func (w *podWorker) removeFiles() {
	_ = w.options.Machine.RemoveAll(path.Join(csi.PodDir(w.pod.UID), "files")) // housekeeping looks again
}

// giveToGroup lets all users write in an empty directory. New files in it belong to the pod's
// group, if it has one.
func (w *podWorker) giveToGroup(dir string) error {
	mode := fs.FileMode(0o777)
	if s := w.pod.Spec.SecurityContext; s != nil && s.FSGroup != nil {
		if w.options.Machine.Lchown(dir, -1, int(*s.FSGroup)) == nil { // an ordinary user cannot
			mode |= fs.ModeSetgid
		}
	}
	return w.options.Machine.Chmod(dir, mode)
}

// files are the files of a volume by name.
type files map[string][]byte

func (w *podWorker) makeVolume(p *kernel.Process, v *corev1.Volume) error {
	switch {
	case v.EmptyDir != nil:
		dir := w.filesDir(v.Name)
		if err := w.options.Machine.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		return w.giveToGroup(dir)
	case v.HostPath != nil:
		return w.prepareHostPath(v.HostPath)
	case v.ConfigMap != nil:
		content, err := w.configMapFiles(p, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
		return w.written(v.Name, content, v.ConfigMap.DefaultMode, err)
	case v.Secret != nil:
		content, err := w.secretFiles(p, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
		return w.written(v.Name, content, v.Secret.DefaultMode, err)
	case v.DownwardAPI != nil:
		content, err := w.downwardFiles(v.DownwardAPI.Items)
		return w.written(v.Name, content, v.DownwardAPI.DefaultMode, err)
	case v.Projected != nil:
		content, err := w.projectedFiles(p, v.Projected.Sources)
		return w.written(v.Name, content, v.Projected.DefaultMode, err)
	}
	return nil
}

func (w *podWorker) written(volume string, content files, mode *int32, err error) error {
	if err != nil {
		return err
	}
	permissions := fs.FileMode(0o644)
	if mode != nil {
		permissions = fs.FileMode(*mode)
	}
	return w.writeFiles(volume, content, permissions)
}

func (w *podWorker) writeFiles(volume string, content files, mode fs.FileMode) error {
	return projection{w.options.Machine, w.filesDir(volume)}.write(content, mode, w.Kernel.Now())
}

// prepareHostPath makes a directory or a file of the node that shall be there.
func (w *podWorker) prepareHostPath(source *corev1.HostPathVolumeSource) error {
	m, kind := w.options.Machine, corev1.HostPathUnset
	if source.Type != nil {
		kind = *source.Type
	}
	info, err := m.Lstat(source.Path)
	if err == nil {
		if real, err := m.EvalSymlinks(source.Path); err == nil {
			info, _ = m.Lstat(real)
		}
	}
	switch {
	case err == nil && info != nil && (kind == corev1.HostPathDirectory || kind == corev1.HostPathDirectoryOrCreate) && !info.IsDir():
		return fmt.Errorf("hostPath type check failed: %s is not a directory", source.Path)
	case err == nil && info != nil && kind == corev1.HostPathSocket && info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("hostPath type check failed: %s is not a socket file", source.Path)
	case err == nil:
		return nil
	case kind == corev1.HostPathDirectoryOrCreate || kind == corev1.HostPathUnset: // as a container runtime does
		return m.MkdirAll(source.Path, 0o755)
	case kind == corev1.HostPathFileOrCreate:
		return m.WriteFile(source.Path, nil, 0o644)
	}
	return fmt.Errorf("hostPath type check failed: %s is not there: %w", source.Path, err)
}

// mountsOfProgram are the volumes of a container, and its service account.
func (w *podWorker) mountsOfProgram(p *kernel.Process, c *corev1.Container) ([]machine.Volume, error) {
	var volumes []machine.Volume
	hasAccount := false
	for i := range c.VolumeMounts {
		m := &c.VolumeMounts[i]
		source, readOnly, err := w.sourceOf(p, c, i)
		if err != nil {
			return nil, err
		}
		hasAccount = hasAccount || path.Clean(m.MountPath) == accountDir
		shared := m.MountPropagation != nil && *m.MountPropagation == corev1.MountPropagationBidirectional
		volumes = append(volumes, machine.Volume{Source: source, Path: m.MountPath, ReadOnly: m.ReadOnly || readOnly, Private: !shared})
	}
	for _, d := range c.VolumeDevices {
		if spec := w.volumes.SpecOf(w.pod.UID, d.Name); spec != nil {
			volumes = append(volumes, machine.Volume{Source: csi.PodDevicePath(w.pod.UID, spec.Name), Path: d.DevicePath, Private: true, Device: true})
		}
	}
	if _, err := w.options.Machine.Lstat(w.filesDir(accountFiles)); err == nil && !hasAccount {
		volumes = append(volumes, machine.Volume{Source: w.filesDir(accountFiles), Path: accountDir, ReadOnly: true, Private: true})
	}
	return volumes, nil
}

// sourceOf is where the node has the volume of a container's mount.
func (w *podWorker) sourceOf(p *kernel.Process, c *corev1.Container, index int) (source string, readOnly bool, err error) {
	m := &c.VolumeMounts[index]
	sub, err := w.subPathOf(p, c, m)
	if err != nil {
		return "", false, err
	}
	if spec := w.volumes.SpecOf(w.pod.UID, m.Name); spec != nil {
		source, err = w.driversVolume(p, c, index, spec, sub)
		return source, spec.ReadOnly, err
	}
	source = w.filesDir(m.Name)
	for i := range w.pod.Spec.Volumes {
		if v := &w.pod.Spec.Volumes[i]; v.Name == m.Name && v.HostPath != nil {
			source = v.HostPath.Path
		}
	}
	if sub == "" {
		return source, false, nil
	}
	source = path.Join(source, path.Join("/", sub))
	if _, err := w.options.Machine.Lstat(source); err != nil {
		return source, false, w.options.Machine.MkdirAll(source, 0o755)
	}
	return source, false, nil
}
