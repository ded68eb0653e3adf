package incident

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/incident/messages"
	"github.com/csisim/csisim/internal/incident/timeline"
)

// moment is a kind of event that causes an event elsewhere, or that an event elsewhere causes.
type moment int

const (
	attached moment = iota // kube-controller-manager: the volume is attached
	attachmentSeen
	unstaged // kubelet
	detachStarted
	callBegins // for the caller
	callReceived
	callAnswered // for the driver
	callEnds
)

// causes are pairs of moments. In each pair, the first moment is before the second.
var causes = [][2]moment{{attached, attachmentSeen}, {unstaged, detachStarted}, {callBegins, callReceived}, {callAnswered, callEnds}}

// momentsOf are the moments that messages of programs state.
var momentsOf = map[string]map[messages.Meaning]moment{
	"kube-controller-manager": {messages.Attached: attached, messages.DetachStarted: detachStarted},
	"kubelet":                 {messages.AttachmentSeen: attachmentSeen, messages.Unstaged: unstaged},
}

// subject groups events. The n-th event of one kind in a group causes the n-th event of the other
// kind.
type subject struct {
	kind moment
	of   string
}

// seen is an event in the time of its place's clock.
type seen struct {
	at   time.Time
	call int // the number of a driver's or kubelet's call; 0 for others
}

// pairs collects events that cause each other, to compare clocks.
type pairs struct {
	all   map[subject]map[timeline.Place][]seen
	calls int
}

// The limits of the collected events.
const (
	mostSubjects = 200_000
	mostSeen     = 1_000
)

func (p *pairs) note(kind moment, of string, at timeline.Place, s seen) {
	if p.all == nil {
		p.all = map[subject]map[timeline.Place][]seen{}
	}
	key := subject{kind, of}
	places := p.all[key]
	if places == nil {
		if len(p.all) >= mostSubjects {
			return
		}
		places = map[timeline.Place][]seen{}
		p.all[key] = places
	}
	if len(places[at]) < mostSeen {
		places[at] = append(places[at], s)
	}
}

// fact notes the moment that a message states.
func (p *pairs) fact(program string, f messages.Fact, node string, at time.Time, place timeline.Place) {
	kind, known := momentsOf[program][f.Means]
	volume := f.Fields["volume"]
	if on := f.Fields["node"]; on != "" {
		node = on
	}
	if known && volume != "" && node != "" {
		p.note(kind, volume+" "+node, place, seen{at: at})
	}
}

// matched calls do with each pair of places that have the same number of causes and effects.
func (p *pairs) matched(do func(cause, effect timeline.Place, before, after []seen, kinds [2]moment)) {
	for _, kinds := range causes {
		for key, causing := range p.all { // in any order: bounds and sets do not depend on it
			if key.kind != kinds[0] {
				continue
			}
			for from, before := range causing {
				for to, after := range p.all[subject{kinds[1], key.of}] {
					if from != to && len(before) == len(after) && len(before) < mostSeen {
						do(from, to, before, after, kinds)
					}
				}
			}
		}
	}
}

// bounds are the largest possible leads of one clock over another.
type bounds map[[2]string]time.Duration

func (b bounds) lower(of, over string, lead time.Duration) {
	key := [2]string{of, over}
	if known, ok := b[key]; !ok || lead < known {
		b[key] = lead
	}
}

// corrections returns the lead of each clock over the clock with the most bounds.
func (m *importing) corrections() (map[string]time.Duration, []Skew) {
	found := bounds{}
	m.pairs.matched(func(cause, effect timeline.Place, before, after []seen, _ [2]moment) {
		for i := range before {
			found.lower(m.places.clock(effect), m.places.clock(cause), after[i].at.Sub(before[i].at))
		}
	})
	reference := m.reference(found)
	by := map[string]time.Duration{}
	var skews []Skew
	for _, clock := range m.clocks() {
		if s, differs := found.skew(clock, reference); differs && clock != reference {
			by[clock] = s.By
			skews = append(skews, s)
		}
	}
	return by, skews
}

// clocks lists the clocks of all places.
func (m *importing) clocks() []string {
	names := map[string]bool{}
	for p := range m.places.all {
		names[m.places.clock(timeline.Place(p))] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// reference returns the clock to which most others can be compared.
func (m *importing) reference(found bounds) (best string) {
	count := map[string]int{}
	for key := range found { // in any order: they are counted
		count[key[0]]++
		count[key[1]]++
	}
	for _, clock := range m.clocks() {
		if count[clock] > count[best] {
			best = clock
		}
	}
	return best
}

// smallest is the smallest difference of clocks that is corrected.
const smallest = 200 * time.Millisecond

// skew returns the lead of a clock, between its bounds. It returns false if no lead is possible.
func (b bounds) skew(clock, reference string) (s Skew, differs bool) {
	s.Clock = clock
	upper, isUpper := b[[2]string{clock, reference}]
	lower, isLower := b[[2]string{reference, clock}]
	lower = -lower
	switch {
	case isUpper && upper < -smallest && isLower && lower <= upper, isLower && lower > smallest && isUpper && lower <= upper:
		s.By, s.Error = (lower+upper)/2, (upper-lower)/2
	case isUpper && upper < -smallest && !isLower:
		s.By, s.IsBound = upper, true
	case isLower && lower > smallest && !isUpper:
		s.By, s.IsBound = lower, true
	default:
		return s, false
	}
	s.By, s.Error = s.By.Round(time.Millisecond), s.Error.Round(time.Millisecond)
	return s, true
}

// copies returns the numbers of calls that are also in the other side's log. The kubelet's log has
// the least information.
func (p *pairs) copies() map[int]bool {
	dropped := map[int]bool{}
	p.matched(func(_, _ timeline.Place, before, after []seen, kinds [2]moment) {
		if kinds[0] != callBegins {
			return
		}
		for i, s := range before {
			dropped[cmp.Or(s.call, after[i].call)] = true
		}
	})
	return dropped
}
