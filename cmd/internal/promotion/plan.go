package promotion

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/csisim/csisim/cmd/internal/deploy"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/sim"
)

// Plan is what a scenario becomes on a real cluster.
type Plan struct {
	scenario   *scenario.Scenario
	options    TargetOptions
	all        []scenario.Promotion
	deployment *Deployment   // nil if the drivers cannot be deployed
	takes      time.Duration // of the simulation, in virtual time; 0 if it is not known
}

// What a run takes beside the scenario's own time, as seen: kind's three nodes; images, drivers and their registration;
// the quiet at the end and taking all away.
const (
	makesCluster = 50 * time.Second
	makesDrivers = 8 * time.Second
	makesQuiet   = 6 * time.Second
)

// NewPlan plans a run. It runs the scenario as a simulation, to learn how long it takes.
func NewPlan(ctx context.Context, s *scenario.Scenario, o TargetOptions) (*Plan, error) {
	p := &Plan{scenario: s, options: o, all: s.Promote()}
	if len(p.Refused()) > 0 {
		return p, nil
	}
	_, isKind := o.IsKind()
	var err error
	if p.deployment, err = Deploy(ctx, s, deploy.Options{Proxy: "token", ControlPlane: isKind, Images: o.Images}); err != nil {
		return nil, err
	}
	result, err := scenario.Run(ctx, s, scenario.RunOptions{Isolation: sim.Auto})
	if err == nil && result.Exit == scenario.Passed {
		p.takes = result.VirtualTime
	}
	return p, ctx.Err()
}

// Refused are the reasons for which the scenario cannot run there.
func (p *Plan) Refused() (all []scenario.Promotion) {
	for _, one := range p.all {
		if one.Never != "" {
			all = append(all, one)
		}
	}
	return all
}

// String is the plan for its reader.
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
	_ = table.Flush() // a Builder takes everything
	if refused := p.Refused(); len(refused) > 0 {
		fmt.Fprintf(&out, "It cannot be promoted: %d of its parts have no place on a real cluster.\n", len(refused))
		return out.String()
	}
	p.drivers(&out)
	p.time(&out)
	return out.String()
}

// maxWhat is how much of a step's title is shown.
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
		fmt.Fprintf(out, "Driver %s: a recording proxy before every plugin; beside the controller plugin %s.\n", d.Name, orNothing(d.Sidecars))
	}
	var built []string
	for _, i := range p.deployment.Built {
		built = append(built, i.Names...)
	}
	fmt.Fprintf(out, "Images made here: %s\nImages from this machine's engine or a registry: %s\n", orNothing(built), orNothing(p.deployment.Pulled))
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
	fmt.Fprintf(out, "Time: about %v", (p.takes + makesDrivers + makesQuiet).Round(time.Second))
	if name, isKind := p.options.IsKind(); isKind && name == "" {
		fmt.Fprintf(out, ", and %v for the cluster", makesCluster)
	}
	fmt.Fprintln(out, ".")
}
