package scenario

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/load/play"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// Loaded returns the cluster of the scenario and its objects, for a load on its driver.
func (s *Scenario) Loaded(ctx context.Context, o RunOptions) (sim.Options, []store.Object) {
	return s.options(ctx, o, nil), stored(s.objects)
}

func stored(objects []object) (all []store.Object) {
	for _, o := range objects {
		all = append(all, o.Object.(store.Object))
	}
	return all
}

// Load returns the load that a scenario describes. The first step that applies copies of a file is
// the workload. Objects of earlier steps exist from the beginning. notes names all other steps. The
// error is a *sim.ConfigError if it has no such step.
func (s *Scenario) Load(ctx context.Context, o RunOptions) (loaded sim.LoadOptions, copies int, notes []string, err error) {
	loaded.Cluster, loaded.Objects = s.Loaded(ctx, o)
	for i, step := range s.Steps {
		apply, is := step.action.(*applyStep)
		if !is {
			notes = append(notes, fmt.Sprintf("steps[%d] of %s is no part of the load, which has its own course", i, s.File))
			continue
		}
		part := apply.copied()
		if part == nil {
			loaded.Objects = append(loaded.Objects, stored(apply.objects)...)
			continue
		}
		if rest := len(s.Steps) - i - 1; rest > 0 {
			notes = append(notes, fmt.Sprintf("the steps after steps[%d] of %s are no part of the load, which has its own course", i, s.File))
		}
		loaded.Workload, err = part.workload(filepath.Dir(s.File))
		return loaded, part.copies, notes, err
	}
	return loaded, 0, nil, noLoad(s, "no step applies copies of a file with the objects of one pod, such as apply: {file: pod.yaml, copies: 100}")
}

func noLoad(s *Scenario, problem string) error {
	return &sim.ConfigError{Subject: "a load of " + s.File, Problem: problem}
}

// copied returns the part that is copied; nil if there is none.
func (s *applyStep) copied() *manifestPart {
	for i := range s.parts {
		if s.parts[i].copies > 0 {
			return &s.parts[i]
		}
	}
	return nil
}

// workload makes a workload of the file. Its objects were checked when the scenario was read.
func (p *manifestPart) workload(dir string) (*play.Template, error) {
	path, data, err := p.text(dir)
	if err != nil {
		return nil, err
	}
	objects, problems := manifest.DecodeText(strict.Source{File: path, Text: bytes.ReplaceAll(data, []byte(copyNumber), []byte(play.Name))})
	if len(problems) > 0 {
		return nil, problems
	}
	var pod store.Object
	var claims []store.Object
	for _, o := range objects {
		switch is := o.Object.(type) {
		case *corev1.Pod:
			if pod != nil {
				return nil, &sim.ConfigError{Subject: "a load of " + path, Problem: "a copy has several pods, and wants one"}
			}
			pod = is
		default:
			claims = append(claims, o.Object.(store.Object))
		}
	}
	if pod == nil {
		return nil, &sim.ConfigError{Subject: "a load of " + path, Problem: "a copy has no pod, and a load measures how pods start and end"}
	}
	return play.NewTemplate(claims, pod, nil)
}
