package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Replay takes named choices when they occur, and is calm otherwise.
type Replay struct {
	names   *named
	wanted  []Choice
	kinds   map[string]bool // kinds of the wanted choices; other kinds are ignored
	at      map[Choice]int  // index in wanted, by the choice without its alternative
	met     []bool
	unfit   map[int]string      // the reason, by the choice
	present map[string][]string // the decisions that occurred, by kind, each once
	taken   []Choice
	exact   *named // names for a replay that ignores uids; otherwise nil
}

// NewReplay returns the strategy that repeats the choices of a run.
func NewReplay(choices []Choice) *Replay {
	r := &Replay{names: newNamed(), wanted: choices, kinds: map[string]bool{}, at: map[Choice]int{}, met: make([]bool, len(choices)), unfit: map[int]string{}, present: map[string][]string{}}
	for i, c := range choices {
		c.Takes = ""
		r.at[c], r.kinds[c.Kind] = i, true
	}
	return r
}

// NewLooseReplay returns the strategy that repeats the choices of a run after its scenario has
// changed. Uids are numbered, so objects may have other uids now. Therefore uids in the names of
// choices are ignored.
func NewLooseReplay(choices []Choice) *Replay {
	loose := slices.Clone(choices)
	for i := range loose {
		loose[i] = loose[i].loose()
	}
	r := NewReplay(loose)
	r.exact = newNamed()
	return r
}

// loose returns the choice without the uids in its name. They are numbered, so they vary with the
// order.
func (c Choice) loose() Choice {
	c.Of = withoutUIDs(c.Of)
	return c
}

// Taken returns the choices that occurred and were taken, by their names in this run.
func (r *Replay) Taken() []Choice { return r.taken }

// Choose takes the choice if it is a wanted one.
func (r *Replay) Choose(c kernel.Choice) int {
	if !r.kinds[c.Kind.String()] {
		return 0
	}
	exact := Choice{}
	if r.exact != nil {
		d, nth := r.exact.next(c)
		exact = Choice{Kind: c.Kind.String(), Of: d.String(), At: d.instant(), Nth: nth}
		c.Label = withoutUIDs(c.Label)
	}
	d, nth := r.names.next(c)
	here := Choice{Kind: c.Kind.String(), Of: d.String(), At: d.instant(), Nth: nth}
	if nth == 1 {
		r.present[here.Kind] = append(r.present[here.Kind], here.Of)
	}
	w, ok := r.at[here]
	if !ok {
		return 0
	}
	r.met[w] = true
	i, ok := find(c, r.wanted[w].Takes)
	if !ok {
		r.unfit[w] = fmt.Sprintf("choice %d (%v): there is no %q, there are %s", w+1, r.wanted[w], r.wanted[w].Takes, alternatives(c))
		return 0
	}
	if i > 0 {
		taken := r.wanted[w]
		if r.exact != nil {
			exact.Takes = taken.Takes
			taken = exact
		}
		r.taken = append(r.taken, taken)
	}
	return i
}

func alternatives(c kernel.Choice) string {
	var all []string
	for i := range c.N {
		all = append(all, alternative(c, i))
	}
	return strings.Join(all, ", ")
}

func (r *Replay) String() string { return fmt.Sprintf("replay of %d choices", len(r.wanted)) }

func (c Choice) instant() string {
	if c.At == "" {
		return ""
	}
	return " at " + c.At
}

// Unfit describes, after the run, the first choice that did not fit, and the decisions that
// occurred instead. It is empty if all choices fitted.
func (r *Replay) Unfit() string {
	missed := 0
	for ; missed < len(r.wanted) && r.met[missed]; missed++ {
		if why, ok := r.unfit[missed]; ok {
			return why
		}
	}
	if missed == len(r.wanted) {
		return ""
	}
	c := r.wanted[missed]
	d := fmt.Sprintf("choice %d (%v) never came up", missed+1, c)
	there := r.present[c.Kind]
	switch nearest := strict.Nearest(c.Of, there); {
	case slices.Contains(there, c.Of):
		return fmt.Sprintf("%s: there were fewer than %d decisions of that name%s", d, c.Nth, c.instant())
	case nearest != "":
		return fmt.Sprintf("%s: there was %q", d, nearest)
	case len(there) == 0:
		return fmt.Sprintf("%s: there was no decision of kind %q at all", d, c.Kind)
	}
	return fmt.Sprintf("%s: of kind %q there was %s", d, c.Kind, strings.Join(there[:min(len(there), 5)], ", "))
}
