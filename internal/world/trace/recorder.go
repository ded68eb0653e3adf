package trace

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Clock returns the virtual time since the start of the run, and links an event to its cause.
type Clock interface {
	Elapsed() time.Duration
	Mark(seq uint64) (cause uint64)
}

// Recorder keeps the events of a run, or of one of its clusters, and passes them to the sinks of
// the run.
type Recorder struct {
	*tape
	clock   Clock
	cluster string      // empty if the run has only one cluster
	others  []*Recorder // of the run's clusters
	// KeepChanges limits how many changes of objects, files and containers, and how many choices,
	// are kept in memory. All calls, events, steps and others are kept. Sinks receive everything.
	// Default: 4,000.
	KeepChanges int

	sites     sites
	events    []*Event
	changes   passing
	choices   passing
	calls     passing
	keepCalls int                 // 0: all
	holes     int                 // places of dropped changes and choices
	last      map[*Site]*Exchange // equal calls share one
	shown     uint64              // a caller may hold the events up to this Seq
	room      []*Event            // memory of dropped changes that were never returned
}

// NewRecorder returns an empty recorder.
func NewRecorder(clock Clock) *Recorder {
	return newRecorder(clock, "", &tape{open: map[*Event]bool{}})
}

func newRecorder(clock Clock, cluster string, t *tape) *Recorder {
	return &Recorder{tape: t, clock: clock, cluster: cluster, KeepChanges: 4_000, sites: sites{}, last: map[*Site]*Exchange{}}
}

// Of returns the recorder of one of the run's clusters. Its events have the cluster's name, share
// numbers and sinks with the run, and also belong to the Events of this recorder.
func (r *Recorder) Of(cluster string) *Recorder {
	other := newRecorder(r.clock, cluster, r.tape)
	r.others = append(r.others, other)
	return other
}

// fewEvents is the number of events up to which they share nothing, because finding equal parts
// costs more than storing so few events.
const fewEvents = 1_000

// areFew reports whether the next event shares nothing with others.
func (r *Recorder) areFew() bool { return len(r.events) < fewEvents }

// Add records a complete event.
func (r *Recorder) Add(e Entry) *Event {
	event := r.sited(&e)
	event.keepExchange(&e)
	if diff := e.diff(); diff != *noDiff {
		kept := diff // only a stored diff is allocated
		event.Diff = &kept
	}
	return r.add(event)
}

// Note records an action of a scenario, a user or an administrator.
func (r *Recorder) Note(node, format string, args ...any) {
	r.Add(Entry{Kind: FaultFired, Node: node, Message: fmt.Sprintf(format, args...)})
}

// sited returns the event of an entry, without exchange and diff. The first few events have
// separate sites.
func (r *Recorder) sited(e *Entry) *Event {
	var event *Event
	if r.areFew() {
		whole := &struct { // in one piece
			event Event
			site  Site
		}{e.event(), r.site(e)}
		event = &whole.event
		event.Site = &whole.site
	} else {
		kept := e.event()
		event, kept.Site = &kept, r.sites.shared(r.site(e))
	}
	event.Exchange, event.Diff = noExchange, noDiff
	return event
}

func (r *Recorder) site(e *Entry) Site {
	site := e.site()
	site.Cluster = r.cluster
	return site
}

func (r *Recorder) add(e *Event) *Event {
	r.append(e)
	r.flush()
	return e
}

// passing holds the events of one sort. Only the newest of them are kept.
type passing struct {
	kept   int
	oldest int // there is no older one
}

// AddChoice records a decision of the strategy. In an exploring run these are most of the events,
// and each has little content.
func (r *Recorder) AddChoice(text string, c Choice) {
	r.add(&Event{Site: r.sites.shared(Site{Cluster: r.cluster, Kind: ChoiceMade}), Exchange: noExchange, Diff: noDiff, Message: text, Detail: c})
}

// AddChange records the change of an object, a file or a container. There are many, and most are
// soon dropped, so their memory is reused.
func (r *Recorder) AddChange(e Entry) {
	var kept *Event
	if n := len(r.room); n > 0 {
		kept, r.room = r.room[n-1], r.room[:n-1]
	} else {
		kept = newChange()
	}
	site, diff := kept.Site, kept.Diff
	*site, *diff = r.site(&e), e.diff()
	*kept = e.event()
	kept.Site, kept.Exchange, kept.Diff = site, noExchange, diff
	kept.keepExchange(&e)
	r.add(kept)
}

// Begin records an event without its outcome. End completes it.
func (r *Recorder) Begin(e Entry) *Event {
	event := r.begun(e)
	if len(r.sinks) > 0 {
		r.open[event] = true
	}
	return r.add(event)
}

