package cluster

import (
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
)

// chance makes the strategy choose faults of a space at calls and API writes, until the budget is
// spent.
type chance struct {
	kernel            *kernel.Kernel
	wire              *wire.Wire
	faults            Faults
	left              int
	space             fault.Space
	atCalls           map[effect.Called]alternatives
	versioned, others []string // outcomes of writes; the first one is normal
}

// alternatives are faults and their names. The first alternative is no fault.
type alternatives struct {
	faults []*fault.Fault
	names  []string
}

// noFault is the name of the calm alternative.
const noFault = "no fault"

func alternativesOf(faults []*fault.Fault) alternatives {
	a := alternatives{faults, make([]string, 1, 1+len(faults))}
	a.names[0] = noFault
	for _, f := range faults {
		a.names = append(a.names, f.Name)
	}
	return a
}

// DrawFaults makes the run's strategy choose faults. For an empty space it does not call the
// strategy.
func DrawFaults(w *component.World, to *wire.Wire, s fault.Space, at Faults) {
	d := &chance{
		kernel: w.Kernel, wire: to, faults: at,
		left: s.Budget, space: s, atCalls: map[effect.Called]alternatives{}, versioned: outcomes(s, true), others: outcomes(s, false),
	}
	if len(effect.AtCall(s, effect.Called{OnNode: true, Watched: true, Served: true, Versioned: true})) > 0 {
		to.Chance = d
	}
	if len(d.versioned) > 1 {
		w.Chance = d
	}
}

// outcomes returns the possible outcomes of a write.
func outcomes(s fault.Space, versioned bool) []string {
	names := []string{noFault}
	if s.Has(fault.API) {
		if versioned {
			names = append(names, string(component.Conflicts))
		}
		names = append(names, string(component.Refused), string(component.Unanswered))
	}
	if s.Has(fault.Crashed) {
		names = append(names, string(component.DiesFirst), string(component.DiesAfter))
	}
	return names
}

// AtCall draws a fault for a call.
func (d *chance) AtCall(call fault.Site, watched bool, label string) *fault.Fault {
	among := d.among(call, watched)
	i := d.draw(kernel.Fault, label, among.names)
	if i == 0 {
		return nil
	}
	f := *among.faults[i-1]
	return &f
}

// among returns the alternatives at a call.
func (d *chance) among(call fault.Site, watched bool) alternatives {
	called := effect.Called{OnNode: call.Node != "", Watched: watched, Served: d.faults.HasService(call.Driver, call.Node), Versioned: d.space.Has(fault.Upgrades) && d.faults.HasVersions(call.Driver)}
	called.Unmounts = called.OnNode && (strings.HasSuffix(call.Method, "/NodeUnpublishVolume") || strings.HasSuffix(call.Method, "/NodeUnstageVolume"))
	among, known := d.atCalls[called]
	if !known {
		among = alternativesOf(effect.AtCall(d.space, called))
		d.atCalls[called] = among
	}
	return among
}

// AtWrite draws the outcome of a write.
func (d *chance) AtWrite(w component.Write) component.Outcome {
	if d.left == 0 || w.Kind.Resource == "leases" || d.faults.ProgramOf(w.Component) == "" {
		return component.Served
	}
	among := d.others
	if w.CanConflict() {
		among = d.versioned
	}
	if i := d.draw(kernel.Outcome, w.String(), among); i > 0 {
		return component.Outcome(among[i])
	}
	return component.Served
}

func (d *chance) draw(kind kernel.ChoiceKind, label string, names []string) int {
	if d.left == 0 || len(names) == 1 {
		return 0
	}
	i := d.kernel.ChooseNamed(kind, label, names)
	if i > 0 {
		d.left--
	}
	return i
}

// Kill kills the program of a component.
func (d *chance) Kill(c *component.Component) {
	d.wire.KillAndRestart(&fault.Fault{Victim: d.faults.ProgramOf(c), RestartAfter: fault.RestartTime}, wire.Site{Node: c.Node}, "a write of "+c.Name)
}
