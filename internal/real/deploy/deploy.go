// Package deploy creates the manifests of a driver for a real cluster: the plugin on every node
// with its registrar, the controller plugin with its sidecars, their permissions, and the CSIDriver
// object.
package deploy

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/internal/driver/registrar"
)

// Driver is a driver to deploy.
type Driver struct {
	// Name is the driver's name in GetPluginInfo.
	Name string
	// Index is its position among the drivers of a run.
	Index int
	// CSIDriver is its CSIDriver object; nil for none.
	CSIDriver *storagev1.CSIDriver
	// Node and Controller are its plugins; nil if the driver lacks the plugin.
	Node, Controller *Program
	// Backend is the driver's storage system, in a container that outlives the controller plugin in
	// its pod; nil if there is none.
	Backend *Program
	// Sidecars are the programs that run beside the controller plugin, such as csi-provisioner.
	Sidecars []string
	// Flags are the flags that differ from their defaults, by sidecar.
	Flags map[string][]string
	// Down lists the nodes on which the plugin does not run until a step starts it.
	Down []string
	// Later means that a step installs the driver during the run.
	Later bool
	// Keeper runs the registrar as a child of csisim, so that it can be stopped and started
	// separately; nil if the scenario does not stop it.
	Keeper *Keeper
	// Shared is a directory that all nodes share and that plugins mount at SharedAt; empty if there
	// is none.
	Shared, SharedAt string
	// Apart means that a volume has separate content on each node.
	Apart bool
	// Port is the backend's port for nodes; 0 for none.
	Port int32
	// Orders is the port on which the backend of the reference driver receives orders; 0 for none.
	Orders int
	// Own are the driver's own manifests; nil if csisim derives them from the fields above.
	Own *Own
}

// HasNode reports whether the driver has a node plugin.
func (d Driver) HasNode() bool { return d.Node != nil || d.Own != nil && d.Own.HasNode() }

// HasController reports whether it has a controller plugin.
func (d Driver) HasController() bool {
	return d.Controller != nil || d.Own != nil && d.Own.HasController()
}

// Program is the program of a plugin's container.
type Program struct {
	Image   string
	Command []string
	Env     map[string]string
}

// Keeper is the program /csisim of the plugin's image, which is copied to the registrar's
// container.
type Keeper struct {
	// Libraries are the files in the image that the program loads, the loader first; none for a
	// static program.
	Libraries []string
}

// Options configure the deployment of drivers.
type Options struct {
	// Namespace is the namespace of all namespaced objects. Default: csisim-system.
	Namespace string
	// Scope is a suffix of the names of the run's objects on a shared cluster. Default: none.
	Scope Scope
	// Images replace the pinned images of sidecars, by name.
	Images map[string]string
	// Proxy is the bearer token of recording proxies. If it is set, a proxy runs in front of every
	// plugin. The images must contain the program /csisim. Default: none.
	Proxy string
	// Run is a label of the run's pods. Default: none.
	Run string
	// ControlPlane schedules controller plugins on the control plane's node and node plugins on all
	// others. Default: on any node.
	ControlPlane bool
}

// Names and labels.
const (
	// Namespace is the default of Options.Namespace.
	Namespace = "csisim-system"
	// ManagedBy and By label all objects of csisim.
	ManagedBy = "app.kubernetes.io/managed-by"
	By        = "csisim"
	// DriverLabel and PartLabel are on the pods: the driver's Slug, and node or controller.
	DriverLabel = "csisim.dev/driver"
	PartLabel   = "csisim.dev/part"
	// RunLabel is on the pods of a run, because pods of an earlier run may still exist.
	RunLabel = "csisim.dev/run"
	// TokenVariable is the environment variable that holds the token in a proxy's container.
	TokenVariable = "CSISIM_TOKEN"
	// ProxyPort is the port of a pod's proxy.
	ProxyPort = 9808
	// KeeperPort is the port of the program that runs the registrar.
	KeeperPort = 9807
	// PluginContainer is the container of the plugin, and of its proxy.
	PluginContainer = "driver"
	// BackendContainer is the container of a driver's storage system, in its controller's pod.
	BackendContainer = "backend"
)

// Slug returns a driver's name in a form that object names can have: disk-example-com.
func Slug(driver string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(driver)), "-")
}

// Manifests returns the objects of a driver, in the order in which they are applied.
func Manifests(d Driver, o Options) []runtime.Object {
	if o.Namespace == "" {
		o.Namespace = Namespace
	}
	m := maker{Driver: d, Options: o, slug: Slug(d.Name)}
	if d.Own != nil {
		return m.ownManifests()
	}
	all := m.access()
	if d.CSIDriver != nil {
		csiDriver := d.CSIDriver.DeepCopy()
		csiDriver.ObjectMeta = metav1.ObjectMeta{Name: d.Name, Labels: map[string]string{ManagedBy: By}}
		csiDriver.TypeMeta = metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSIDriver"}
		all = append(all, csiDriver)
	}
	if d.Controller != nil || d.Backend != nil {
		all = append(all, m.controller())
		if d.Port > 0 {
			all = append(all, m.service())
		}
	}
	if d.Node != nil {
		all = append(all, m.node())
	}
	return all
}

