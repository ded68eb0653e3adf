package load

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// Record collects the measurements of a run from the trace of its cluster. Its Sink may be one of
// the sinks of the cluster.
type Record struct {
	calls map[string]*Calls
	lives map[string]*life // lives, by their names
	pv    map[string]*life // lives, by the name of the volume's object
	id    map[string]*life // lives, by the id of the volume
	// early are the calls that create volumes, by the name of the volume, until an object contains
	// the name.
	early map[string]*life
	// pod maps the uid of a pod to its life. The uid is part of the target paths of inline volumes.
	pod map[string]*life
}

// life is the life of one volume: the times at which it reached its stages, and its calls.
type life struct {
	reached map[string]time.Duration
	calls   []span
}

type span struct{ from, to time.Duration }

// The stages of a life, in their order.
const (
	created     = "created"
	bound       = "bound"
	attached    = "attached"
	staged      = "staged"
	published   = "published"
	running     = "running"
	deleted     = "deleted"
	unpublished = "unpublished"
	unstaged    = "unstaged"
	detached    = "detached"
	gone        = "gone"
)

// ways are the stages up and down. The first stage of each is its start.
var ways = [][]string{
	{created, bound, attached, staged, published, running},
	{deleted, unpublished, unstaged, detached, gone},
}

// lifeNames matches the name of a life in the names of its objects.
var lifeNames = lazyregexp.New(`v\d{6,}`)

// NameOfLife returns the name of a life, which is part of the names of its objects.
func NameOfLife(number int) string { return fmt.Sprintf("v%06d", number) }

// LifeOf returns the name of the life to which an object belongs; empty for none.
func LifeOf(object string) string { return lifeNames().FindString(object) }

// NewRecord returns an empty record.
func NewRecord() *Record {
	r := &Record{}
	r.Reset()
	return r
}

// Reset forgets all measurements.
func (r *Record) Reset() {
	r.calls, r.lives = map[string]*Calls{}, map[string]*life{}
	r.pv, r.id, r.early, r.pod = map[string]*life{}, map[string]*life{}, map[string]*life{}, map[string]*life{}
}

// Begins records the start of a life, or the start of its end.
func (r *Record) Begins(name string, at time.Duration, ends bool) {
	if ends {
		r.life(name).reach(deleted, at)
		return
	}
	r.life(name).reach(created, at)
}

func (r *Record) life(name string) *life {
	l := r.lives[name]
	if l == nil {
		l = &life{reached: map[string]time.Duration{}}
		r.lives[name] = l
	}
	return l
}

// reach records the first time at which the volume reached a stage.
func (l *life) reach(stage string, at time.Duration) {
	if l == nil {
		return
	}
	if _, known := l.reached[stage]; !known {
		l.reached[stage] = at
	}
}

// again notes the last time.
func (l *life) again(stage string, at time.Duration) {
	if l != nil {
		l.reached[stage] = at
	}
}

// Sink receives the events of the cluster.
func (r *Record) Sink(e *trace.Event) {
	switch e.Kind {
	case trace.Call:
		r.call(e)
	case trace.API:
		r.change(e)
	}
}

func (r *Record) call(e *trace.Event) {
	method := path.Base(e.Method)
	c := r.calls[method]
	if c == nil {
		c = &Calls{Failed: map[int]string{}, Messages: map[string]string{}}
		r.calls[method] = c
	}
	if e.Code != "" {
		c.Failed[len(c.Took)] = e.Code
		if _, known := c.Messages[e.Code]; !known {
			c.Messages[e.Code] = e.Message
		}
	}
	c.Began = append(c.Began, micros(e.At))
	c.Took = append(c.Took, micros(e.Took))
	l := r.lifeOf(e)
	if l == nil {
		return
	}
	end := e.At + e.Took
	l.calls = append(l.calls, span{e.At, end})
	if e.Code != "" {
		return
	}
	switch method {
	case "NodeStageVolume":
		l.reach(staged, end)
	case "NodePublishVolume":
		l.reach(published, end)
	case "NodeUnpublishVolume":
		l.again(unpublished, end)
	case "NodeUnstageVolume":
		l.again(unstaged, end)
	}
}