func (r *Recorder) begun(e Entry) *Event {
	if r.areFew() {
		whole := &struct { // in one piece
			event    Event
			site     Site
			exchange Exchange
		}{e.event(), r.site(&e), e.exchange()}
		event := &whole.event
		event.Site, event.Exchange, event.Diff = &whole.site, &whole.exchange, noDiff
		return event
	}
	event, exchange := e.event(), e.exchange()
	event.Site, event.Exchange, event.Diff = r.sites.shared(r.site(&e)), &exchange, noDiff
	return &event
}

// End completes an event recorded by Begin.
func (r *Recorder) End(e *Event) {
	delete(r.open, e)
	e.Took = r.clock.Elapsed() - e.At
	if !r.areFew() {
		r.shareExchange(e)
	}
	r.clock.Mark(e.Seq)
	r.flush()
}

func (r *Recorder) shareExchange(e *Event) {
	if last := r.last[e.Site]; last != nil && *last == *e.Exchange {
		e.Exchange = last
	} else {
		r.last[e.Site] = e.Exchange
	}
}

// Close completes the open events and passes them to the sinks.
func (r *Recorder) Close() {
	for _, e := range r.queue {
		if r.open[e] {
			delete(r.open, e)
			e.Took = r.clock.Elapsed() - e.At
			if e.Code == "" {
				e.Code, e.Message = "Unfinished", "the run ended before the call did"
			}
		}
	}
	r.flush()
}

func (r *Recorder) append(e *Event) {
	r.seq++
	e.Seq = r.seq
	if e.Kind != ChoiceMade {
		r.action = r.seq
	}
	e.At = r.clock.Elapsed()
	if cause := r.clock.Mark(e.Seq); e.Cause == 0 {
		e.Cause = cause
	}
	r.events = append(r.events, e)
	if len(r.sinks) > 0 {
		r.queue = append(r.queue, e)
	}
	if sort := r.passing(e); sort != nil {
		sort.kept++
		if limit := r.limit(sort); sort.kept > limit+limit/4 {
			r.forget(sort, limit)
		}
	}
}

// LimitCalls keeps, from now on, only the given number of calls, requests and Kubernetes events,
// and drops older ones. Otherwise, a long-lived cluster would fill the memory with them.
func (r *Recorder) LimitCalls(number int) {
	r.keepCalls, r.calls = number, passing{}
	for _, e := range r.events {
		if e != nil && e.isCall() {
			r.calls.kept++
		}
	}
}

// passing returns the sort of an event that may be dropped; nil for an event that is kept.
func (r *Recorder) passing(e *Event) *passing {
	switch {
	case e.isChange():
		return &r.changes
	case e.Kind == ChoiceMade:
		return &r.choices
	case r.keepCalls > 0 && e.isCall():
		return &r.calls
	}
	return nil
}

// limit bounds the events of a sort that are kept.
func (r *Recorder) limit(sort *passing) int {
	if sort == &r.calls {
		return r.keepCalls
	}
	return r.KeepChanges
}

// forget drops the oldest events of a sort beyond a limit. It leaves holes, which are closed when
// there are many of them, or when the events are read.
func (r *Recorder) forget(sort *passing, limit int) {
	for ; sort.kept > limit; sort.oldest++ {
		if e := r.events[sort.oldest]; e != nil && r.passing(e) == sort {
			if len(r.sinks) == 0 && e.Seq > r.shown && sort == &r.changes {
				r.room = append(r.room, e)
			}
			r.events[sort.oldest] = nil
			sort.kept--
			r.holes++
		}
	}
	if r.holes > len(r.events)/4 {
		r.closeHoles()
	}
}

func (r *Recorder) closeHoles() {
	kept, sorts := r.events[:0], [...]*passing{&r.changes, &r.choices, &r.calls}
	var before [len(sorts)]int // the holes before the oldest event of each sort
	for i, e := range r.events {
		if e != nil {
			kept = append(kept, e)
			continue
		}
		for k, sort := range sorts {
			if i < sort.oldest {
				before[k]++
			}
		}
	}
	clear(r.events[len(kept):])
	r.events = kept
	for k, sort := range sorts {
		sort.oldest -= before[k]
	}
	r.holes = 0
}

// Events returns the kept events in the order of their Seq.
func (r *Recorder) Events() []*Event {
	r.shown = r.seq
	if r.holes > 0 {
		r.closeHoles()
	}
	if len(r.others) > 0 {
		return r.merged()
	}
	return r.events
}

// merged returns the events of the run and of all its clusters.
func (r *Recorder) merged() []*Event {
	all := slices.Clone(r.events)
	for _, other := range r.others {
		all = append(all, other.Events()...)
	}
	slices.SortFunc(all, func(a, b *Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return all
}
