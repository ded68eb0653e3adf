package component

import (
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Informers are what a controller watches. One process runs them: it handles the events of each source in turn, until
// none is left.
type Informers struct {
	// News is what the process waits for then: "changes of jobs and their pods".
	News string
	// First is what the process waits for before it opens the sources behind the first one: "the first job". Their
	// objects mean nothing before, and are many. Default: all are opened at once.
	First   string
	Sources []Source
}

// Source is one kind of objects that a controller watches.
type Source struct {
	open func(c *Component, p *kernel.Process) informer
}

// informer is a source that is open.
type informer struct {
	waiting func() int
	drain   func()
}

// On handles the events of the objects of a type.
func On[T store.Object](handle func(store.Event[T])) Source {
	return Source{func(c *Component, p *kernel.Process) informer {
		w := Watch[T](c, p)
		return informer{w.Len, func() {
			for w.Len() > 0 { // of most sources there is no news
				e, _ := w.Next()
				handle(e)
			}
		}}
	}}
}

// OnAny calls handle once for any number of events of the objects of a type: that something has changed is all that
// counts. A nil function is for objects that are looked up in the cache, and whose changes are no news.
func OnAny[T store.Object](handle func()) Source {
	return Source{func(c *Component, p *kernel.Process) informer {
		w := Watch[T](c, p)
		return informer{w.Len, func() {
			if w.Len() == 0 {
				return
			}
			w.Drop()
			if handle != nil {
				handle()
			}
		}}
	}}
}

// Inform runs informers in a process of their own.
func (c *Component) Inform(i Informers) {
	c.Go("informers", func(p *kernel.Process) { c.RunInformers(p, i) })
}

// RunInformers runs informers in a process of the component, as the last thing that it does. What handles an event does not
// give way.
func (c *Component) RunInformers(p *kernel.Process, i Informers) {
	open := append(make([]informer, 0, len(i.Sources)), i.Sources[0].open(c, p))
	var drain func(*kernel.Process)
	drain = func(p *kernel.Process) {
		for _, informer := range open {
			informer.drain()
		}
		p.React(i.News, drain)
	}
	var begin func(*kernel.Process)
	begin = func(p *kernel.Process) {
		if i.First != "" && open[0].waiting() == 0 {
			p.React(i.First, begin)
			return
		}
		for _, source := range i.Sources[1:] {
			open = append(open, source.open(c, p))
		}
		drain(p)
	}
	begin(p)
}

// Resync has informers deliver everything again at each period since the process began. While nothing waits for that it
// does not happen: deliver need only queue what waits.
func Resync(p *kernel.Process, news string, period time.Duration, waits func() bool, deliver func()) {
	began := p.Elapsed()
	for {
		p.Wait(news, waits)
		at := began + ((p.Elapsed()-began)/period+1)*period
		for p.IdleUntil("resync of the informers", at) {
		}
		deliver()
	}
}
