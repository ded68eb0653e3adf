package play

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/world/trace"
)

// look counts the files that the driver opens in calls of growing duration: during the life of one
// more volume at the smallest and at the largest level. A look that does not complete leaves the
// result unchanged.
func (o Options) look(ctx context.Context, build Build, r *load.Result) error {
	growing := r.Growing()
	if len(growing) == 0 {
		return nil
	}
	first, last := r.Compared()
	for _, volumes := range []int{first.Volumes, last.Volumes} {
		opened, err := o.lookAt(ctx, build, volumes)
		if stuck := (*Stuck)(nil); errors.As(err, &stuck) || ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return fmt.Errorf("count the files that the driver opens, with %d volumes: %w", volumes, err)
		}
		for _, method := range growing {
			if files := opened[method]; files != nil {
				r.Opened = append(r.Opened, load.Opened{Call: method, Volumes: volumes, Files: files})
			}
		}
	}
	return nil
}

// lookAt plays one more life at a level, and returns the files that the driver opened, by call.
func (o Options) lookAt(ctx context.Context, build Build, volumes int) (opened map[string]map[string]int, err error) {
	p := &player{Options: o, Build: build, record: load.NewRecord(), run: &load.Run{}, level: &load.Level{Volumes: volumes}}
	p.Progress = nil
	l := &looker{}
	if p.Cluster, err = build.Start(ctx, volumes, true, l.Sink); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	defer context.AfterFunc(ctx, func() { p.Interrupt(context.Cause(ctx)) })()
	if o.Progress != nil {
		o.Progress(volumes, 1, "files that the driver opens")
	}
	if err := p.upAtOnce(); err != nil {
		return nil, err
	}
	l.cluster, l.before, l.opened = p.Cluster, p.Opened(), map[string]map[string]int{}
	if err := p.begin(); err != nil {
		return nil, err
	}
	if err := p.allRun(); err != nil {
		return nil, err
	}
	return l.opened, p.end(p.alive[len(p.alive)-1:])
}

// looker assigns the files that a driver opens to its calls, which are sequential.
type looker struct {
	cluster Cluster // nil while it is not counting
	before  map[string]int
	opened  map[string]map[string]int
}

// Sink receives the events of the cluster.
func (l *looker) Sink(e *trace.Event) {
	if e.Kind != trace.Call || l.cluster == nil {
		return
	}
	now := l.cluster.Opened()
	files := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if n := now[name] - l.before[name]; n > 0 {
			files[name] = n
		}
	}
	l.opened[path.Base(e.Method)], l.before = files, now
}
