package main

import (
	"context"
	"fmt"
	"strings"

	planning "github.com/csisim/csisim/cmd/internal/plan"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/sim"
)

// plan prints how scenarios would run on a real cluster, and changes nothing.
func plan(ctx context.Context, env environment, f runFlags, scenarios []*scenario.Scenario) error {
	refused := false
	for i, s := range scenarios {
		if i > 0 {
			fmt.Fprintln(env.stdout)
		}
		p, err := planning.New(ctx, s, f.onFlags.target(env, f.keep, f.workDir))
		if err != nil {
			return err
		}
		fmt.Fprint(env.stdout, p)
		refused = refused || len(p.Refused()) > 0
	}
	if refused {
		return reported(exitInput)
	}
	return nil
}

// refusal returns the reason why a scenario cannot run on a real cluster; nil if it can.
func refusal(s *scenario.Scenario, f onFlags) error {
	var reasons []string
	for _, p := range s.Promote(promotion.TargetOptions{On: f.on, NodeImage: f.nodeImage}) {
		if p.Never != "" {
			reasons = append(reasons, fmt.Sprintf("%s:%d: %s: %s", s.File, p.Line, p.What, p.Never))
		}
	}
	if len(reasons) == 0 {
		return nil
	}
	return &sim.ConfigError{Subject: "scenario " + s.Name, Problem: "it cannot be promoted to a real cluster (--plan shows all of it):\n  " + strings.Join(reasons, "\n  ")}
}

// warnings prints warnings before a run.
func warnings(env environment, s *scenario.Scenario) {
	for _, p := range s.Promote(promotion.TargetOptions{}) {
		if p.Warning != "" {
			fmt.Fprintf(env.stderr, "csisim: %s:%d: %s: %s\n", s.File, p.Line, p.What, p.Warning)
		}
	}
}
