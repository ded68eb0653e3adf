package component

import (
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Informers are the watches of a controller. One process runs them. It handles the events of each
// source in turn until none is left.
type Informers struct {
	// News names the events that the process waits for: "changes of jobs and their pods".
	News string
	// First names the first event of the first source, such as "the first job". The other sources
	// are opened only then, because their many objects have no meaning before. Default: all are
	// opened at once.
	First   string
	Sources []Source
}

// Source is one kind of objects that a controller watches.
type Source interface {
	open(v *store.View, wake func())
	Len() int
	// drain handles the queued events.
	drain()
}

// source is a Source that embeds its watch, since there are many.
type source[T store.Object] struct{ store.Watcher[T] }

func (s *source[T]) open(v *store.View, wake func()) {
	store.Open(v, &s.Watcher)
	s.OnEvent(wake)
}

type on[T store.Object] struct {
	source[T]
	handle func(store.Event[T])
}

func (s *on[T]) drain() {
	for s.Len() > 0 { // most sources have no events
		e, _ := s.Next()
		s.handle(e)
	}
}

type onAny[T store.Object] struct {
	source[T]
	handle func()
}

func (s *onAny[T]) drain() {
	if s.Len() == 0 {
		return
	}
	s.Drop()
	if s.handle != nil {
		s.handle()
	}
}

// On handles the events of the objects of a type.
func On[T store.Object](handle func(store.Event[T])) Source { return &on[T]{handle: handle} }

// OnAny calls handle once for any number of events about objects of a type, if it matters only that
// something has changed. A nil function means that the objects are only looked up in the cache.
func OnAny[T store.Object](handle func()) Source { return &onAny[T]{handle: handle} }

// Inform runs informers in a separate process.
func (c *Component) Inform(i Informers) {
	c.Go("informers", func(p *kernel.Process) { c.RunInformers(p, i) })
}

// RunInformers runs informers in a process of the component. It must be the last call of the
// process. Event handlers must not yield.
func (c *Component) RunInformers(p *kernel.Process, i Informers) {
	c.awaitSync(p)
	r := &running{Informers: i, cache: c.Cache, wake: p.Wake}
	r.goesOn = r.drain
	r.Sources[0].open(r.cache, r.wake)
	r.begin(p)
}

// running are informers with an open first source.
type running struct {
	Informers
	cache  *store.View
	wake   func()
	goesOn func(*kernel.Process) // the method drain as a function value, created once
}

func (r *running) begin(p *kernel.Process) {
	if r.First != "" && r.Sources[0].Len() == 0 {
		p.React(r.First, r.begin)
		return
	}
	for _, source := range r.Sources[1:] {
		source.open(r.cache, r.wake)
	}
	r.drain(p)
}

func (r *running) drain(p *kernel.Process) {
	for _, source := range r.Sources {
		source.drain()
	}
	p.React(r.News, r.goesOn)
}

// Resync makes informers deliver all objects again in each period since the start of the process.
// It skips periods in which waits returns false, so deliver only needs to queue waiting objects. It
// must be the last call of the process.
func Resync(p *kernel.Process, news string, period time.Duration, waits func() bool, deliver func()) {
	began := p.Elapsed()
	var resync func(*kernel.Process)
	resync = func(p *kernel.Process) {
		for waits() {
			at := began + ((p.Elapsed()-began)/period+1)*period
			for p.IdleUntil("resync of the informers", at) {
			}
			deliver()
		}
		p.Rest(news, resync)
	}
	resync(p)
}
