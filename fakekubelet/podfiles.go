package fakekubelet

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// API describes how programs in containers reach the API server.
type API struct {
	Host, Port string
	// Authority is the certificate in PEM that they trust.
	Authority []byte
}

// accountDir is the directory of the service account in every container.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// filesDir returns the directory of a pod's volume that the kubelet makes itself.
func (w *podWorker) filesDir(name string) string {
	return path.Join(w.csi.PodDir(w.pod.UID), "files", name)
}

// accountFiles is the directory of the pod's service account. No volume has this name.
const accountFiles = ".serviceaccount"

// makeFiles makes the volumes of the pod that do not belong to a driver.
func (w *podWorker) makeFiles(p *kernel.Process) error {
	for i := range w.pod.Spec.Volumes {
		v := &w.pod.Spec.Volumes[i]
		if !w.mounts(v.Name) {
			continue
		}
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
	return w.writeFiles(accountFiles, content, nil, 0o644)
}

// removeFiles removes the files of makeFiles.
func (w *podWorker) removeFiles() {
	// Housekeeping retries this.
	_ = w.options.Machine.RemoveAll(path.Join(w.csi.PodDir(w.pod.UID), "files"))
}

// clearMemory removes the emptyDirs in memory, which csisim keeps on disk. makeVolume makes them
// again.
func (w *podWorker) clearMemory() {
	for _, v := range w.pod.Spec.Volumes {
		if v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory {
			// If this fails, the pod finds its old files.
			_ = w.options.Machine.RemoveAll(w.filesDir(v.Name))
		}
	}
}

// giveToGroup makes an empty directory writable for all users. New files in it belong to the pod's
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
	case v.PersistentVolumeClaim != nil:
		return w.prepareHostVolume(p, v)
	case v.ConfigMap != nil:
		content, err := w.configMapFiles(p, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
		return w.written(v.Name, content, itemModes(v.ConfigMap.Items), v.ConfigMap.DefaultMode, err)
	case v.Secret != nil:
		content, err := w.secretFiles(p, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
		return w.written(v.Name, content, itemModes(v.Secret.Items), v.Secret.DefaultMode, err)
	case v.DownwardAPI != nil:
		content, err := w.downwardFiles(v.DownwardAPI.Items)
		return w.written(v.Name, content, downwardModes(v.DownwardAPI.Items), v.DownwardAPI.DefaultMode, err)
	case v.Projected != nil:
		content, err := w.projectedFiles(p, v.Projected.Sources)
		return w.written(v.Name, content, projectedModes(v.Projected.Sources), v.Projected.DefaultMode, err)
	}
	return nil
}

func (w *podWorker) written(volume string, content files, modes map[string]fs.FileMode, mode *int32, err error) error {
	if err != nil {
		return err
	}
	permissions := fs.FileMode(0o644)
	if mode != nil {
		permissions = fs.FileMode(*mode)
	}
	return w.writeFiles(volume, content, modes, permissions)
}

func (w *podWorker) writeFiles(volume string, content files, modes map[string]fs.FileMode, mode fs.FileMode) error {
	var group *int64
	if s := w.pod.Spec.SecurityContext; s != nil {
		group = s.FSGroup
	}
	return projection{w.options.Machine, w.filesDir(volume), modes, group}.write(content, mode, w.Kernel.Now())
}

// itemModes returns the modes of files with an individual mode.
func itemModes(items []corev1.KeyToPath) map[string]fs.FileMode {
	modes := map[string]fs.FileMode{}
	for _, item := range items {
		if item.Mode != nil {
			modes[item.Path] = fs.FileMode(*item.Mode)
		}
	}
	return modes
}

func downwardModes(items []corev1.DownwardAPIVolumeFile) map[string]fs.FileMode {
	modes := map[string]fs.FileMode{}
	for _, item := range items {
		if item.Mode != nil {
			modes[item.Path] = fs.FileMode(*item.Mode)
		}
	}
	return modes
}

func projectedModes(sources []corev1.VolumeProjection) map[string]fs.FileMode {
	modes := map[string]fs.FileMode{}
	for _, s := range sources {
		switch {
		case s.ConfigMap != nil:
			maps.Copy(modes, itemModes(s.ConfigMap.Items))
		case s.Secret != nil:
			maps.Copy(modes, itemModes(s.Secret.Items))
		case s.DownwardAPI != nil:
			maps.Copy(modes, downwardModes(s.DownwardAPI.Items))
		}
	}
	return modes
}

// prepareHostPath checks the type of a directory or file on the node, and creates it if the type
// permits this.
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
	case kind == corev1.HostPathDirectoryOrCreate || kind == corev1.HostPathUnset:
		// A container runtime does the same.
		return m.MkdirAll(source.Path, 0o755)
	case kind == corev1.HostPathFileOrCreate:
		return m.WriteFile(source.Path, nil, 0o644)
	}
	return fmt.Errorf("hostPath type check failed: %s is not there: %w", source.Path, err)
}

