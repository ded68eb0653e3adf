package volumemanager

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/volume"
)

// labels are the SELinux labels that concern one volume of a pod. K-SEL-1
type labels struct {
	// pod is the label with which the volume would be mounted regardless of its access mode. It is
	// empty if the container runtime has to label file by file.
	pod string
	// mount is the label of its mount, if it has one.
	mount string
	// supported means that the driver mounts with labels.
	supported bool
}

// labels computes the labels that a pod's containers request. Different labels are an error if the
// label would be used. K-SEL-1, K-SEL-3
func (m *Manager) labels(pod *corev1.Pod, volumeName string, spec *csi.Spec) (labels, error) {
	if !m.seLinux {
		return labels{}, nil
	}
	l := labels{supported: m.csi.MountsWithLabel(spec.Driver())}
	found := volume.SELinuxLabels(pod, volumeName, fileLabel)
	if len(found) > 1 {
		err := fmt.Errorf("multiple SELinux labels found: %s", strings.Join(found, ","))
		return labels{}, m.seLinuxError(spec, err, "pod_context_mismatch", "access_mode", accessModeText(spec))
	}
	if len(found) == 0 || !l.supported || volume.SELinuxPolicy(pod) == corev1.SELinuxChangePolicyRecursive {
		return l, nil
	}
	l.pod = found[0]
	if m.mayMountWithLabel(spec) {
		l.mount = l.pod
	}
	return l, nil
}

// mayMountWithLabel: only the volumes of a single pod, unless the gate is enabled. K-SEL-1
func (m *Manager) mayMountWithLabel(spec *csi.Spec) bool {
	return spec.PV != nil && (m.kubelet.Features.Enabled(feature.SELinuxMount) || exclusive(spec))
}

// fileLabel returns the label for files of a process with these options: its user and level, with
// the role and type of all container files. Defaults are as in Fedora, where the level of a
// container is picked by chance. [opencontainers/selinux go-selinux/label InitLabels]
func fileLabel(o *corev1.SELinuxOptions) string {
	if *o == (corev1.SELinuxOptions{}) {
		return ""
	}
	return cmp.Or(o.User, "system_u") + ":object_r:container_file_t:" + cmp.Or(o.Level, "s0:c998,c999")
}

// conflict returns the error that keeps another pod from a volume if the volume's pods have a
// different label. If labels are not used for mounting, the conflict is only counted. K-SEL-3
func (m *Manager) conflict(w *wanted, spec *csi.Spec, l labels) error {
	if !l.supported || l.pod == w.labels.pod {
		return nil
	}
	err := fmt.Errorf("conflicting SELinux labels of volume %s: %q and %q", spec.Name, w.labels.pod, l.pod)
	return m.seLinuxError(spec, err, "volume_context_mismatch", "volume_plugin", pluginText(spec), "access_mode", accessModeText(spec))
}

// seLinuxError counts a mistake in labels, and ignores it if it has no effect yet. K-MET-5
func (m *Manager) seLinuxError(spec *csi.Spec, err error, metric string, metricLabels ...string) error {
	kind := "errors"
	if !m.mayMountWithLabel(spec) {
		kind, err = "warnings", nil
	}
	m.kubelet.Metrics.Add("volume_manager_selinux_"+metric+"_"+kind+"_total", 1, metricLabels...)
	return err
}

// admit counts a volume that is desired with a label. K-MET-5
func (m *Manager) admit(spec *csi.Spec, l labels) {
	if l.pod != "" {
		m.kubelet.Metrics.Add("volume_manager_selinux_volumes_admitted_total", 1,
			"volume_plugin", pluginText(spec), "access_mode", accessModeText(spec))
	}
}

func pluginText(spec *csi.Spec) string { return "kubernetes.io/csi/" + spec.Driver() }

// accessModeText returns the widest of a volume's access modes, in short.
func accessModeText(spec *csi.Spec) string {
	if spec.PV == nil {
		return "inline"
	}
	for _, mode := range []struct {
		mode  corev1.PersistentVolumeAccessMode
		short string
	}{
		{corev1.ReadWriteMany, "RWX"}, {corev1.ReadOnlyMany, "ROX"}, {corev1.ReadWriteOnce, "RWO"}, {corev1.ReadWriteOncePod, "RWOP"},
	} {
		if slices.Contains(spec.PV.Spec.AccessModes, mode.mode) {
			return mode.short
		}
	}
	return ""
}
