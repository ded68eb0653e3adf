// Package plan describes the run of a scenario on a real cluster in advance.
package plan

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/sim"
)

// Plan describes the run of a scenario on a real cluster.
type Plan struct {
	scenario   *scenario.Scenario
	options    promotion.TargetOptions
	all        []scenario.Promotion
	deployment *promotion.Deployment // nil if the drivers cannot be deployed
	takes      time.Duration         // estimated by the simulation, in virtual time; 0 if unknown
}

// A run on a real cluster takes longer than the scenario alone. These are measured durations of the
// additional work. In order: creating kind's three nodes, deploying the drivers (the simulation
// contains a part of this), deploying a driver by its own manifests, a boot until the driver is
// registered again, each further pod, and removing everything at the end.
const (
	makesCluster = 50 * time.Second
	makesDrivers = 4 * time.Second
	makesOwn     = 30 * time.Second
	makesBoot    = 35 * time.Second
	makesPod     = 3 * time.Second
	makesQuiet   = time.Second
)

// New plans a run. It simulates the scenario to determine its duration.
func New(ctx context.Context, s *scenario.Scenario, o promotion.TargetOptions) (*Plan, error) {
	p := &Plan{scenario: s, options: o, all: s.Promote(o)}
	if len(p.Refused()) > 0 {
		return p, nil
	}
	_, isKind := o.IsKind()
	var err error
	if p.deployment, err = promotion.Deploy(ctx, s.Subject(), deploy.Options{Proxy: "token", ControlPlane: isKind, Images: o.Images}); err != nil {
		return nil, err
	}
	result, err := scenario.Run(ctx, s, scenario.RunOptions{Isolation: sim.Auto})
	if err == nil && result.Exit == scenario.Passed {
		p.takes = result.VirtualTime
	}
	return p, ctx.Err()
}

// Refused returns the reasons why the scenario cannot run there.
func (p *Plan) Refused() (all []scenario.Promotion) {
	for _, one := range p.all {
		if one.Never != "" {
			all = append(all, one)
		}
	}
	return all
}

// String formats the plan for readers.
func (p *Plan) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s on %s, nodes %s\n", p.scenario.Name, p.target(), strings.Join(p.scenario.NodeNames(), ", "))
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, one := range p.all {
		what := "→ " + one.Becomes
		if one.Never != "" {
			what = "✗ " + one.Never
		}
		fmt.Fprintf(table, "  %s:%d\t%s\t%s\n", p.scenario.File, one.Line, short(one.What), what)
		if one.Warning != "" {
			fmt.Fprintf(table, "\t\t! %s\n", one.Warning)
		}
	}
	_ = table.Flush() // a Builder never fails
	if refused := p.Refused(); len(refused) > 0 {
		fmt.Fprintf(&out, "It cannot be promoted: a real cluster has no place for %d of its parts.\n", len(refused))
		return out.String()
	}
	p.drivers(&out)
	p.time(&out)
	return out.String()
}

// maxWhat bounds the shown part of a step's title.
const maxWhat = 44

func short(text string) string {
	if runes := []rune(text); len(runes) > maxWhat {
		return string(runes[:maxWhat]) + "…"
	}
	return text
}

func (p *Plan) target() string {
	name, isKind := p.options.IsKind()
	switch {
	case !isKind:
		return "the cluster of " + p.options.On
	case name != "":
		return "the kind cluster " + name
	}
	return "a kind cluster that is made and deleted"
}

func (p *Plan) drivers(out *strings.Builder) {
	for _, d := range p.deployment.Drivers {
		if d.Own != nil {
			p.own(out, d)
			continue
		}
		fmt.Fprintf(out, "Driver %s: a recording proxy before every plugin; beside the controller plugin %s.\n", d.Name, orNothing(d.Sidecars))
	}
	var built []string
	for _, i := range p.deployment.Built {
		built = append(built, i.Names...)
	}
	if name, isKind := p.options.IsKind(); isKind && name == "" {
		fmt.Fprintf(out, "Image of the nodes: %s\n", promotion.NodeImage(p.scenario.Subject(), p.options))
	}
	if p.deployment.Snapshots {
		fmt.Fprintf(out, "The kinds of snapshots and %s, unless the cluster has them.\n", deploy.SnapshotController)
	}
	fmt.Fprintf(out, "Images made here: %s\nImages from this machine's engine or a registry: %s\n", orNothing(built), orNothing(p.deployment.Pulled))
}

// own describes how a driver's own manifests are applied.
func (p *Plan) own(out *strings.Builder, d deploy.Driver) {
	fmt.Fprintf(out, "Driver %s: its own manifests, %d objects; csisim labels them, and puts recording proxies into the pods:\n", d.Name, len(d.Own.Objects()))
	for _, line := range d.Own.Plugins() {
		fmt.Fprintf(out, "  %s\n", line)
	}
	fmt.Fprintln(out, "  (each container has a directory of its own for the driver's socket; processes are shared in the pod, so that the driver can be ended)")
	if unknown := p.scenario.Unsimulated(); len(unknown) > 0 {
		fmt.Fprintf(out, "  The simulation does not have: %s\n", strings.Join(unknown, ", "))
	}
}

func orNothing(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

func (p *Plan) time(out *strings.Builder) {
	if p.takes == 0 {
		fmt.Fprintln(out, "Time: not known, as the simulation of it fails.")
		return
	}
	takes := p.takes + makesDrivers + makesQuiet + time.Duration(p.scenario.Boots())*makesBoot + time.Duration(p.scenario.AdditionalPods())*makesPod
	if slices.ContainsFunc(p.deployment.Drivers, func(d deploy.Driver) bool { return d.Own != nil }) {
		takes += makesOwn
	}
	fmt.Fprintf(out, "Time: about %v", takes.Round(time.Second))
	if name, isKind := p.options.IsKind(); isKind && name == "" {
		fmt.Fprintf(out, ", and %v for the cluster", makesCluster)
	}
	fmt.Fprintln(out, ".")
}
