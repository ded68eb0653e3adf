package trace

import (
	"time"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/runtime"
)

// Entry is an [Event] to be recorded, with all fields in one struct.
type Entry struct {
	Seq                                   uint64 // set by the recorder
	Cause                                 uint64 // if it is 0, the recorder sets it
	At                                    time.Duration
	Cluster                               string // set by the recorder
	Kind                                  Kind
	Actor, Node, Driver, Method, Resource string
	Name, Message                         string
	Request, Response                     proto.Message
	Code                                  string
	Took                                  time.Duration
	Injected                              string
	Effect                                Effect
	Release                               string
	Change                                string
	Old, New                              runtime.Object
	Detail                                any
}

// Event returns the entry as an event without shared parts.
func (e Entry) Event() *Event {
	whole := &struct { // one allocation, because there are many
		event    Event
		site     Site
		exchange Exchange
		diff     Diff
	}{e.event(), e.site(), e.exchange(), e.diff()}
	event := &whole.event
	event.Site, event.Exchange, event.Diff = &whole.site, &whole.exchange, &whole.diff
	return event
}

// newChange allocates a change in one piece, without an exchange, because few changes have one.
func newChange() *Event {
	whole := &struct {
		event Event
		site  Site
		diff  Diff
	}{}
	whole.event.Site, whole.event.Diff = &whole.site, &whole.diff
	return &whole.event
}

// keepExchange gives an event without an exchange the exchange of its entry, if the entry has one.
func (e *Event) keepExchange(of *Entry) {
	if exchange := of.exchange(); exchange != *noExchange {
		kept := exchange // only a stored exchange is allocated
		e.Exchange = &kept
	}
}

// event returns the event without its pointers.
func (e *Entry) event() Event {
	return Event{Seq: e.Seq, Cause: e.Cause, At: e.At, Name: e.Name, Message: e.Message, Detail: e.Detail}
}

func (e *Entry) site() Site {
	return Site{e.Cluster, e.Kind, e.Actor, e.Node, e.Driver, e.Method, e.Resource}
}

func (e *Entry) exchange() Exchange {
	return Exchange{e.Request, e.Response, e.Code, e.Took, e.Injected, e.Effect, e.Release}
}

func (e *Entry) diff() Diff { return Diff{e.Change, e.Old, e.New} }

// Events without an exchange or a diff share these.
var (
	noExchange = &Exchange{}
	noDiff     = &Diff{}
)

// sites are the shared sites of a recorder's events, by method and node, because few sites differ
// only in other fields.
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
