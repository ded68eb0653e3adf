package diff

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/csisim/csisim/internal/world/trace"
)

// call is one CSI call.
type call struct {
	line         int // among the compared lines
	number       int // among all calls of the trace, from 0
	at, ended    int64
	caller, node string // node also names the target node of a controller's call
	method, code string
	volume       string // key of its volume; empty if it has none
	request      map[string]any
	heldUp       bool // by a fault
	doubled      bool // the second of a double call
	repeated     bool // after a conflict between two controllers
	capabilities int  // NodeGetCapabilities before it
}

const (
	doubleCallWithin  = 150 // ms
	nodeCapabilities  = "Node/NodeGetCapabilities"
	nodeGetInfo       = "Node/NodeGetInfo"
	oneRound          = 2_000 // ms until all drivers of a node are registered
	controllerPublish = "Controller/ControllerPublishVolume"
	deleteVolume      = "Controller/DeleteVolume"
	volumeGroups      = "volumegroup."
)

// periodic calls occur when their loop fires.
var periodic = map[string]bool{"Node/NodeGetVolumeStats": true, "Controller/ListVolumes": true}

// teardown are the calls that end the use of a volume, even of a volume from before the trace.
var teardown = map[string]bool{
	"Node/NodeUnpublishVolume": true, "Node/NodeUnstageVolume": true,
	"Controller/ControllerUnpublishVolume": true, deleteVolume: true,
}

func (s *side) call(i, number int, l trace.Line) {
	c := &call{line: i, number: number, at: l.T, ended: l.T + l.Ms, caller: l.From, node: l.Node, method: strings.TrimPrefix(l.M, "csi.v1."), code: l.Code}
	switch {
	case s.records && !strings.HasPrefix(l.From, "csi-addons-"):
		s.allow(Bystanders, "")
		return
	case l.M == "Identity/Probe":
		s.allow(Probe, "")
		return
	case l.Code == "Unavailable" && strings.HasPrefix(l.Msg, "connection error"):
		s.allow(NotReached, "")
		return
	case periodic[l.M]:
		s.allow(PeriodicCalls, "")
	}
	if node := text(l.Req, "node_id"); c.node == "" {
		c.node = node
	}
	c.volume = s.names.volumeOf(l.Req)
	if leftOver(c.volume) && teardown[l.M] {
		s.allow(LeftOver, "")
		return
	}
	if c.volume == "" && strings.HasPrefix(l.M, volumeGroups) {
		c.volume = "groups" // their controller does not wait for the controller of replications
	}
	c.heldUp = l.Inj != ""
	c.request = s.normalFields(l.Req)
	s.calls = append(s.calls, c)
}

// outcome returns the usual spelling of the code.
func (c *call) outcome() string {
	if c.code == "" {
		return "OK"
	}
	return c.code
}

func (c *call) String() string {
	text := path.Base(c.method)
	if c.node != "" {
		text += " " + c.node
	}
	return text + " " + c.outcome()
}

func (c *call) same(other *call) bool { return c.alike(other) && c.code == other.code }

// alike calls are equal except, perhaps, for their result.
func (c *call) alike(other *call) bool {
	return c.method == other.method && c.node == other.node && c.caller == other.caller
}

// series are the calls of one caller for one volume or, for calls without a volume, for one node.
type series struct{ volume, caller, node string }

// ordered sorts the calls into series and marks the second of two equal calls. It counts capability
// calls together with the call that follows them.
func (s *side) ordered(abridged bool) map[series][]*call {
	all := map[series][]*call{}
	pending := map[string]int{}
	for _, c := range s.calls {
		if abridged && !s.abridged && asksOnly(c.method) {
			s.allow(Abridged, "")
			continue
		}
		on := series{c.volume, c.caller, c.node}
		switch {
		case c.method == nodeCapabilities && c.code == "" && !s.records:
			pending[c.node]++
			continue
		case c.caller == "kubelet":
			c.capabilities, pending[c.node] = pending[c.node], 0
		case c.caller != "registrar":
			on.node = ""
		}
		if periodic[c.method] {
			continue
		}
		earlier := all[on]
		c.doubled = len(earlier) > 0 && isDouble(earlier[len(earlier)-1], c)
		c.repeated = isRepeated(earlier, c)
		all[on] = append(earlier, c)
	}
	for _, on := range sortedSeries(all) {
		s.inOneOrder(all[on])
	}
	return all
}

