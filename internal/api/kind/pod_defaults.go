package kind

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// fillPod sets the defaults of a pod.
func fillPod(pod *corev1.Pod) {
	setEmpty(&pod.Status.Phase, corev1.PodPending)
	fillPodIPs(&pod.Status)
	setDefault(&pod.Spec.EnableServiceLinks, true)
	for i := range pod.Spec.Containers {
		requestLimits(&pod.Spec.Containers[i].Resources)
	}
	for i := range pod.Spec.InitContainers {
		requestLimits(&pod.Spec.InitContainers[i].Resources)
	}
	fillWholePod(pod)
	if pod.Spec.HostNetwork {
		fillHostPorts(pod.Spec.Containers)
		fillHostPorts(pod.Spec.InitContainers)
	}
	fillPodSpec(&pod.Spec)
	if grace := pod.Spec.TerminationGracePeriodSeconds; *grace < 0 {
		pod.Spec.TerminationGracePeriodSeconds = new(int64(1))
	}
}

// fillPodSpec sets the common defaults of pods and templates of pods.
func fillPodSpec(spec *corev1.PodSpec) {
	setEmpty(&spec.ServiceAccountName, spec.DeprecatedServiceAccount)
	spec.SchedulingGroup = nil // the gate GenericWorkload is off
	setEmpty(&spec.DNSPolicy, corev1.DNSClusterFirst)
	setEmpty(&spec.RestartPolicy, corev1.RestartPolicyAlways)
	setEmpty(&spec.SchedulerName, corev1.DefaultSchedulerName)
	setDefault(&spec.TerminationGracePeriodSeconds, corev1.DefaultTerminationGracePeriodSeconds)
	setDefault(&spec.SecurityContext, corev1.PodSecurityContext{})
	for i := range spec.Containers {
		fillContainer(&spec.Containers[i])
	}
	for i := range spec.InitContainers {
		fillContainer(&spec.InitContainers[i])
	}
	for i := range spec.EphemeralContainers {
		fillContainer((*corev1.Container)(&spec.EphemeralContainers[i].EphemeralContainerCommon))
	}
	for i := range spec.Volumes {
		fillPodVolume(&spec.Volumes[i])
	}
}

// fillHostPorts sets the host ports of a pod on its node's network to the container ports.
func fillHostPorts(containers []corev1.Container) {
	for _, c := range containers {
		for i := range c.Ports {
			if c.Ports[i].HostPort == 0 {
				c.Ports[i].HostPort = c.Ports[i].ContainerPort
			}
		}
	}
}

func fillContainer(c *corev1.Container) {
	setEmpty(&c.TerminationMessagePath, corev1.TerminationMessagePathDefault)
	setEmpty(&c.TerminationMessagePolicy, corev1.TerminationMessageReadFile)
	if c.ImagePullPolicy == "" {
		c.ImagePullPolicy = pullPolicy(c.Image)
	}
	for _, probe := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
		if probe != nil {
			fillProbe(probe)
		}
	}
	if l := c.Lifecycle; l != nil && l.StopSignal != nil { // the gate ContainerStopSignals is off
		if l.StopSignal = nil; l.PostStart == nil && l.PreStop == nil {
			c.Lifecycle = nil
		}
	}
	if l := c.Lifecycle; l != nil {
		for _, h := range []*corev1.LifecycleHandler{l.PostStart, l.PreStop} {
			if h != nil && h.HTTPGet != nil {
				fillHTTPGet(h.HTTPGet)
			}
		}
	}
	for i := range c.Ports {
		setEmpty(&c.Ports[i].Protocol, corev1.ProtocolTCP)
	}
	for i := range c.Env {
		from := c.Env[i].ValueFrom
		if from != nil && from.FieldRef != nil {
			setEmpty(&from.FieldRef.APIVersion, "v1")
		}
		if from != nil && from.FileKeyRef != nil {
			setDefault(&from.FileKeyRef.Optional, false)
		}
	}
}

// fillPodIPs keeps the older single field equal to the first of the list. If both are set, the
// single field wins.
func fillPodIPs(status *corev1.PodStatus) {
	switch {
	case status.PodIP != "" && (len(status.PodIPs) == 0 || status.PodIPs[0].IP != status.PodIP):
		status.PodIPs = []corev1.PodIP{{IP: status.PodIP}}
	case status.PodIP == "" && len(status.PodIPs) > 0:
		status.PodIP = status.PodIPs[0].IP
	}
}

// imageName is the pattern of an image's name: a registry, a path in it, a tag and a digest.
var imageName = lazyregexp.New(`^([a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?(:[0-9]+)?/)?[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*)*` +
	`(:\w[\w.-]{0,127})?(@[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{32,})?$`)