// Records returns the directory on a node that holds the records of a driver's proxy; part is node
// or controller.
func Records(driver, part string) string { return State + "/records/" + Slug(driver) + "-" + part }

type maker struct {
	Driver
	Options
	slug string
}

func (m maker) meta(suffix string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: m.slug + suffix, Namespace: m.Namespace, Labels: map[string]string{ManagedBy: By}}
}

func (m maker) labels(part string) map[string]string {
	return map[string]string{DriverLabel: m.slug, PartLabel: part, ManagedBy: By}
}

// ofRun returns the labels of pods.
func (m maker) ofRun(labels map[string]string) map[string]string {
	labels = maps.Clone(labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if m.Run != "" {
		labels[RunLabel] = m.Run
	}
	return labels
}

// shared is the directory with the sockets of the plugin and the proxy. state is a directory on the
// node that outlives the pods.
const (
	shared   = "/run/csi"
	upstream = shared + "/driver.sock"
	// State is the directory on nodes that holds the drivers' state.
	State = "/var/lib/csisim"
)

func (m maker) service() *corev1.Service {
	return &corev1.Service{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: m.meta(""),
		Spec: corev1.ServiceSpec{Selector: m.labels("controller"), Ports: []corev1.ServicePort{{Port: m.Port, TargetPort: intstr.FromInt32(m.Port)}}},
	}
}

func (m maker) controller() *appsv1.Deployment {
	one, labels := int32(1), m.labels("controller")
	sockets := map[string]string{}
	for _, s := range m.Sidecars {
		sockets[s] = shared + "/" + s + ".sock"
	}
	var containers []corev1.Container
	if m.Controller != nil {
		containers = append(containers, m.plugin(m.Controller, sockets, "controller", shared+"/csi.sock"))
	}
	if m.Backend != nil {
		containers = append(containers, m.backend())
	}
	for _, s := range m.Sidecars {
		socket := shared + "/csi.sock"
		if m.Proxy != "" {
			socket = sockets[s]
		}
		containers = append(containers, corev1.Container{
			Name: s, Image: m.image(s), Args: append([]string{"--csi-address=" + socket, "--v=2"}, m.Flags[s]...),
			VolumeMounts: []corev1.VolumeMount{{Name: "sockets", MountPath: shared}},
		})
	}
	spec := corev1.PodSpec{
		ServiceAccountName: m.slug, Containers: containers, TerminationGracePeriodSeconds: new(int64(5)),
		Volumes: m.withShared(empty("sockets"), host("state", State)),
	}
	m.keepOnControlPlane(&spec)
	return &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: m.meta("-controller"),
		Spec: appsv1.DeploymentSpec{
			Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels}, Strategy: appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: m.ofRun(labels)}, Spec: spec},
		},
	}
}

// keepOnControlPlane schedules pods on the control plane's node, which has no pods of the scenario.
func (o Options) keepOnControlPlane(spec *corev1.PodSpec) {
	if o.ControlPlane {
		spec.NodeSelector = map[string]string{controlPlane: ""}
		spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	}
}

// backend returns the container of the storage system. There is no proxy between the storage system
// and the plugins.
func (m maker) backend() corev1.Container {
	return corev1.Container{
		Name: BackendContainer, Image: m.Backend.Image, Command: m.Backend.Command,
		Env: []corev1.EnvVar{{Name: TokenVariable, Value: m.Proxy}},
	}
}

const controlPlane = "node-role.kubernetes.io/control-plane"

func (m maker) node() *appsv1.DaemonSet {
	labels, both, kubelet := m.labels("node"), corev1.MountPropagationBidirectional, "/var/lib/kubelet"
	plugin := m.plugin(m.Node, map[string]string{"kubelet": "/csi/csi.sock", registrar.Name: shared + "/registrar.sock"}, "node", "/csi/csi.sock")
	plugin.SecurityContext = &corev1.SecurityContext{Privileged: new(true)}
	plugin.VolumeMounts = append(plugin.VolumeMounts,
		corev1.VolumeMount{Name: "plugin", MountPath: "/csi"}, corev1.VolumeMount{Name: "dev", MountPath: "/dev"},
		corev1.VolumeMount{Name: "kubelet", MountPath: kubelet, MountPropagation: &both})
	asked := "/csi/csi.sock"
	if m.Proxy != "" {
		asked = shared + "/registrar.sock"
	}
	spec := corev1.PodSpec{
		ServiceAccountName: m.slug, TerminationGracePeriodSeconds: new(int64(5)), PriorityClassName: "system-node-critical",
		Tolerations: []corev1.Toleration{{Operator: corev1.TolerationOpExists}},
		Containers: []corev1.Container{plugin, {
			Name: registrar.Program, Image: m.image(registrar.Program),
			Args: append([]string{"--csi-address=" + asked, "--kubelet-registration-path=" + kubelet + "/plugins/" + m.Name + "/csi.sock", "--v=2"}, m.Flags[registrar.Program]...),
			VolumeMounts: []corev1.VolumeMount{
				{Name: "sockets", MountPath: shared}, {Name: "plugin", MountPath: "/csi"}, {Name: "registration", MountPath: "/registration"},
			},
		}},
		Volumes: m.withShared(
			empty("sockets"), host("state", State), host("plugin", kubelet+"/plugins/"+m.Name), host("registration", kubelet+"/plugins_registry"),
			host("kubelet", kubelet), host("dev", "/dev"),
		),
	}
	if m.Proxy != "" && m.Keeper != nil {
		m.keepRegistrar(&spec)
	}
	if avoided := m.avoided(); len(avoided) > 0 {
		spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: avoided}},
		}}}
	}
	return &appsv1.DaemonSet{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"}, ObjectMeta: m.meta("-node"),
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: m.ofRun(labels)}, Spec: spec},
		},
	}
}

