package fakekubelet

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Records need no files and no variables. Like real containers, they do not start while a config
// map or secret is missing or lacks a key.

// checkVolumes returns the error if the kubelet cannot create a volume for a pod of records.
// K-POD-14
func (w *podWorker) checkVolumes(p *kernel.Process) error {
	for i := range w.pod.Spec.Volumes {
		v := &w.pod.Spec.Volumes[i]
		if err := w.checkVolume(p, v); err != nil && w.mounts(v.Name) {
			return fmt.Errorf("MountVolume.SetUp failed for volume %q : %w", v.Name, err)
		}
	}
	return nil
}

func (w *podWorker) checkVolume(p *kernel.Process, v *corev1.Volume) (err error) {
	switch {
	case v.ConfigMap != nil:
		_, err = w.configMapFiles(p, v.ConfigMap.Name, v.ConfigMap.Items, v.ConfigMap.Optional)
	case v.Secret != nil:
		_, err = w.secretFiles(p, v.Secret.SecretName, v.Secret.Items, v.Secret.Optional)
	case v.Projected != nil:
		_, err = w.projectedFiles(p, slices.DeleteFunc(slices.Clone(v.Projected.Sources), func(s corev1.VolumeProjection) bool {
			return s.ConfigMap == nil && s.Secret == nil
		}))
	}
	return err
}

// mounts reports whether some container mounts a volume of the pod. K-DSW-5
func (w *podWorker) mounts(volume string) bool {
	named := func(m corev1.VolumeMount) bool { return m.Name == volume }
	return slices.ContainsFunc(runtime.Containers(w.pod), func(c *corev1.Container) bool { return slices.ContainsFunc(c.VolumeMounts, named) })
}

// checkVariables returns the error if the kubelet cannot create the environment of a record.
// K-POD-14
func (w *podWorker) checkVariables(p *kernel.Process, c *corev1.Container) error {
	for _, from := range c.EnvFrom {
		if err := w.addAll(p, variables{}, from); err != nil {
			return err
		}
	}
	for _, one := range c.Env {
		if one.ValueFrom == nil || one.ValueFrom.ConfigMapKeyRef == nil && one.ValueFrom.SecretKeyRef == nil {
			continue
		}
		if _, err := w.valueOf(p, c, one, nil); err != nil {
			return err
		}
	}
	return nil
}
