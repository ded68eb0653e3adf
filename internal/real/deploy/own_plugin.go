package deploy

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/driver/livenessprobe"
	"github.com/csisim/csisim/internal/driver/registrar"
)

// registrarCaller is the name of node-driver-registrar in traces.
const registrarCaller = registrar.Name

// sidecarImages are the last parts of the names of sidecars' images, and the names under which they
// call drivers.
var sidecarImages = map[string]string{
	"csi-provisioner": "csi-provisioner", "csi-attacher": "csi-attacher", "csi-resizer": "csi-resizer", "csi-snapshotter": "csi-snapshotter",
	"csi-external-health-monitor-controller": "csi-external-health-monitor-controller", "csi-snapshot-metadata": "csi-snapshot-metadata",
	"csi-node-driver-registrar": registrarCaller, "node-driver-registrar": registrarCaller,
	"livenessprobe": livenessprobe.Name, "liveness-probe": livenessprobe.Name,
}

// pluginPods are the pods of a workload with a driver and its sidecars.
type pluginPods struct {
	kind, namespace, name string
	replicas              int64
	template              corev1.PodTemplateSpec
	driver                int    // index of the driver's container
	volume, socket        string // the volume with the driver's socket, and the socket's path in it
	sidecars              []podSidecar
}

// podSidecar is a sidecar in these pods.
type podSidecar struct {
	name      string // the caller's name
	container int    // its index
	flags     map[string]string
}

// templateOf returns the template of a workload's pods.
func templateOf(u *unstructured.Unstructured) (template corev1.PodTemplateSpec, ok bool) {
	if !slices.Contains([]string{"Deployment", "StatefulSet", "DaemonSet"}, u.GetKind()) {
		return template, false
	}
	fields, found, err := unstructured.NestedMap(u.Object, "spec", "template")
	if err != nil || !found {
		return template, false
	}
	return template, runtime.DefaultUnstructuredConverter.FromUnstructured(fields, &template) == nil
}

// mistake is a mistake in the manifest of a workload.
type mistake struct{ workload, field, found, want string }

func (m *mistake) Error() string {
	return fmt.Sprintf("%s: %s: found %s, want %s", m.workload, m.field, m.found, m.want)
}

// containersField is the field of a workload's containers.
const containersField = "spec.template.spec.containers"

func containerField(i int) string { return strict.Index(containersField, i) }

// findPlugin finds the driver among the containers of a workload. The driver's container has the
// volume in which the sidecars look for its socket. It returns nil for pods without sidecars.
func findPlugin(u *unstructured.Unstructured, template corev1.PodTemplateSpec) (*pluginPods, error) {
	p := &pluginPods{kind: u.GetKind(), namespace: u.GetNamespace(), name: u.GetName(), template: template, driver: -1}
	// Without the field there is one replica.
	p.replicas, _, _ = unstructured.NestedInt64(u.Object, "spec", "replicas")
	for i, c := range template.Spec.Containers {
		name := sidecarOf(c)
		if name == "" {
			continue
		}
		flags := flagsOf(c)
		address := strings.TrimPrefix(flags["--csi-address"], "unix://")
		if address == "" {
			address = "/run/csi/socket" // the default of all sidecars
		}
		volume, socket := inVolume(c, address)
		switch {
		case volume == "":
			return nil, &mistake{p.String(), containerField(i), fmt.Sprintf("container %s, which looks for the driver at %s", c.Name, address), "a mounted volume with that socket"}
		case p.volume == "":
			p.volume, p.socket = volume, socket
		case p.volume != volume || p.socket != socket:
			return nil, &mistake{p.String(), containerField(i), fmt.Sprintf("container %s, which looks for the driver at %s", c.Name, path.Join(volume, socket)), "the socket of the sidecar before, " + path.Join(p.volume, p.socket)}
		}
		p.sidecars = append(p.sidecars, podSidecar{name, i, flags})
	}
	if len(p.sidecars) == 0 {
		return nil, nil
	}
	var serving []string
	for i, c := range template.Spec.Containers {
		if sidecarOf(c) == "" && mountOf(c, p.volume) != nil {
			serving, p.driver = append(serving, c.Name), i
		}
	}
	if len(serving) != 1 {
		return nil, &mistake{p.String(), containersField, orNone(serving), fmt.Sprintf("one container besides the sidecars that has the volume %s, where the driver's socket is", p.volume)}
	}
	return p, nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// sidecarOf returns the name under which a container calls drivers; empty if it is not a sidecar.
func sidecarOf(c corev1.Container) string {
	image, _, _ := strings.Cut(path.Base(c.Image), "@")
	image, _, _ = strings.Cut(image, ":")
	if name := sidecarImages[image]; name != "" {
		return name
	}
	return sidecarImages[c.Name]
}

// flagsOf returns the flags of a container's command, after replacing its variables. A flag with
// one dash gets two.
func flagsOf(c corev1.Container) map[string]string {
	flags := map[string]string{}
	args := slices.Concat(c.Command, c.Args)
	for i, a := range args {
		if !strings.HasPrefix(a, "-") {
			continue
		}
		name, value, given := strings.Cut("--"+strings.TrimLeft(a, "-"), "=")
		if !given {
			value = "true"
			if i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				value = args[i+1]
			}
		}
		for _, e := range c.Env {
			value = strings.ReplaceAll(value, "$("+e.Name+")", e.Value)
		}
		flags[name] = value
	}
	return flags
}

// inVolume returns the volume of a path in a container, and the path within the volume.
func inVolume(c corev1.Container, file string) (volume, below string) {
	longest := -1
	for _, m := range c.VolumeMounts {
		at := path.Clean(m.MountPath)
		if strings.HasPrefix(file, at+"/") && len(at) > longest && m.SubPath == "" {
			longest, volume, below = len(at), m.Name, strings.TrimPrefix(file, at+"/")
		}
	}
	return volume, below
}

func mountOf(c corev1.Container, volume string) *corev1.VolumeMount {
	for i := range c.VolumeMounts {
		if c.VolumeMounts[i].Name == volume {
			return &c.VolumeMounts[i]
		}
	}
	return nil
}

// part returns the sidecars that call the node plugin or the controller plugin; nil if there is
// none. A livenessprobe beside a registrar probes the node plugin.
func (p pluginPods) part(part string) (all []podSidecar) {
	isNode := slices.ContainsFunc(p.sidecars, func(s podSidecar) bool { return s.name == registrarCaller })
	for _, s := range p.sidecars {
		ofNode := s.name == registrarCaller || isNode && (s.name == livenessprobe.Name || p.kind == "DaemonSet")
		if ofNode == (part == "node") {
			all = append(all, s)
		}
	}
	return all
}

func (p pluginPods) is(u *unstructured.Unstructured) bool {
	return u.GetKind() == p.kind && u.GetNamespace() == p.namespace && u.GetName() == p.name
}

// String names the workload and its driver's container.
func (p pluginPods) String() string {
	where := fmt.Sprintf("%s %s/%s", p.kind, p.namespace, p.name)
	if p.driver < 0 || p.driver >= len(p.template.Spec.Containers) {
		return where
	}
	var callers []string
	for _, s := range p.sidecars {
		callers = append(callers, s.name)
	}
	if p.part("node") != nil {
		callers = append(callers, "kubelet")
	}
	return fmt.Sprintf("%s: between container %s and %s", where, p.template.Spec.Containers[p.driver].Name, strings.Join(callers, ", "))
}