// keepRegistrar runs the registrar as a child of csisim in its container. The container's image has
// the program at its usual path, and no other files.
func (m maker) keepRegistrar(spec *corev1.PodSpec) {
	const dir = shared + "/keeper"
	spec.InitContainers = []corev1.Container{{
		Name: "keeper", Image: m.Node.Image, Command: append([]string{"/csisim", "keep", "--copy", dir, "/csisim"}, m.Keeper.Libraries...),
		VolumeMounts: []corev1.VolumeMount{{Name: "sockets", MountPath: shared}},
	}}
	c := &spec.Containers[1]
	if len(m.Keeper.Libraries) > 0 {
		c.Command = []string{path.Join(dir, path.Base(m.Keeper.Libraries[0])), "--library-path", dir}
	}
	c.Command = append(c.Command, dir+"/csisim", "keep", "--address", fmt.Sprintf(":%d", KeeperPort), "--", "/csi-"+registrar.Program)
	c.Env = []corev1.EnvVar{{Name: TokenVariable, Value: m.Proxy}}
}

// avoided returns the nodes without the driver's plugin.
func (m maker) avoided() (all []corev1.NodeSelectorRequirement) {
	if m.ControlPlane {
		all = append(all, corev1.NodeSelectorRequirement{Key: controlPlane, Operator: corev1.NodeSelectorOpDoesNotExist})
	}
	if m.Proxy != "" {
		all = append(all, corev1.NodeSelectorRequirement{Key: AwayLabel(m.Name), Operator: corev1.NodeSelectorOpDoesNotExist})
	}
	return all
}

// AwayPrefix begins the names of labels that keep drivers off a node.
const AwayPrefix = "away.csisim.dev/"

// AwayLabel returns the node label that keeps a driver's plugin off a node.
func AwayLabel(driver string) string { return AwayPrefix + Slug(driver) }

// plugin returns the container of a plugin: the driver's program, or the proxy that starts it and
// serves its callers.
func (m maker) plugin(p *Program, sockets map[string]string, part, direct string) corev1.Container {
	c := corev1.Container{
		Name: PluginContainer, Image: p.Image, Command: p.Command,
		Env: []corev1.EnvVar{field("NODE_NAME", "spec.nodeName"), field("POD_IP", "status.podIP"), {Name: "CSI_ENDPOINT", Value: "unix://" + direct}},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "sockets", MountPath: shared}, {Name: "state", MountPath: State},
		},
	}
	if m.Proxy != "" {
		c.Env[2].Value = "unix://" + upstream
		command := []string{"/csisim", "proxy", "--driver", m.Name, "--upstream", upstream, "--records", Records(m.Name, part), "--address", fmt.Sprintf(":%d", ProxyPort)}
		if part == "node" {
			command = append(command, "--node", "$(NODE_NAME)")
		}
		for _, caller := range slices.Sorted(maps.Keys(sockets)) {
			command = append(command, "--listen", caller+"="+sockets[caller])
		}
		c.Command = append(append(command, "--"), p.Command...)
		c.Env = append(c.Env, corev1.EnvVar{Name: TokenVariable, Value: m.Proxy})
	}
	if m.Shared != "" {
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "shared", MountPath: m.SharedAt})
	}
	for _, name := range slices.Sorted(maps.Keys(p.Env)) {
		c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: p.Env[name]})
	}
	return c
}

func (m maker) withShared(volumes ...corev1.Volume) []corev1.Volume {
	if m.Shared != "" {
		volumes = append(volumes, host("shared", m.Shared))
	}
	return volumes
}

// Endpoint returns the socket at which a plugin serves in its container.
func (o Options) Endpoint(part string) string {
	switch {
	case o.Proxy != "":
		return upstream
	case part == "node":
		return "/csi/csi.sock"
	}
	return shared + "/csi.sock"
}

func field(name, path string) corev1.EnvVar {
	return corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: path}}}
}

func empty(name string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
}

func host(name, path string) corev1.Volume {
	kind := corev1.HostPathDirectoryOrCreate
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: path, Type: &kind}}}
}
