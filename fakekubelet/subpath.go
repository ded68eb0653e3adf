package fakekubelet

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/kernel"
)

// subPathOf returns the part of a volume that a container mounts; empty for the whole volume. An
// expression contains variables of the container's environment, and must lead into the volume.
func (w *podWorker) subPathOf(p *kernel.Process, c *corev1.Container, m *corev1.VolumeMount) (string, error) {
	if m.SubPathExpr == "" {
		return m.SubPath, nil
	}
	env, err := w.environment(p, c)
	if err != nil {
		return "", err
	}
	sub, err := expandAllKnown(m.SubPathExpr, env)
	switch {
	case err != nil:
		return "", err
	case path.IsAbs(sub):
		return "", fmt.Errorf("error SubPath `%s` must not be an absolute path", sub)
	case slices.Contains(strings.Split(sub, "/"), ".."):
		return "", fmt.Errorf("unable to provision SubPath `%s`: %w", sub, errors.New("must not contain '..'"))
	}
	return sub, nil
}

// expandAllKnown is expand for expressions in which each variable must have a value.
func expandAllKnown(text string, env variables) (string, error) {
	var missing []string
	expanded := expandWith(text, func(name string) (string, bool) {
		if env[name] == "" {
			missing = append(missing, name)
		}
		return env[name], true
	})
	if len(missing) > 0 {
		slices.Sort(missing)
		return "", fmt.Errorf("missing value for %s", strings.Join(slices.Compact(missing), ", "))
	}
	return expanded, nil
}

// driversVolume returns the node's path of a driver's volume, or of a part of it, for a container's
// mount.
func (w *podWorker) driversVolume(p *kernel.Process, c *corev1.Container, index int, spec *csi.Spec, sub string) (string, error) {
	if sub == "" {
		return w.csi.TargetPath(w.pod.UID, spec.Name), nil
	}
	source, err := w.csi.BindSubPath(p, csi.SubPath{Pod: w.pod.UID, Spec: spec, Container: c.Name, Index: index, Path: sub})
	if errors.Is(err, csi.ErrSubPathNotMade) {
		return "", fmt.Errorf("failed to create subPath directory for volumeMount %q of container %q", c.VolumeMounts[index].Name, c.Name)
	}
	if err != nil {
		return "", fmt.Errorf("failed to prepare subPath for volumeMount %q of container %q", c.VolumeMounts[index].Name, c.Name)
	}
	return source, nil
}
