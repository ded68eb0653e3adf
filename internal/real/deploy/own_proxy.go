package deploy

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Proxies in pods of a driver's own manifests.
const (
	// ProxyImage is the image of the proxies.
	ProxyImage = "csisim.dev/csisim:csisim"
	// ProxyContainer is the prefix of the names of their containers, before the part: node or
	// controller.
	ProxyContainer = "csisim-proxy-"
	// ProxiesAnnotation is on their pods: part=port,…
	ProxiesAnnotation = "csisim.dev/proxies"
)

// firstOwnPort is the port of the first driver's proxy in front of a node plugin. No sidecar uses
// this port or the following ones.
const firstOwnPort = 29808

// OwnPort returns the port of the driver's proxy for a part. It is unique, since pods of two
// drivers may share their node's network.
func (d Driver) OwnPort(part string) int {
	port := firstOwnPort + 2*d.Index
	if part == "controller" {
		port++
	}
	return port
}

// Volumes and directories of the proxies.
const (
	ofDriver  = "csisim-driver" // the directory of the driver's socket, for the driver
	ofSidecar = "csisim-at-"    // the same directory for a sidecar; the container's name follows
	inProxy   = "/csisim-sockets"
)

// proxied returns the template of a workload's pods with proxies between the driver and its
// callers. Without proxies, the driver and its sidecars share the directory with the driver's
// socket. With proxies, each of them gets a separate directory at the same path, so their commands
// stay unchanged. The proxy mounts all of these directories. The pod shares its process namespace,
// so that the proxy can end the driver.
func (m maker) proxied(p pluginPods) corev1.PodTemplateSpec {
	template := *p.template.DeepCopy()
	spec := &template.Spec
	m.replaceImages(spec)
	m.labelPods(&template)
	mountOf(spec.Containers[p.driver], p.volume).Name = ofDriver
	spec.Volumes = append(spec.Volumes, empty(ofDriver), host("csisim-state", State))
	for _, s := range p.sidecars {
		c := spec.Containers[s.container]
		mountOf(c, p.volume).Name = ofSidecar + c.Name
		spec.Volumes = append(spec.Volumes, empty(ofSidecar+c.Name))
	}
	if !spec.HostPID {
		spec.ShareProcessNamespace = new(true)
	}
	var ports []string
	for _, part := range []string{"node", "controller"} {
		if callers := p.part(part); callers != nil {
			spec.Containers = append(spec.Containers, m.ownProxy(p, part, callers))
			ports = append(ports, fmt.Sprintf("%s=%d", part, m.OwnPort(part)))
		}
	}
	if template.Annotations == nil {
		template.Annotations = map[string]string{}
	}
	template.Annotations[ProxiesAnnotation] = strings.Join(ports, ",")
	return template
}

func (m maker) labelPods(template *corev1.PodTemplateSpec) {
	labels := m.ofRun(template.Labels)
	labels[ManagedBy], labels[DriverLabel] = By, m.slug
	template.Labels = labels
}

// ownProxy returns the container of the proxy for the callers of one part.
func (m maker) ownProxy(p pluginPods, part string, callers []podSidecar) corev1.Container {
	command := []string{
		"/csisim", "proxy", "--driver", m.Name, "--upstream", path.Join(inProxy, "driver", p.socket), "--listening",
		"--records", m.ownRecords(part), "--address", fmt.Sprintf(":%d", m.OwnPort(part)),
	}
	mounts := []corev1.VolumeMount{{Name: ofDriver, MountPath: path.Join(inProxy, "driver")}, {Name: "csisim-state", MountPath: State}}
	if part == "node" {
		mounts = append(mounts, corev1.VolumeMount{Name: p.volume, MountPath: path.Join(inProxy, "kubelet")})
		command = append(command, "--node", "$(NODE_NAME)", "--listen", "kubelet="+path.Join(inProxy, "kubelet", p.socket))
	}
	for _, s := range callers {
		name := p.template.Spec.Containers[s.container].Name
		mounts = append(mounts, corev1.VolumeMount{Name: ofSidecar + name, MountPath: path.Join(inProxy, name)})
		command = append(command, "--listen", s.name+"="+path.Join(inProxy, name, p.socket))
	}
	return corev1.Container{
		Name: ProxyContainer + part, Image: ProxyImage, Command: command, VolumeMounts: mounts,
		Env:             []corev1.EnvVar{field("NODE_NAME", "spec.nodeName"), field("POD_NAME", "metadata.name"), {Name: TokenVariable, Value: m.Proxy}},
		SecurityContext: &corev1.SecurityContext{Privileged: new(true), RunAsUser: new(int64), RunAsGroup: new(int64), RunAsNonRoot: new(bool)},
	}
}

// ownRecords returns the directory of a proxy's records. A node has only one pod of a node plugin
// at a time, and the next pod continues the records of that pod. A node may have several pods of a
// controller plugin.
func (m maker) ownRecords(part string) string {
	dir := Records(m.Name, part)
	if part == "controller" {
		dir += "-$(POD_NAME)"
	}
	return dir
}

// replaceImages sets the images of sidecars in the options.
func (o Options) replaceImages(spec *corev1.PodSpec) {
	for i, c := range spec.Containers {
		name := sidecarOf(c)
		if name == registrarCaller {
			name = registrarImage
		}
		if image := o.Images[name]; name != "" && image != "" {
			spec.Containers[i].Image = image
		}
	}
}

// registrarImage is the name of node-driver-registrar's image in options.
const registrarImage = "node-driver-registrar"

// setTemplate sets the template of a workload's pods.
func setTemplate(u *unstructured.Unstructured, template corev1.PodTemplateSpec) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&template)
	if err != nil {
		panic(err) // the template was read from such fields
	}
	dropEmpty(fields)
	spec := u.Object["spec"].(map[string]any) // it has a template
	spec["template"] = fields
}

// dropEmpty removes fields that are empty only because Go's types have them.
func dropEmpty(fields map[string]any) {
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		delete(metadata, "creationTimestamp")
	}
	if spec, ok := fields["spec"].(map[string]any); ok {
		for _, list := range []string{"containers", "initContainers"} {
			containers, _ := spec[list].([]any)
			for _, c := range containers {
				fields := c.(map[string]any)
				if resources, ok := fields["resources"].(map[string]any); ok && len(resources) == 0 {
					delete(fields, "resources")
				}
			}
		}
	}
}
