package kind

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
	"github.com/csisim/csisim/internal/world/workload"
)

// checkPod returns the field errors of a pod. A new pod has no ephemeral containers, and no node
// while it has scheduling gates.
func checkPod(pod *corev1.Pod) field.ErrorList {
	at := field.NewPath("spec")
	errs := checkPodSpec(&pod.Spec, pod.Name, at)
	if isNew := pod.ResourceVersion == ""; !isNew {
		return errs
	}
	if len(pod.Spec.EphemeralContainers) > 0 {
		errs = append(errs, field.Forbidden(at.Child("ephemeralContainers"), "cannot be set on create"))
	}
	if pod.Spec.NodeName != "" && len(pod.Spec.SchedulingGates) > 0 {
		errs = append(errs, field.Forbidden(at.Child("nodeName"), "cannot be set until all schedulingGates have been cleared"))
	}
	return errs
}

// checkPodSpec also checks templates of pods, which have no name.
func checkPodSpec(spec *corev1.PodSpec, pod string, at *field.Path) field.ErrorList {
	volumes, errs := podVolumes(spec, pod, at.Child("volumes"))
	errs = append(errs, containers(spec, volumes, at.Child("containers"))...)
	errs = append(errs, initContainers(spec, volumes, at.Child("initContainers"))...)
	errs = append(errs, wholePodResources(at.Child("resources"), spec)...)
	errs = append(errs, hostPorts(at.Child("containers"), spec, pod == "")...)
	errs = append(errs, oneOf(at.Child("restartPolicy"), spec.RestartPolicy,
		corev1.RestartPolicyAlways, corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever)...)
	errs = append(errs, oneOf(at.Child("dnsPolicy"), spec.DNSPolicy,
		corev1.DNSClusterFirstWithHostNet, corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone)...)
	errs = append(errs, checkLabels(spec.NodeSelector, at.Child("nodeSelector"))...)
	errs = append(errs, podSecurityContext(at.Child("securityContext"), spec)...)
	errs = append(errs, affinity(at.Child("affinity"), spec.Affinity)...)
	errs = append(errs, dnsConfig(at.Child("dnsConfig"), spec.DNSConfig, spec.DNSPolicy)...)
	errs = append(errs, conditionTypes(at.Child("readinessGates"), spec.ReadinessGates)...)
	errs = append(errs, schedulingGates(at.Child("schedulingGates"), spec.SchedulingGates)...)
	errs = append(errs, topologySpread(at.Child("topologySpreadConstraints"), spec.TopologySpreadConstraints)...)
	errs = append(errs, hostUsers(at, spec)...)
	errs = append(errs, hostnames(at, spec)...)
	if name := spec.ServiceAccountName; name != "" {
		errs = append(errs, subdomain(at.Child("serviceAccountName"), name)...)
	}
	if name := spec.NodeName; name != "" {
		errs = append(errs, subdomain(at.Child("nodeName"), name)...)
	}
	if d := spec.ActiveDeadlineSeconds; d != nil && (*d < 1 || *d > math.MaxInt32) {
		errs = append(errs, field.Invalid(at.Child("activeDeadlineSeconds"), *d, utilvalidation.InclusiveRangeError(1, math.MaxInt32)))
	}
	errs = append(errs, label(at.Child("hostname"), spec.Hostname)...)
	errs = append(errs, label(at.Child("subdomain"), spec.Subdomain)...)
	errs = append(errs, tolerations(at.Child("tolerations"), spec.Tolerations)...)
	errs = append(errs, hostAliases(at.Child("hostAliases"), spec.HostAliases)...)
	if name := spec.PriorityClassName; name != "" {
		errs = append(errs, subdomain(at.Child("priorityClassName"), name)...)
	}
	if name := spec.RuntimeClassName; name != nil {
		errs = append(errs, subdomain(at.Child("runtimeClassName"), *name)...)
	}
	if p := spec.PreemptionPolicy; p != nil {
		if *p == "" {
			errs = append(errs, field.Required(at.Child("preemptionPolicy"), ""))
		} else {
			errs = append(errs, oneOf(at.Child("preemptionPolicy"), *p, corev1.PreemptLowerPriority, corev1.PreemptNever)...)
		}
	}
	switch os := spec.OS; {
	case os == nil:
	case os.Name == "":
		errs = append(errs, field.Required(at.Child("os", "name"), ""))
	default:
		errs = append(errs, oneOf(at.Child("os"), os.Name, corev1.Linux, corev1.Windows)...)
	}
	return errs
}

