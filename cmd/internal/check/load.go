package check

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/load/play"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// Load composes a load on the driver. sidecars are flags of its sidecars in YAML, by the name of
// the sidecar. The error is a *sim.ConfigError if the driver lacks a capability that the shape
// needs.
func (f *Facts) Load(ctx context.Context, plan load.Plan, sidecars string, o RunOptions) (sim.LoadOptions, error) {
	loaded := sim.LoadOptions{Plan: plan}
	if lack := f.lacksFor(plan.Shape); lack != "" {
		return loaded, &sim.ConfigError{Subject: "a load of the shape " + string(plan.Shape), Problem: lack}
	}
	s := &script{facts: f}
	if plan.Shape == load.Snapshot {
		s.apply(snapshotClass{})
	}
	subject := f.subject
	text, err := subject.withSidecars(sidecars)
	if err != nil {
		return loaded, err
	}
	objects := s.objects()
	text = "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n" + subject.clusterYAML(plan.Nodes) + "drivers:\n" + text + "steps: [{settle: {}}]\n"
	if objects != "" {
		text += "objects:\n" + objects
	}
	composed, err := scenario.Parse("load.yaml", []byte(text))
	if err != nil {
		return loaded, f.misfit(err, sidecars)
	}
	loaded.Cluster, loaded.Objects = composed.Loaded(ctx, o.scenarioOptions())
	if plan.Shape == load.Snapshot {
		class, err := f.decoded(snapshotClass{})
		if err != nil {
			return loaded, err
		}
		loaded.Objects = append(loaded.Objects, class...)
	}
	loaded.Workload, err = f.workload(plan.Shape)
	return loaded, err
}

// withSidecars returns the driver as an entry of a scenario's drivers, with further flags of its
// sidecars in YAML.
func (s Subject) withSidecars(flags string) (string, error) {
	text, err := s.driverYAML()
	if err != nil || flags == "" {
		return text, err
	}
	var drivers []map[string]any
	if err := yaml.Unmarshal([]byte(text), &drivers); err != nil {
		return "", fmt.Errorf("describe the driver: %w", err)
	}
	var given map[string]map[string]any
	if err := yaml.Unmarshal([]byte(flags), &given); err != nil {
		return "", &sim.ConfigError{Subject: "--sidecar", Problem: fmt.Sprintf("%q is not YAML such as 'csi-provisioner: {kubeAPIQPS: 50}'", flags)}
	}
	sidecars, _ := drivers[0]["sidecars"].(map[string]any)
	if sidecars == nil {
		sidecars = map[string]any{}
		drivers[0]["sidecars"] = sidecars
	}
	for name, more := range given {
		own, _ := sidecars[name].(map[string]any)
		if own == nil {
			own = map[string]any{}
		}
		maps.Copy(own, more)
		sidecars[name] = own
	}
	merged, err := yaml.Marshal(drivers)
	return string(merged), err
}

// misfit is the mistake in flags of sidecars, or in the flags that describe the driver.
func (f *Facts) misfit(err error, sidecars string) error {
	mistakes, is := err.(strict.Problems)
	if !is {
		return err
	}
	_, mistake, _ := strings.Cut(mistakes[0].Error(), ": ")
	subject := "the driver"
	if strings.Contains(mistake, "sidecars") || sidecars != "" {
		subject = "--sidecar"
	}
	return &sim.ConfigError{Subject: subject, Problem: mistake}
}

// lacksFor returns the capability that a shape needs and the driver lacks; empty if it has all.
func (f *Facts) lacksFor(shape load.Shape) string {
	switch {
	case shape == load.Snapshot && !f.Snapshots():
		return "the driver takes no snapshots: it has no CREATE_DELETE_SNAPSHOT"
	case shape == load.Expand && !f.Expands():
		return "the driver expands no volumes: it has no EXPAND_VOLUME"
	case (shape == load.Snapshot || shape == load.Expand) && !f.Persistent():
		return "the driver has inline volumes only"
	case shape == load.Block && f.NoDevices != "":
		return "this machine has " + f.NoDevices
	case shape == load.Block && f.Refused[Kind{block, f.subject.access(oneNodeRW)}] != "":
		return "the driver makes no raw block volumes: " + f.Refused[Kind{block, f.subject.access(oneNodeRW)}]
	case shape == load.Move && f.subject.oneNode():
		return "the driver's plugins serve one node"
	case shape == load.Move && f.Topology() && !f.OnePlace():
		return "the driver's volumes cannot leave their node: it has VOLUME_ACCESSIBILITY_CONSTRAINTS, and the topology of each node is different"
	case shape == load.Restart && !f.subject.ours():
		return "csisim does not start the driver, and cannot restart it"
	case f.NoMounts != "":
		return f.NoMounts
	}
	return ""
}

// Fits returns the levels of a plan that fit on the nodes, and a note if some level does not fit.
func (f *Facts) Fits(plan load.Plan) (levels []int, note string) {
	most := int(f.MaxVolumes) * plan.Nodes
	if f.MaxVolumes == 0 || plan.Volumes[len(plan.Volumes)-1] <= most {
		return plan.Volumes, ""
	}
	for _, n := range plan.Volumes {
		if n < most {
			levels = append(levels, n)
		}
	}
	return append(levels, most), fmt.Sprintf("NodeGetInfo allows %s on a node, so %s: more nodes take more volumes (--nodes)",
		plural.Of(int(f.MaxVolumes), "volume"), plural.Of(most, "volume")+" on "+plural.Of(plan.Nodes, "node")+" are the largest level")
}

// Existing describes the volumes of a load on a driver that creates none; empty for other drivers.
func (f *Facts) Existing() string {
	if f.Provisions() || !f.Persistent() {
		return ""
	}
	return "the driver makes no volumes, so the load has PersistentVolumes of existing ones (--handle); for inline volumes add --lifecycle Ephemeral"
}

// OneNode reports whether only one node can have a plugin of the driver.
func (f *Facts) OneNode() bool { return f.subject.oneNode() }

// workload is the life of one volume of a load.
func (f *Facts) workload(shape load.Shape) (*play.Template, error) {
	c := claim{name: play.Name, form: filesystem, access: oneNodeRW}
	if shape == load.Block {
		c.form = block
	}
	p := pod{name: play.Name, node: play.Node, claims: []claim{c}}
	var claims []store.Object
	var err error
	if f.Persistent() {
		claims, err = f.decoded(c)
	} else {
		p.claims, p.scratch = nil, []scratch{{name: play.Name}}
	}
	if err != nil {
		return nil, err
	}
	pods, err := f.decoded(p)
	if err != nil {
		return nil, err
	}
	snapshots, err := f.decoded(snapshot{play.Name, c})
	if err != nil {
		return nil, err
	}
	return play.NewTemplate(claims, pods[0], snapshots[0])
}

// decoded reads the manifest of an object that csisim composes.
func (f *Facts) decoded(m manifester) (all []store.Object, err error) {
	objects, problems := manifest.DecodeText(strict.Source{File: "load.yaml", Text: []byte(m.manifest(f))})
	if len(problems) > 0 {
		return nil, fmt.Errorf("compose the objects of a load: %w", problems)
	}
	for _, o := range objects {
		all = append(all, o.Object.(store.Object))
	}
	return all, nil
}
