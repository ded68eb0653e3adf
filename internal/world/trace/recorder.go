package trace

import "time"

// Clock gives a recorder the virtual time since the run began, and lets it link
// an event to the one that caused it.
type Clock interface {
	Elapsed() time.Duration
	Mark(seq uint64) (cause uint64)
}

// Sink receives events in the order of their Seq, each once and complete.
type Sink func(*Event)

// Recorder keeps the events of a run and hands them to its sinks.
type Recorder struct {
	clock Clock
	// KeepChanges bounds how many changes of objects, files and containers are kept in
	// memory, and how many choices; calls, events, steps and the rest are always kept.
	// Sinks see everything. Default: 4,000.
	KeepChanges int

	seq     uint64
	sites   sites
	events  []*Event
	changes passing
	choices passing
	holes   int // where changes and choices were forgotten
	sinks   []Sink
	queue   []*Event // not yet handed to the sinks: an earlier call is still open
	open    map[*Event]bool
	last    map[*Site]*Exchange // calls of one kind that say the same share one
	shown   uint64              // somebody may hold on to the events up to this Seq
	room    []*Event            // of changes that were forgotten and never shown
}

// NewRecorder returns an empty recorder.
func NewRecorder(clock Clock) *Recorder {
	return &Recorder{clock: clock, KeepChanges: 4_000, sites: sites{}, open: map[*Event]bool{}, last: map[*Site]*Exchange{}}
}

// To adds a sink that sees all events from now on.
func (r *Recorder) To(s Sink) { r.sinks = append(r.sinks, s) }

// Add records an event that is complete.
func (r *Recorder) Add(e Entry) *Event {
	event := e.event()
	event.Site, event.Exchange, event.Diff = r.sites.shared(e.site()), noExchange, noDiff
	if exchange := e.exchange(); exchange != *noExchange {
		event.Exchange = &exchange
	}
	if diff := e.diff(); diff != *noDiff {
		event.Diff = &diff
	}
	return r.add(&event)
}

func (r *Recorder) add(e *Event) *Event {
	r.append(e)
	r.flush()
	return e
}

// passing is the events of one sort of which only the newest are kept.
type passing struct {
	kept   int
	oldest int // none stands before it
}

// AddChoice records a decision of the strategy. In a run that explores these are most of
// what is recorded, and they say little.
func (r *Recorder) AddChoice(text string, c Choice) {
	r.add(&Event{Site: r.sites.shared(Site{Kind: ChoiceMade}), Exchange: noExchange, Diff: noDiff, Message: text, Detail: c})
}

// AddChange records the change of an object, a file or a container. There are many, and
// most are soon forgotten: their room is used again.
func (r *Recorder) AddChange(e Entry) {
	var kept *Event
	if n := len(r.room); n > 0 {
		kept, r.room = r.room[n-1], r.room[:n-1]
	} else {
		kept = Entry{}.Event()
	}
	site, exchange, diff := kept.Site, kept.Exchange, kept.Diff
	*site, *exchange, *diff = e.site(), e.exchange(), e.diff()
	*kept = e.event()
	kept.Site, kept.Exchange, kept.Diff = site, exchange, diff
	r.add(kept)
}

// Begin records an event whose outcome is not known yet. End completes it.
func (r *Recorder) Begin(e Entry) *Event {
	event, exchange := e.event(), e.exchange()
	event.Site, event.Exchange, event.Diff = r.sites.shared(e.site()), &exchange, noDiff
	r.open[&event] = true
	return r.add(&event)
}

// End completes an event recorded by Begin.
func (r *Recorder) End(e *Event) {
	delete(r.open, e)
	e.Took = r.clock.Elapsed() - e.At
	if last := r.last[e.Site]; last != nil && *last == *e.Exchange {
		e.Exchange = last
	} else {
		r.last[e.Site] = e.Exchange
	}
	r.clock.Mark(e.Seq)
	r.flush()
}

// Close completes what is still open and hands it to the sinks.
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
		if sort.kept > r.KeepChanges+r.KeepChanges/4 {
			r.forget(sort)
		}
	}
}

// passing is the sort of an event that may be forgotten, nil for those that are kept.
func (r *Recorder) passing(e *Event) *passing {
	switch {
	case e.isChange():
		return &r.changes
	case e.Kind == ChoiceMade:
		return &r.choices
	}
	return nil
}

// forget drops the oldest of a sort beyond KeepChanges. The holes that they leave
// are closed when there are many, or when somebody looks.
func (r *Recorder) forget(sort *passing) {
	for ; sort.kept > r.KeepChanges; sort.oldest++ {
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
	kept, changes, choices := r.events[:0], 0, 0
	for i, e := range r.events {
		if e != nil {
			kept = append(kept, e)
			continue
		}
		if i < r.changes.oldest {
			changes++
		}
		if i < r.choices.oldest {
			choices++
		}
	}
	clear(r.events[len(kept):])
	r.events = kept
	r.changes.oldest -= changes
	r.choices.oldest -= choices
	r.holes = 0
}

func (r *Recorder) flush() {
	for len(r.queue) > 0 && !r.open[r.queue[0]] {
		e := r.queue[0]
		r.queue[0] = nil
		r.queue = r.queue[1:]
		for _, s := range r.sinks {
			s(e)
		}
	}
}

// Events are the events kept so far, in the order of their Seq.
func (r *Recorder) Events() []*Event {
	r.shown = r.seq
	if r.holes > 0 {
		r.closeHoles()
	}
	return r.events
}

// Last is the Seq of the newest event.
func (r *Recorder) Last() uint64 { return r.seq }