// lifeOf returns the life of a call's volume; nil if the call names none.
func (r *Record) lifeOf(e *trace.Event) *life {
	switch request := e.Request.(type) {
	case *csi.CreateVolumeRequest:
		l := r.early[request.GetName()]
		if l == nil {
			l = &life{reached: map[string]time.Duration{}}
			r.early[request.GetName()] = l
		}
		if answer, ok := e.Response.(*csi.CreateVolumeResponse); ok {
			r.id[answer.GetVolume().GetVolumeId()] = l
		}
		return l
	case interface {
		GetVolumeId() string
		GetTargetPath() string
	}:
		if l := r.id[request.GetVolumeId()]; l != nil {
			return l
		}
		return r.inline(request.GetVolumeId(), request.GetTargetPath())
	case interface{ GetVolumeId() string }:
		return r.id[request.GetVolumeId()]
	}
	return nil
}

// inline returns the life with an inline volume, which no object names. It uses the pod in the
// target path.
func (r *Record) inline(id, target string) *life {
	_, rest, _ := strings.Cut(target, "/pods/")
	uid, _, _ := strings.Cut(rest, "/")
	l := r.pod[uid]
	if l != nil {
		r.id[id] = l
	}
	return l
}

// change follows the objects of the lives.
func (r *Record) change(e *trace.Event) {
	if e.New == nil {
		r.removal(e)
		return
	}
	switch o := e.New.(type) {
	case *corev1.PersistentVolumeClaim:
		if l := r.lives[LifeOf(o.Name)]; l != nil && o.Spec.VolumeName != "" && o.Status.Phase == corev1.ClaimBound {
			l.reach(bound, e.At)
			r.pv[o.Spec.VolumeName] = l
		}
	case *corev1.PersistentVolume:
		r.volume(o)
	case *storagev1.VolumeAttachment:
		if name := o.Spec.Source.PersistentVolumeName; name != nil && o.Status.Attached {
			r.pv[*name].reach(attached, e.At)
		}
	case *corev1.Pod:
		if l := r.lives[LifeOf(o.Name)]; l != nil {
			r.pod[string(o.UID)] = l
			if o.Status.Phase == corev1.PodRunning {
				l.reach(running, e.At)
			}
		}
	}
}

// volume assigns the calls that created a volume to the life of its claim.
func (r *Record) volume(o *corev1.PersistentVolume) {
	if o.Spec.ClaimRef == nil || o.Spec.CSI == nil {
		return
	}
	l := r.lives[LifeOf(o.Spec.ClaimRef.Name)]
	if l == nil || r.pv[o.Name] == l && r.id[o.Spec.CSI.VolumeHandle] == l {
		return
	}
	if e := r.id[o.Spec.CSI.VolumeHandle]; e != nil && e != l {
		l.calls = append(l.calls, e.calls...)
	}
	r.pv[o.Name], r.id[o.Spec.CSI.VolumeHandle] = l, l
	delete(r.early, o.Name)
}

func (r *Record) removal(e *trace.Event) {
	switch o := e.Old.(type) {
	case *storagev1.VolumeAttachment:
		if name := o.Spec.Source.PersistentVolumeName; name != nil {
			r.pv[*name].again(detached, e.At)
		}
	case *corev1.PersistentVolume:
		r.pv[o.Name].again(gone, e.At)
	}
}

// Into moves the measurements to a run, and starts from the beginning.
func (r *Record) Into(run *Run) {
	run.Calls = r.calls
	names := make([]string, 0, len(r.lives))
	for name := range r.lives {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, way := range ways {
		for i := range way[1:] {
			if stage := r.stage(way[:i+2], names); len(stage.Took) > 0 {
				run.Stages = append(run.Stages, stage)
			}
		}
	}
	r.Reset()
}

// stage measures the last of some stages: the time since the latest of the previous stages.
func (r *Record) stage(way []string, names []string) Stage {
	s := Stage{Name: way[len(way)-1]}
	for _, name := range names {
		l := r.lives[name]
		end, reached := l.reached[s.Name]
		if !reached {
			continue
		}
		var begin time.Duration
		for _, before := range way[:len(way)-1] {
			begin = max(begin, l.reached[before])
		}
		if begin > end {
			begin = end
		}
		s.Took = append(s.Took, micros(end-begin))
		s.Driver = append(s.Driver, micros(l.busy(begin, end)))
		s.Ended = append(s.Ended, micros(end))
	}
	return s
}

// busy returns the part of a period during which a call for the volume was in progress.
func (l *life) busy(from, to time.Duration) (sum time.Duration) {
	slices.SortFunc(l.calls, func(a, b span) int { return int(a.from - b.from) })
	at := from
	for _, c := range l.calls {
		begin, end := max(c.from, at), min(c.to, to)
		if end > begin {
			sum += end - begin
			at = end
		}
	}
	return sum
}