// callerGone reports whether the codes of a call differ because its caller was killed.
func callerGone(a, b *call) bool {
	return (a.code == "Canceled" || b.code == "Canceled") && a.heldUp && b.heldUp
}

// ofBystander reports whether a NodeGetInfo that only one trace has belongs to a driver without a
// part in the scenario. Such a call is one of several in the same round. If the trace does not name
// the drivers, the driver must be one that changes nothing.
func (d *comparison) ofBystander(s *side, calls []*call, i int) bool {
	c := calls[i]
	switch {
	case c.method != nodeGetInfo:
		return false
	case s.abridged:
		return !slices.ContainsFunc(s.changes, func(change *change) bool {
			return change.object.resource == "csinodes" && c.at <= change.at && change.at < c.at+oneRound
		})
	case !s.bystanderOn(c.node, d.plays()):
		return false
	}
	return slices.ContainsFunc(calls, func(other *call) bool {
		apart := other.at - c.at
		return other != c && other.method == nodeGetInfo && -oneRound < apart && apart < oneRound
	})
}

// asksOnly reports whether a call only queries the identity or the capabilities of the driver.
func asksOnly(method string) bool {
	return strings.HasPrefix(method, "Identity/") || strings.HasSuffix(method, "GetCapabilities")
}

func isDouble(first, second *call) bool {
	return (second.method == controllerPublish || second.method == deleteVolume) &&
		first.same(second) && !first.doubled && second.at-first.at <= doubleCallWithin
}

// matched is a call in both traces.
type matched struct{ a, b *call }

// compareCalls compares the calls. It returns the calls that both traces have, by series.
func (d *comparison) compareCalls() map[series][]matched {
	a, b := d.a.ordered(d.b.abridged), d.b.ordered(d.a.abridged)
	pairs := map[series][]matched{}
	for _, on := range union(a, b, func(x, y series) int {
		return cmp.Or(cmp.Compare(x.volume, y.volume), cmp.Compare(x.caller, y.caller), cmp.Compare(x.node, y.node))
	}) {
		pairs[on] = d.compareSeries(on, a[on], b[on])
	}
	d.compareCallers(pairs)
	d.compareCapabilities(pairs)
	return pairs
}

func (d *comparison) compareSeries(on series, a, b []*call) (pairs []matched) {
	alone := func(calls []*call) func(int) float64 {
		return func(i int) float64 {
			if calls[i].doubled || calls[i].repeated {
				return 0.25
			}
			return 1
		}
	}
	rows := align(len(a), len(b), costs{
		pair: func(i, j int) float64 {
			switch {
			case a[i].same(b[j]):
				return 0
			case a[i].alike(b[j]):
				return 1.5
			default:
				return 9
			}
		},
		onlyA: alone(a), onlyB: alone(b),
	})
	shown := d.callRows(rows, a, b)
	for i, row := range rows {
		switch {
		case row.a >= 0 && row.b >= 0:
			d.compared(Calls)
			pairs = append(pairs, matched{a[row.a], b[row.b]})
			switch {
			case a[row.a].same(b[row.b]):
			case callerGone(a[row.a], b[row.b]):
				d.allow(CallerGone)
			default:
				d.differ(Calls, on.String(), "the result code of "+path.Base(a[row.a].method), shown, i)
			}
		case row.a >= 0 && d.ofBystander(d.a, a, row.a), row.b >= 0 && d.ofBystander(d.b, b, row.b):
			d.allow(Bystanders)
		case row.a >= 0 && a[row.a].doubled, row.b >= 0 && b[row.b].doubled:
			d.allow(DoubleCall)
		case row.a >= 0 && a[row.a].repeated, row.b >= 0 && b[row.b].repeated:
			d.allow(ConflictRepeat)
		case row.a >= 0:
			d.differ(Calls, on.String(), path.Base(a[row.a].method)+" is only in A", shown, i)
		default:
			d.differ(Calls, on.String(), path.Base(b[row.b].method)+" is only in B", shown, i)
		}
	}
	return pairs
}