// imageID is the pattern of an image's ID. An ID would also match the pattern of a name.
var imageID = lazyregexp.New(`^[a-f0-9]{64}$`)

// longestImage is the maximum length of a name without a registry, because the default registry is
// prepended.
const longestImage = 255 - len("docker.io/library/")

// pullPolicy returns the default: Always for images without a fixed version.
func pullPolicy(image string) corev1.PullPolicy {
	name := image[strings.LastIndex(image, "/")+1:]
	_, tag, tagged := strings.Cut(name, ":")
	if strings.Contains(name, "@") || tagged && tag != "latest" {
		return corev1.PullIfNotPresent
	}
	if !imageName().MatchString(image) || imageID().MatchString(image) || len(image) > longestImage {
		return corev1.PullIfNotPresent
	}
	return corev1.PullAlways
}

func fillProbe(probe *corev1.Probe) {
	for _, f := range []struct {
		at    *int32
		value int32
	}{{&probe.TimeoutSeconds, 1}, {&probe.PeriodSeconds, 10}, {&probe.SuccessThreshold, 1}, {&probe.FailureThreshold, 3}} {
		if *f.at == 0 {
			*f.at = f.value
		}
	}
	if probe.HTTPGet != nil {
		fillHTTPGet(probe.HTTPGet)
	}
	if probe.GRPC != nil {
		setDefault(&probe.GRPC.Service, "")
	}
}

func fillHTTPGet(get *corev1.HTTPGetAction) {
	setEmpty(&get.Path, "/")
	setEmpty(&get.Scheme, corev1.URISchemeHTTP)
}

// requestLimits sets missing requests to the limits.
func requestLimits(resources *corev1.ResourceRequirements) {
	if resources.Limits != nil && resources.Requests == nil {
		resources.Requests = corev1.ResourceList{}
	}
	// Requests may be filled in any order.
	for name, limit := range resources.Limits {
		if _, ok := resources.Requests[name]; !ok {
			resources.Requests[name] = limit.DeepCopy()
		}
	}
}

// Default modes and lifetimes of the files in volumes.
const (
	defaultFileMode  = int32(0o644)
	defaultTokenLife = int64(3600)
)

func fillPodVolume(volume *corev1.Volume) {
	if len(podSources.of(&volume.VolumeSource)) == 0 {
		volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
	}
	switch {
	case volume.Secret != nil:
		setDefault(&volume.Secret.DefaultMode, defaultFileMode)
	case volume.ConfigMap != nil:
		setDefault(&volume.ConfigMap.DefaultMode, defaultFileMode)
	case volume.DownwardAPI != nil:
		setDefault(&volume.DownwardAPI.DefaultMode, defaultFileMode)
		fillFieldRefs(volume.DownwardAPI.Items)
	case volume.HostPath != nil:
		setDefault(&volume.HostPath.Type, corev1.HostPathUnset)
	case volume.Ephemeral != nil && volume.Ephemeral.VolumeClaimTemplate != nil:
		setDefault(&volume.Ephemeral.VolumeClaimTemplate.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	case volume.Projected != nil:
		fillProjected(volume.Projected)
	case volume.ISCSI != nil:
		setEmpty(&volume.ISCSI.ISCSIInterface, "default")
	case volume.RBD != nil:
		fillRBD(&volume.RBD.RBDPool, &volume.RBD.RadosUser, &volume.RBD.Keyring)
	case volume.AzureDisk != nil:
		fillAzureDisk(volume.AzureDisk)
	case volume.ScaleIO != nil:
		fillScaleIO(&volume.ScaleIO.StorageMode, &volume.ScaleIO.FSType)
	case volume.Image != nil && volume.Image.PullPolicy == "":
		volume.Image.PullPolicy = pullPolicy(volume.Image.Reference)
	}
}

func fillProjected(projected *corev1.ProjectedVolumeSource) {
	setDefault(&projected.DefaultMode, defaultFileMode)
	for i := range projected.Sources {
		source := &projected.Sources[i]
		// A write of the status shares the specification with concurrent readers.
		if source.ClusterTrustBundle != nil || source.PodCertificate != nil {
			source.ClusterTrustBundle, source.PodCertificate = nil, nil // their gates are off
		}
		if source.ServiceAccountToken != nil {
			setDefault(&source.ServiceAccountToken.ExpirationSeconds, defaultTokenLife)
		}
		if source.DownwardAPI != nil {
			fillFieldRefs(source.DownwardAPI.Items)
		}
	}
}

func fillFieldRefs(files []corev1.DownwardAPIVolumeFile) {
	for i := range files {
		if files[i].FieldRef != nil {
			setEmpty(&files[i].FieldRef.APIVersion, "v1")
		}
	}
}
