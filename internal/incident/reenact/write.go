package reenact

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/version"
)

// ErrNoVolume is the error for a trace that names no volume of a CSI driver.
var ErrNoVolume = errors.New("the trace names no volume of a CSI driver, so there is nothing to play")

// ErrSeveralDrivers is returned if a real driver is given for a trace with several drivers.
var ErrSeveralDrivers = errors.New("the trace has several drivers, and one command cannot replace them all")

// Write writes the scenario. from names the trace in its comment.
func (s *Story) Write(w io.Writer, from string) error {
	drivers := s.cast.driverNames()
	if len(s.cast.all()) == 0 && len(s.cast.played()) == 0 && len(s.cast.playedGroups()) == 0 {
		return ErrNoVolume
	}
	if len(drivers) == 0 {
		drivers = []string{someDriver}
	}
	if s.Command != nil && len(drivers) > 1 {
		return fmt.Errorf("%w: %s", ErrSeveralDrivers, strings.Join(drivers, ", "))
	}
	s.complete(drivers[0])
	var b strings.Builder
	fmt.Fprintf(&b, "# The story of %s: objects, answers of the driver and restarts, as far as the logs\n# show them. Names and sizes that the logs lack are made up.\n", from)
	b.WriteString("apiVersion: csisim.dev/v1alpha1\nkind: Scenario\ndescription: An incident, imported from logs.\n")
	if newest := s.newestRelease(); newest != version.Newest {
		fmt.Fprintf(&b, "kubernetes: %q\n", newest)
	}
	fmt.Fprintf(&b, "cluster:\n  nodes: %s\n", flow(s.nodes()))
	b.WriteString("drivers:\n")
	for _, name := range drivers {
		if s.Command != nil {
			fmt.Fprintf(&b, "- name: %s\n  program: {command: %s}\n", name, flow(s.Command))
			continue
		}
		fmt.Fprintf(&b, "- name: %s\n  mock: %s\n", name, flow(s.mock(name)))
	}
	b.WriteString("objects:\n")
	for _, object := range s.givenObjects() {
		item(&b, object)
	}
	b.WriteString("steps:\n")
	s.steps(&b)
	s.expectations(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// someDriver is the driver of logs that do not name it.
const someDriver = "imported.csi.csisim.dev"

// flow renders a value on one line as JSON, which is valid YAML.
func flow(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // values are maps, lists and texts
	}
	return string(text)
}

// item renders an object as an item of a list.
func item(b *strings.Builder, object map[string]any) {
	for i, line := range strings.Split(strings.TrimSpace(block(object)), "\n") {
		b.WriteString(map[bool]string{true: "- ", false: "  "}[i == 0] + line + "\n")
	}
}

func block(object map[string]any) string {
	text, err := yaml.Marshal(object)
	if err != nil {
		panic(err) // objects are maps, lists and texts
	}
	return string(text)
}

// complete makes up the names and sizes that the logs lack.
func (s *Story) complete(driver string) {
	s.completeSnapshots(driver)
	s.completeGroups(driver)
	for _, p := range s.cast.ordered() {
		namespace, _, _ := strings.Cut(p.name, "/")
		for _, v := range p.volumes {
			v.claim = cmp.Or(v.claim, namespace+"/"+plain(cmp.Or(v.pv, v.handle)))
		}
	}
	for _, v := range s.cast.all() {
		v.driver = cmp.Or(v.driver, driver)
		v.pv = cmp.Or(v.pv, plain(cmp.Or(v.handle, v.claim)))
		v.claim = cmp.Or(v.claim, "default/"+plain(v.pv))
		v.size = cmp.Or(v.size, "1Gi")
		if len(v.modes) == 0 {
			v.modes = []any{"ReadWriteOnce"}
		}
		if v.handle == "" {
			v.handle = v.pv
		}
	}
	if len(s.cast.nodes) == 0 {
		s.cast.nodes["node-a"] = true
	}
}

// plain turns a text into a name of Kubernetes.
func plain(text string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
	return strings.Trim(name[:min(len(name), 60)], "-")
}

// nodes returns the nodes. A node with an older kubelet than the newest one has the version of its
// kubelet.
func (s *Story) nodes() (all []map[string]any) {
	newest := s.newestRelease()
	for _, name := range slices.Sorted(maps.Keys(s.cast.nodes)) {
		node := map[string]any{"name": name}
		if runs := s.cast.kubelet[name]; runs != 0 && runs < newest {
			node["kubernetes"] = max(runs, newest-mostSkew).String()
		}
		all = append(all, node)
	}
	return all
}

// mostSkew bounds the number of minor versions by which a kubelet may be older than the control
// plane.
const mostSkew = 3

// newestRelease returns the newest release of the kubelets. It serves as the control plane's
// release, which the logs lack. If no release is known, it is csisim's.
func (s *Story) newestRelease() version.Version {
	if len(s.cast.kubelet) == 0 {
		return version.Newest
	}
	return slices.Max(slices.Collect(maps.Values(s.cast.kubelet)))
}

// rpcsOf returns the RPCs of calls to a driver, including those that only messages show.
func (s *Story) rpcsOf(driver string) map[string]bool {
	called := maps.Clone(s.cast.methods[driver])
	if called == nil {
		called = map[string]bool{}
	}
	for _, a := range s.script.all {
		called[a.method] = called[a.method] || a.driver == driver || a.driver == ""
	}
	return called
}

// mock describes the driver by the calls that it got.
func (s *Story) mock(driver string) map[string]any {
	called := s.rpcsOf(driver)
	options := map[string]any{"strict": false}
	if called["NodePublishVolume"] && !called["NodeStageVolume"] && !called["NodeUnstageVolume"] {
		options["stage"] = false
	}
	for method, option := range map[string]string{ // in any order: options differ
		"ControllerExpandVolume": "controllerExpand", "NodeExpandVolume": "nodeExpand", "CreateSnapshot": "snapshot", "ListVolumes": "listVolumes", "NodeGetVolumeStats": "stats",
	} {
		if called[method] {
			options[option] = true
		}
	}
	var existing []map[string]any
	for _, v := range s.cast.all() {
		if !v.isNew && v.driver == driver {
			existing = append(existing, map[string]any{"id": v.handle})
		}
	}
	if existing != nil {
		options["existing"] = existing
	}
	s.snapshotOptions(driver, options)
	return options
}

// givenObjects returns the objects before the first step: classes, and existing volumes.
func (s *Story) givenObjects() (all []map[string]any) {
	for _, namespace := range s.namespaces() {
		all = append(all, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace}})
	}
	seen := map[string]bool{}
	for _, v := range s.cast.all() {
		class := v.className()
		if !seen[class] {
			seen[class] = true
			all = append(all, s.class(class, v.driver))
		}
		switch {
		case v.isNew:
		case s.Command != nil:
			all = append(all, v.claimObject(v.claimSpec(class)))
		default:
			all = append(all, s.static(v)...)
		}
	}
	return append(append(all, s.snapshotClasses()...), s.groupClasses()...)
}