// hostUsers checks that a pod in a user namespace does not share the node's namespaces.
func hostUsers(at *field.Path, spec *corev1.PodSpec) (errs field.ErrorList) {
	if spec.HostUsers == nil || *spec.HostUsers {
		return nil
	}
	for _, of := range []struct {
		name  string
		given bool
	}{{"hostNetwork", spec.HostNetwork}, {"HostPID", spec.HostPID}, {"HostIPC", spec.HostIPC}} {
		if of.given {
			errs = append(errs, field.Forbidden(at.Child(of.name), "when `hostUsers` is false"))
		}
	}
	for _, all := range []struct {
		name       string
		containers []corev1.Container
	}{{"initContainers", spec.InitContainers}, {"containers", spec.Containers}} {
		for i, c := range all.containers {
			if len(c.VolumeDevices) > 0 {
				errs = append(errs, field.Forbidden(at.Child(all.name).Index(i).Child("volumeDevices"), "when `hostUsers` is false"))
			}
		}
	}
	return errs
}

func containers(spec *corev1.PodSpec, volumes map[string]*corev1.VolumeSource, at *field.Path) field.ErrorList {
	if len(spec.Containers) == 0 {
		return field.ErrorList{field.Required(at, "")}
	}
	var errs field.ErrorList
	var names []string
	for i := range spec.Containers {
		at, c := at.Index(i), &spec.Containers[i]
		errs = append(errs, container(at, c, volumes, spec)...)
		if slices.Contains(names, c.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		}
		errs = append(errs, lifecycle(at.Child("lifecycle"), c.Lifecycle, spec)...)
		errs = append(errs, probes(at, c)...)
		errs = append(errs, restartRules(at, c, false)...)
		names = append(names, c.Name)
	}
	return append(errs, hostPortConflicts(spec.Containers, at)...)
}

func initContainers(spec *corev1.PodSpec, volumes map[string]*corev1.VolumeSource, at *field.Path) (errs field.ErrorList) {
	var names []string
	for _, c := range spec.Containers {
		names = append(names, c.Name)
	}
	for i := range spec.InitContainers {
		list, at, c := at, at.Index(i), &spec.InitContainers[i]
		errs = append(errs, container(at, c, volumes, spec)...)
		errs = append(errs, restartRules(at, c, true)...)
		if slices.Contains(names, c.Name) {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
		} else if c.Name != "" {
			names = append(names, c.Name)
		}
		errs = append(errs, hostPortConflicts(spec.InitContainers[i:i+1], list)...)
		if workload.Sidecar(c) {
			errs = append(errs, lifecycle(at.Child("lifecycle"), c.Lifecycle, spec)...)
			errs = append(errs, probes(at, c)...)
			continue
		}
		errs = append(errs, noProbes(at, c)...)
		for j, p := range c.ResizePolicy {
			if p.RestartPolicy == corev1.RestartContainer {
				errs = append(errs, field.Invalid(at.Child("resizePolicy").Index(j).Child("restartPolicy"), p.RestartPolicy, "must not be set to 'RestartContainer' for non-sidecar initContainers"))
			}
		}
	}
	return errs
}

