package deploy

import (
	"path"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/driver/program"
)

// Volumes returns the volumes that the driver's container mounts in the pods of its node plugin or
// controller plugin: directories of the node and emptyDirs. It leaves out the volume with the
// driver's socket and the node's root. Nil means that no pod has the part.
func (o *Own) Volumes(part string) []program.Volume {
	for _, p := range o.pods {
		if p.part(part) != nil {
			return p.volumes()
		}
	}
	return nil
}

func (p pluginPods) volumes() []program.Volume {
	all := []program.Volume{}
	for _, m := range p.template.Spec.Containers[p.driver].VolumeMounts {
		v := program.Volume{Path: path.Clean(m.MountPath), ReadOnly: m.ReadOnly}
		if m.MountPropagation != nil {
			v.Propagation = string(*m.MountPropagation)
		}
		if m.Name == p.volume || m.SubPathExpr != "" {
			continue
		}
		for _, of := range p.template.Spec.Volumes {
			switch {
			case of.Name != m.Name:
			case of.HostPath != nil && path.Clean(of.HostPath.Path) != "/" && isDirectory(of.HostPath):
				v.HostPath = path.Join(of.HostPath.Path, m.SubPath)
				all = append(all, v)
			case of.EmptyDir != nil:
				v.EmptyDir, v.SubPath, v.InMemory = of.Name, m.SubPath, of.EmptyDir.Medium == corev1.StorageMediumMemory
				all = append(all, v)
			}
		}
	}
	return all
}

func isDirectory(h *corev1.HostPathVolumeSource) bool {
	return h.Type == nil || *h.Type == corev1.HostPathUnset || *h.Type == corev1.HostPathDirectory || *h.Type == corev1.HostPathDirectoryOrCreate
}
