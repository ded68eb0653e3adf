package kind

import (
	"math"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// checkPod names the mistakes of a pod: its volumes and their uses in depth, of
// the rest what makes a pod impossible.
func checkPod(pod *corev1.Pod) field.ErrorList {
	return checkPodSpec(&pod.Spec, pod.Name, field.NewPath("spec"))
}

// checkPodSpec is for templates of pods, too: these have no name.
func checkPodSpec(spec *corev1.PodSpec, pod string, at *field.Path) field.ErrorList {
	volumes, errs := podVolumes(spec, pod, at.Child("volumes"))
	if len(spec.Containers) == 0 {
		errs = append(errs, field.Required(at.Child("containers"), ""))
	}
	var names []string
	for i := range spec.Containers {
		at, c := at.Child("containers").Index(i), &spec.Containers[i]
		errs = append(errs, container(at, c, volumes, names)...)
		errs = append(errs, probes(at, c)...)
		names = append(names, c.Name)
	}
	for i := range spec.InitContainers {
		at, c := at.Child("initContainers").Index(i), &spec.InitContainers[i]
		errs = append(errs, container(at, c, volumes, names)...)
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			errs = append(errs, probes(at, c)...)
		} else {
			errs = append(errs, noProbes(at, c)...)
		}
		names = append(names, c.Name)
	}
	errs = append(errs, oneOf(at.Child("restartPolicy"), spec.RestartPolicy,
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, oneOf(at.Child("dnsPolicy"), spec.DNSPolicy,
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	if spec.ServiceAccountName != "" {
		errs = append(errs, subdomain(at.Child("serviceAccountName"), spec.ServiceAccountName)...)
	}
	if spec.NodeName != "" {
		errs = append(errs, subdomain(at.Child("nodeName"), spec.NodeName)...)
		if len(spec.SchedulingGates) > 0 {
			errs = append(errs, field.Forbidden(at.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
		}
	}
	if d := spec.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *d, utilvalidation.InclusiveRangeError(1, math.MaxInt32)))
	}
	return errs
}

// podVolumes returns the valid volumes by name and the mistakes of the others.
func podVolumes(spec *corev1.PodSpec, pod string, at *field.Path) (map[string]*corev1.VolumeSource, field.ErrorList) {
	valid := map[string]*corev1.VolumeSource{}
	var all field.ErrorList
	for i := range spec.Volumes {
		volume := &spec.Volumes[i]
		errs := podVolumeSource(at.Index(i), &volume.VolumeSource)
		if volume.Name == "" {
			errs = append(errs, field.Required(at.Index(i).Child("name"), ""))
		} else {
			errs = append(errs, invalid(at.Index(i).Child("name"), volume.Name, objectname.Label(volume.Name))...)
		}
		if _, taken := valid[volume.Name]; taken {
			errs = append(errs, field.Duplicate(at.Index(i).Child("name"), volume.Name))
		}
		if len(errs) == 0 {
			valid[volume.Name] = &volume.VolumeSource
		}
		all = append(all, errs...)
		if claim := volume.PersistentVolumeClaim; claim != nil && makesClaim(spec, pod, claim.ClaimName) {
			all = append(all, field.Invalid(at.Index(i).Child("persistentVolumeClaim", "claimName"), claim.ClaimName,
				"must not reference a PVC that gets created for an ephemeral volume"))
		}
	}
	return valid, all
}

// makesClaim reports whether a claim of that name will be made for an ephemeral
// volume of the pod.
func makesClaim(spec *corev1.PodSpec, pod, claim string) bool {
	return pod != "" && slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.Ephemeral != nil && pod+"-"+v.Name == claim
	})
}