// prepareHostVolume prepares the directory of a PersistentVolume. A local volume's directory must
// exist. (kubernetes v1.36.3, pkg/volume/local/local.go, SetUpAt)
func (w *podWorker) prepareHostVolume(p *kernel.Process, v *corev1.Volume) error {
	if w.volumes.SpecOf(w.pod.UID, v.Name) != nil { // a driver's
		return nil
	}
	pv, err := w.volumeOf(p, v)
	switch {
	case err != nil || pv == nil:
		return err
	case pv.Spec.HostPath != nil:
		return w.prepareHostPath(pv.Spec.HostPath)
	case pv.Spec.Local != nil:
		if _, err := w.options.Machine.Lstat(pv.Spec.Local.Path); err != nil {
			return fmt.Errorf("path %q does not exist", pv.Spec.Local.Path)
		}
	}
	return nil
}

// mountsOfProgram returns the mounts of a container: its volumes and its service account.
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
		v := machine.Volume{Source: source, Path: m.MountPath, ReadOnly: m.ReadOnly || readOnly}
		switch propagation := cmp.Or(m.MountPropagation, new(corev1.MountPropagationNone)); *propagation {
		case corev1.MountPropagationBidirectional:
			v.Shared = true
		case corev1.MountPropagationHostToContainer:
			v.Shared, v.Slave = true, true
		default:
			v.Private = true
		}
		volumes = append(volumes, v)
	}
	for _, d := range c.VolumeDevices {
		if spec := w.volumes.SpecOf(w.pod.UID, d.Name); spec != nil {
			volumes = append(volumes, machine.Volume{Source: w.csi.PodDevicePath(w.pod.UID, spec.Name), Path: d.DevicePath, Private: true, Device: true})
		}
	}
	if _, err := w.options.Machine.Lstat(w.filesDir(accountFiles)); err == nil && !hasAccount {
		volumes = append(volumes, machine.Volume{Source: w.filesDir(accountFiles), Path: accountDir, ReadOnly: true, Private: true})
	}
	return volumes, nil
}

// sourceOf returns the path on the node of a container's mount.
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
		v := &w.pod.Spec.Volumes[i]
		if v.Name != m.Name {
			continue
		}
		dir, err := w.hostDir(p, v)
		if err != nil {
			return "", false, err
		}
		source = cmp.Or(dir, source)
		readOnly = v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ReadOnly
	}
	if sub == "" {
		return source, readOnly, nil
	}
	source = path.Join(source, path.Join("/", sub))
	if _, err := w.options.Machine.Lstat(source); err != nil {
		return source, readOnly, w.options.Machine.MkdirAll(source, 0o755)
	}
	return source, readOnly, nil
}

// hostDir returns the directory of the node behind a volume of a pod or of a PersistentVolume; ""
// for other volumes.
func (w *podWorker) hostDir(p *kernel.Process, v *corev1.Volume) (string, error) {
	if v.HostPath != nil {
		return v.HostPath.Path, nil
	}
	pv, err := w.volumeOf(p, v)
	switch {
	case err != nil || pv == nil:
		return "", err
	case pv.Spec.HostPath != nil:
		return pv.Spec.HostPath.Path, nil
	case pv.Spec.Local != nil:
		return pv.Spec.Local.Path, nil
	}
	return "", nil
}

// volumeOf returns the PersistentVolume of a claim that a pod mounts; nil for other volumes.
func (w *podWorker) volumeOf(p *kernel.Process, v *corev1.Volume) (*corev1.PersistentVolume, error) {
	key, _, ok := volume.ClaimOf(w.pod, v)
	if !ok {
		return nil, nil
	}
	pvc, err := component.Live[*corev1.PersistentVolumeClaim](p, w.Component, key)
	if err != nil {
		return nil, fmt.Errorf("failed to fetch PVC from API server: %w", err)
	}
	return component.Live[*corev1.PersistentVolume](p, w.Component, store.Key{Name: pvc.Spec.VolumeName})
}