// class returns a StorageClass, with the parameters that a real driver needs.
func (s *Story) class(name, driver string) map[string]any {
	class := map[string]any{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": map[string]any{"name": name}, "provisioner": driver, "allowVolumeExpansion": true,
	}
	if parameters := fields.At(s.cast.classes[name], "parameters"); s.Command != nil && parameters != nil {
		class["parameters"] = parameters
	}
	return class
}

func (s *Story) namespaces() []string {
	found := map[string]bool{}
	for _, v := range s.cast.all() {
		namespace, _, _ := strings.Cut(v.claim, "/")
		found[namespace] = true
	}
	for _, p := range s.cast.ordered() {
		namespace, _, _ := strings.Cut(p.name, "/")
		found[namespace] = true
	}
	s.cast.snapshotNamespaces(found)
	delete(found, "default")
	return slices.Sorted(maps.Keys(found))
}

func (v *volume) className() string { return cmp.Or(v.class, "imported") }

// larger returns a size above that of the volume.
func (v *volume) larger() string {
	size, err := resource.ParseQuantity(v.size)
	if err != nil {
		return "2Gi"
	}
	size.Add(size)
	return size.String()
}

// static returns a PersistentVolume for an existing volume, and its claim.
func (s *Story) static(v *volume) []map[string]any {
	namespace, claim, _ := strings.Cut(v.claim, "/")
	pv := map[string]any{
		"capacity": map[string]any{"storage": v.size}, "accessModes": v.modes, "persistentVolumeReclaimPolicy": "Retain", "storageClassName": v.className(),
		"claimRef": map[string]any{"namespace": namespace, "name": claim}, "csi": map[string]any{"driver": v.driver, "volumeHandle": v.handle},
	}
	of := v.claimSpec(v.className())
	of["volumeName"] = v.pv
	if v.mode != "" {
		pv["volumeMode"] = v.mode
	}
	meta := map[string]any{"name": v.pv}
	if v.deleted > 0 {
		pv["persistentVolumeReclaimPolicy"] = "Delete"
		meta["annotations"] = map[string]any{"pv.kubernetes.io/provisioned-by": v.driver}
	}
	return []map[string]any{
		{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta, "spec": pv},
		v.claimObject(of),
	}
}

// claimObject returns the claim of a volume, with the labels by which groups select it.
func (v *volume) claimObject(spec map[string]any) map[string]any {
	namespace, name, _ := strings.Cut(v.claim, "/")
	meta := map[string]any{"name": name, "namespace": namespace}
	if v.selectors != nil {
		meta["labels"] = v.selectors
	}
	return map[string]any{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": meta, "spec": spec}
}

func (v *volume) claimSpec(class string) map[string]any {
	spec := map[string]any{"accessModes": v.modes, "resources": map[string]any{"requests": map[string]any{"storage": v.size}}, "storageClassName": class}
	if v.mode != "" {
		spec["volumeMode"] = v.mode
	}
	if source := v.dataSource(); source != nil && v.isNew {
		spec["dataSource"] = source
	}
	return spec
}

// manifest returns the object of a pod.
func (p *pod) manifest() map[string]any {
	namespace, name, _ := strings.Cut(p.name, "/")
	var mounts, devices, volumes []any
	for i, v := range p.volumes {
		_, claim, _ := strings.Cut(v.claim, "/")
		volume := fmt.Sprintf("data-%d", i)
		volumes = append(volumes, map[string]any{"name": volume, "persistentVolumeClaim": map[string]any{"claimName": claim}})
		if v.mode == "Block" {
			devices = append(devices, map[string]any{"name": volume, "devicePath": "/dev/" + volume})
		} else {
			mounts = append(mounts, map[string]any{"name": volume, "mountPath": "/" + volume})
		}
	}
	container := map[string]any{"name": "main", "image": "registry.local/sleep:1"}
	if mounts != nil {
		container["volumeMounts"] = mounts
	}
	if devices != nil {
		container["volumeDevices"] = devices
	}
	spec := map[string]any{"containers": []any{container}, "volumes": volumes}
	if p.node != "" {
		spec["nodeSelector"] = map[string]any{"kubernetes.io/hostname": p.node}
	}
	return map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": name, "namespace": namespace}, "spec": spec}
}

// rounded renders a duration for a step.
func rounded(d time.Duration) string {
	if d > 10*time.Second {
		return d.Round(time.Second).String()
	}
	return d.Round(time.Millisecond).String()
}