func container(at *field.Path, c *corev1.Container, volumes map[string]*corev1.VolumeSource, taken []string) field.ErrorList {
	var errs field.ErrorList
	switch {
	case c.Name == "":
		errs = append(errs, field.Required(at.Child("name"), ""))
	case slices.Contains(taken, c.Name):
		errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
	default:
		errs = append(errs, invalid(at.Child("name"), c.Name, objectname.Label(c.Name))...)
	}
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	}
	errs = append(errs, oneOf(at.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, ports(at.Child("ports"), c.Ports)...)
	errs = append(errs, environment(at.Child("env"), c.Env)...)
	errs = append(errs, volumeMounts(at.Child("volumeMounts"), c, volumes)...)
	errs = append(errs, volumeDevices(at.Child("volumeDevices"), c, volumes)...)
	return append(errs, oneOf(at.Child("imagePullPolicy"), c.ImagePullPolicy,
		corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)...)
}

func volumeMounts(at *field.Path, c *corev1.Container, volumes map[string]*corev1.VolumeSource) field.ErrorList {
	var errs field.ErrorList
	paths := map[string]bool{}
	for i, mount := range c.VolumeMounts {
		all := at
		at := all.Index(i)
		if mount.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if _, ok := volumes[mount.Name]; !ok {
			errs = append(errs, field.NotFound(at.Child("name"), mount.Name))
		}
		if mount.MountPath == "" {
			errs = append(errs, field.Required(at.Child("mountPath"), ""))
		}
		if paths[mount.MountPath] {
			errs = append(errs, field.Invalid(at.Child("mountPath"), mount.MountPath, "must be unique"))
		}
		paths[mount.MountPath] = true
		if slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.Name == mount.Name }) {
			errs = append(errs, field.Invalid(at.Child("name"), mount.Name, "must not already exist in volumeDevices"))
		}
		if slices.ContainsFunc(c.VolumeDevices, func(d corev1.VolumeDevice) bool { return d.DevicePath == mount.MountPath }) {
			errs = append(errs, field.Invalid(at.Child("mountPath"), mount.MountPath, "must not already exist as a path in volumeDevices"))
		}
		errs = append(errs, subPath(at, mount)...)
		errs = append(errs, propagation(all.Child("mountPropagation"), mount.MountPropagation, c)...)
	}
	return errs
}

func subPath(at *field.Path, mount corev1.VolumeMount) field.ErrorList {
	var errs field.ErrorList
	if mount.SubPath != "" && mount.SubPathExpr != "" {
		errs = append(errs, field.Invalid(at.Child("subPathExpr"), mount.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
	}
	if path.IsAbs(mount.SubPath) {
		errs = append(errs, field.Invalid(at.Child("subPath"), mount.SubPath, "must be a relative path"))
	}
	if climbs(mount.SubPath) {
		errs = append(errs, field.Invalid(at.Child("subPath"), mount.SubPath, "must not contain '..'"))
	}
	return errs
}

func climbs(p string) bool { return slices.Contains(strings.Split(p, "/"), "..") }

func volumeDevices(at *field.Path, c *corev1.Container, volumes map[string]*corev1.VolumeSource) field.ErrorList {
	var errs field.ErrorList
	names, paths := map[string]bool{}, map[string]bool{}
	for i, device := range c.VolumeDevices {
		at := at.Index(i)
		source, ok := volumes[device.Name]
		if device.Name == "" {
			errs = append(errs, field.Required(at.Child("name"), ""))
		}
		if names[device.Name] {
			errs = append(errs, field.Invalid(at.Child("name"), device.Name, "must be unique"))
		}
		switch {
		case !ok:
			errs = append(errs, field.NotFound(at.Child("name"), device.Name))
		case source.PersistentVolumeClaim == nil && source.Ephemeral == nil:
			errs = append(errs, field.Invalid(at.Child("name"), device.Name, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"))
		}
		if device.DevicePath == "" {
			errs = append(errs, field.Required(at.Child("devicePath"), ""))
		}
		if paths[device.DevicePath] {
			errs = append(errs, field.Invalid(at.Child("devicePath"), device.DevicePath, "must be unique"))
		}
		if climbs(device.DevicePath) {
			errs = append(errs, field.Invalid(at.Child("devicePath"), device.DevicePath, "can not contain backsteps ('..')"))
		}
		names[device.Name], paths[device.DevicePath] = true, true
	}
	return errs
}