func (s series) String() string {
	switch {
	case s.volume == "" && s.node != "":
		return s.caller + " on " + s.node
	case s.volume == "":
		return s.caller
	case s.node != "":
		return s.volume + ", " + s.caller + " on " + s.node
	default:
		return s.volume + ", " + s.caller
	}
}

func (d *comparison) callRows(rows []pair, a, b []*call) []Row {
	shown := sideBySide(rows, a, b, func(c *call) Cell { return Cell{c.at, c.String()} })
	for i, row := range rows {
		shown[i].Same = row.a >= 0 && row.b >= 0 && a[row.a].same(b[row.b])
	}
	return shown
}

// compareCallers compares the order of the calls of different callers for one volume.
func (d *comparison) compareCallers(pairs map[series][]matched) {
	byVolume := map[string][]matched{}
	for _, on := range sortedSeries(pairs) {
		if on.volume != "" {
			byVolume[on.volume] = append(byVolume[on.volume], pairs[on]...)
		}
	}
	for _, volume := range sortedKeys(byVolume) {
		all := byVolume[volume]
		slices.SortStableFunc(all, func(x, y matched) int { return cmp.Compare(x.a.at, y.a.at) })
		for i := range all {
			for j := i + 1; j < len(all); j++ {
				d.compareOrder(volume, all[i], all[j])
			}
		}
	}
}

// compareOrder compares the order of two calls of different callers. In trace A, x precedes y.
func (d *comparison) compareOrder(volume string, x, y matched) {
	if x.a.caller == y.a.caller && x.a.node == y.a.node || x.b.at <= y.b.at {
		return
	}
	if min(y.a.at-x.a.at, x.b.at-y.b.at) <= together {
		d.allow(Together)
		return
	}
	d.differ(Calls, volume, path.Base(x.a.method)+" and "+path.Base(y.a.method)+" come in another order", []Row{
		{A: cell(x.a.at, x.a.String()), B: cell(y.b.at, y.b.String())},
		{A: cell(y.a.at, y.a.String()), B: cell(x.b.at, x.b.String())},
	}, 0)
}

// compareCapabilities compares how often the kubelet requested capabilities before each call. For
// overlapping operations it compares only the sums.
func (d *comparison) compareCapabilities(pairs map[series][]matched) {
	if d.a.abridged || d.b.abridged {
		if d.a.abridged != d.b.abridged {
			d.allow(Abridged)
		}
		return
	}
	type tally struct{ a, b int }
	byNode := map[string]tally{}
	var unequal []matched
	for _, on := range sortedSeries(pairs) {
		for _, m := range pairs[on] {
			sum := byNode[m.a.node]
			byNode[m.a.node] = tally{sum.a + m.a.capabilities, sum.b + m.b.capabilities}
			if m.a.capabilities != m.b.capabilities {
				unequal = append(unequal, m)
			}
		}
	}
	for _, m := range unequal {
		if sum := byNode[m.a.node]; sum.a == sum.b {
			d.allow(Capabilities)
			continue
		}
		d.differ(Calls, cmp.Or(m.a.volume, m.a.node), "NodeGetCapabilities before "+path.Base(m.a.method), []Row{
			{A: cell(m.a.at, strconv.Itoa(m.a.capabilities)+"×"), B: cell(m.b.at, strconv.Itoa(m.b.capabilities)+"×")},
		}, 0)
	}
}

func sortedSeries[V any](m map[series]V) []series {
	return union(m, nil, func(x, y series) int {
		return cmp.Or(cmp.Compare(x.volume, y.volume), cmp.Compare(x.caller, y.caller), cmp.Compare(x.node, y.node))
	})
}
