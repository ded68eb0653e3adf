package load

import (
	"fmt"
	"maps"
	"reflect"
	"strings"
)

// Share returns the part of a plan for one of several shards, with the index counted from 0: its
// share of the volumes of each level, on separate nodes.
func (p Plan) Share(index, shards int) Plan {
	p.Shard, p.Shards = index, shards
	var volumes []int
	for _, n := range p.Volumes {
		share := n / shards
		if index < n%shards {
			share++
		}
		volumes = append(volumes, share)
	}
	p.Whole, p.Volumes = p.Volumes, volumes
	p.Nodes = max(p.leastNodes(), (p.Nodes+shards-1)/shards)
	return p
}

// Merge combines the results of all shards of a load. The shards worked in parallel. Their calls
// are combined, and a phase ends with the last shard's phase.
func Merge(results []*Result) (*Result, error) {
	if len(results) == 0 {
		return nil, fmt.Errorf("there is no result")
	}
	first := results[0]
	shards := make([]bool, max(1, first.Plan.Shards))
	merged := *first
	merged.Levels = nil
	merged.Plan.Volumes, merged.Plan.Whole, merged.Plan.Shard, merged.Plan.Shards, merged.Plan.Nodes = first.Plan.Whole, nil, 0, 0, 0
	for _, r := range results {
		if err := first.Plan.sameLoad(r.Plan); err != nil {
			return nil, err
		}
		if r.Plan.Shard >= len(shards) || shards[r.Plan.Shard] {
			return nil, fmt.Errorf("shard %d of %d is there twice", r.Plan.Shard, len(shards))
		}
		shards[r.Plan.Shard] = true
		merged.Plan.Nodes += r.Plan.Nodes
		if r != first {
			merged.Notes = append(merged.Notes, r.Notes...)
		}
		if r.Ended != "" && r != first {
			merged.Ended = strings.TrimPrefix(merged.Ended+"; "+r.Ended, "; ")
		}
	}
	for i, there := range shards {
		if !there {
			merged.Notes = append(merged.Notes, fmt.Sprintf("shard %d of %d is missing: its volumes are not in this result", i, len(shards)))
		}
	}
	for i, volumes := range merged.Plan.Volumes {
		level := Level{Volumes: volumes}
		for number := range merged.Plan.Runs {
			if run, ok := together(results, i, number); ok {
				level.Runs = append(level.Runs, run)
			}
		}
		if len(level.Runs) > 0 {
			merged.Levels = append(merged.Levels, level)
		}
	}
	return &merged, nil
}

// sameLoad returns the difference between a plan and the plan of another shard of the same load.
func (p Plan) sameLoad(other Plan) error {
	if p.Shards == 0 || other.Shards == 0 {
		return fmt.Errorf("a result is that of a whole load, not of a shard")
	}
	a, b := p, other
	for _, one := range []*Plan{&a, &b} {
		one.Shard, one.Nodes, one.Volumes, one.Limit = 0, 0, nil, 0
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("the results are shards of different loads: %+v and %+v", a, b)
	}
	return nil
}

// together joins a run of all shards.
func together(results []*Result, level, number int) (whole Run, found bool) {
	whole.Calls = map[string]*Calls{}
	for _, r := range results {
		if level >= len(r.Levels) || number >= len(r.Levels[level].Runs) {
			continue
		}
		found = true
		whole.add(r.Levels[level].Runs[number], fmt.Sprintf("shard %d, ", r.Plan.Shard))
	}
	return whole, found
}

func (r *Run) add(other Run, shard string) {
	for i, p := range other.Phases {
		if i == len(r.Phases) {
			r.Phases = append(r.Phases, p)
			continue
		}
		own := &r.Phases[i]
		own.Took, own.Real, own.CPU = max(own.Took, p.Took), max(own.Real, p.Real), own.CPU+p.CPU
		own.Ran, own.Delayed = own.Ran+p.Ran, own.Delayed+p.Delayed
	}
	for method, c := range other.Calls {
		if r.Calls[method] == nil {
			r.Calls[method] = &Calls{Failed: map[int]string{}, Messages: map[string]string{}}
		}
		r.Calls[method].add(c)
	}
	for i, s := range other.Stages {
		if i == len(r.Stages) {
			r.Stages = append(r.Stages, Stage{Name: s.Name})
		}
		own := &r.Stages[i]
		own.Took, own.Driver, own.Ended = append(own.Took, s.Took...), append(own.Driver, s.Driver...), append(own.Ended, s.Ended...)
	}
	for i, s := range other.Samples {
		if i == len(r.Samples) {
			r.Samples = append(r.Samples, Sample{At: s.At})
		}
		for _, u := range s.Programs {
			u.Plugin = shard + u.Plugin
			r.Samples[i].Programs = append(r.Samples[i].Programs, u)
		}
	}
	r.Starts, r.Died = append(r.Starts, other.Starts...), append(r.Died, other.Died...)
	if r.Stuck == "" {
		r.Stuck = other.Stuck
	}
}

func (c *Calls) add(other *Calls) {
	for i, code := range other.Failed {
		c.Failed[len(c.Took)+i] = code
	}
	maps.Copy(c.Messages, other.Messages)
	c.Began, c.Took = append(c.Began, other.Began...), append(c.Took, other.Took...)
}