// podVolumes returns the valid volumes by name and the field errors of the others.
func podVolumes(spec *corev1.PodSpec, pod string, at *field.Path) (map[string]*corev1.VolumeSource, field.ErrorList) {
	valid := map[string]*corev1.VolumeSource{}
	var all field.ErrorList
	for i := range spec.Volumes {
		volume := &spec.Volumes[i]
		errs := podVolumeSource(at.Index(i), &volume.VolumeSource)
		errs = append(errs, claimName(pod, volume, at.Index(i).Child("name"))...)
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

// makesClaim reports whether an ephemeral volume of the pod creates a claim with that name.
func makesClaim(spec *corev1.PodSpec, pod, claim string) bool {
	return pod != "" && slices.ContainsFunc(spec.Volumes, func(v corev1.Volume) bool {
		return v.Ephemeral != nil && pod+"-"+v.Name == claim
	})
}

// container checks the fields that all containers have.
func container(at *field.Path, c *corev1.Container, volumes map[string]*corev1.VolumeSource, spec *corev1.PodSpec) field.ErrorList {
	var errs field.ErrorList
	if c.Name == "" {
		errs = append(errs, field.Required(at.Child("name"), ""))
	} else {
		errs = append(errs, invalid(at.Child("name"), c.Name, objectname.Label(c.Name))...)
	}
	if c.Image == "" {
		errs = append(errs, field.Required(at.Child("image"), ""))
	}
	errs = append(errs, oneOf(at.Child("terminationMessagePolicy"), c.TerminationMessagePolicy,
		corev1.TerminationMessageReadFile, corev1.TerminationMessageFallbackToLogsOnError)...)
	errs = append(errs, ports(at.Child("ports"), c.Ports)...)
	errs = append(errs, environment(at.Child("env"), c.Env)...)
	errs = append(errs, environmentFrom(at.Child("envFrom"), c.EnvFrom)...)
	errs = append(errs, volumeMounts(at.Child("volumeMounts"), c, volumes)...)
	errs = append(errs, volumeDevices(at.Child("volumeDevices"), c, volumes)...)
	errs = append(errs, pullPolicies(at.Child("imagePullPolicy"), c.ImagePullPolicy)...)
	errs = append(errs, resources(at.Child("resources"), &c.Resources)...)
	errs = append(errs, resizePolicy(at.Child("resizePolicy"), c.ResizePolicy, spec.RestartPolicy)...)
	return append(errs, containerSecurity(at.Child("securityContext"), c.SecurityContext, spec.HostUsers == nil || *spec.HostUsers)...)
}

func pullPolicies(at *field.Path, policy corev1.PullPolicy) field.ErrorList {
	return oneOf(at, policy, corev1.PullAlways, corev1.PullIfNotPresent, corev1.PullNever)
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
		errs = append(errs, subPath(all, at, mount)...)
		errs = append(errs, propagation(all.Child("mountPropagation"), mount.MountPropagation, c)...)
		if r := mount.RecursiveReadOnly; r != nil {
			errs = append(errs, recursiveReadOnly(all.Child("recursiveReadOnly"), *r, mount)...)
		}
	}
	return errs
}

func recursiveReadOnly(at *field.Path, mode corev1.RecursiveReadOnlyMode, mount corev1.VolumeMount) field.ErrorList {
	errs := oneOf(at, mode, corev1.RecursiveReadOnlyDisabled, corev1.RecursiveReadOnlyEnabled, corev1.RecursiveReadOnlyIfPossible)
	if len(errs) > 0 || mode == corev1.RecursiveReadOnlyDisabled {
		return errs
	}
	if !mount.ReadOnly {
		errs = append(errs, field.Forbidden(at, "may only be specified when readOnly is true"))
	}
	if p := mount.MountPropagation; p != nil && *p != corev1.MountPropagationNone {
		errs = append(errs, field.Forbidden(at, "may only be specified when mountPropagation is None or not specified"))
	}
	return errs
}

// subPath checks the paths of a mount; their field errors name the list, as in Kubernetes.
func subPath(list, at *field.Path, mount corev1.VolumeMount) field.ErrorList {
	errs := descending(list.Child("subPath"), mount.SubPath)
	if mount.SubPath != "" && mount.SubPathExpr != "" {
		errs = append(errs, field.Invalid(at.Child("subPathExpr"), mount.SubPathExpr, "subPathExpr and subPath are mutually exclusive"))
	}
	return append(errs, descending(list.Child("subPathExpr"), mount.SubPathExpr)...)
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
		} else {
			paths[device.DevicePath] = true
		}
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == device.Name }) {
			errs = append(errs, field.Invalid(at.Child("name"), device.Name, "must not already exist in volumeMounts"))
		}
		if slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == device.DevicePath }) {
			errs = append(errs, field.Invalid(at.Child("devicePath"), device.DevicePath, "must not already exist as a path in volumeMounts"))
		}
		if device.Name != "" {
			names[device.Name] = true
		}
	}
	return errs
}
