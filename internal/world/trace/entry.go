package trace

import (
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime"
)

// Entry is an [Event] that is to be recorded, with all fields beside each other.
type Entry struct {
	Seq                                   uint64 // the recorder's, if it records the entry
	Cause                                 uint64 // if it is 0, the recorder's
	At                                    time.Duration
	Cluster                               string // the recorder's, if it records the entry
	Kind                                  Kind
	Actor, Node, Driver, Method, Resource string
	Name, Message                         string
	Request, Response                     proto.Message
	Code                                  string
	Took                                  time.Duration
	Injected                              string
	Effect                                Effect
	Change                                string
	Old, New                              runtime.Object
	Detail                                any
}

// Event is the entry as an event that shares nothing with others.
func (e Entry) Event() *Event {
	whole := &struct { // in one piece: there are many
		event    Event
		site     Site
		exchange Exchange
		diff     Diff
	}{e.event(), e.site(), e.exchange(), e.diff()}
	event := &whole.event
	event.Site, event.Exchange, event.Diff = &whole.site, &whole.exchange, &whole.diff
	return event
}

// newChange is room for a change, in one piece but for an exchange, which few have.
func newChange() *Event {
	whole := &struct {
		event Event
		site  Site
		diff  Diff
	}{}
	whole.event.Site, whole.event.Diff = &whole.site, &whole.diff
	return &whole.event
}

// keepExchange gives an event that has none the exchange of its entry, if that has one.
func (e *Event) keepExchange(of *Entry) {
	if exchange := of.exchange(); exchange != *noExchange {
		kept := exchange // so that only what is kept is allocated
		e.Exchange = &kept
	}
}

// event lacks what is behind pointers.
func (e *Entry) event() Event {
	return Event{Seq: e.Seq, Cause: e.Cause, At: e.At, Name: e.Name, Message: e.Message, Detail: e.Detail}
}

func (e *Entry) site() Site {
	return Site{e.Cluster, e.Kind, e.Actor, e.Node, e.Driver, e.Method, e.Resource}
}

func (e *Entry) exchange() Exchange {
	return Exchange{e.Request, e.Response, e.Code, e.Took, e.Injected, e.Effect}
}

func (e *Entry) diff() Diff { return Diff{e.Change, e.Old, e.New} }

// Of the events that have none.
var (
	noExchange = &Exchange{}
	noDiff     = &Diff{}
)

// sites are those that the events of a recorder share, by method and node: few differ in nothing but the rest.
type sites map[place]*sharedSite

type place struct{ method, node string }

type sharedSite struct {
	Site
	next *sharedSite // at the same place
}

func (s sites) shared(site Site) *Site {
	at := place{site.Method, site.Node}
	for known := s[at]; known != nil; known = known.next {
		if known.Site == site {
			return &known.Site
		}
	}
	s[at] = &sharedSite{site, s[at]}
	return &s[at].Site
}
