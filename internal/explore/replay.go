package explore

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Replay takes named choices where they come up, and is calm everywhere else.
type Replay struct {
	names   *named
	wanted  []Choice
	kinds   map[string]bool // of wanted: nothing else is looked at
	at      map[Choice]int  // index in wanted, by the choice without what it takes
	met     []bool
	unfit   map[int]string      // why, by the choice
	present map[string][]string // what was decided, by kind, each once
	taken   []Choice
	exact   *named // of a replay that does not look at uids; else nil
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

// NewLooseReplay returns the strategy that repeats the choices of a run of a scenario that has changed since: objects may have other
// uids, which count up, and those do not count in the names of choices.
func NewLooseReplay(choices []Choice) *Replay {
	loose := slices.Clone(choices)
	for i := range loose {
		loose[i] = loose[i].loose()
	}
	r := NewReplay(loose)
	r.exact = newNamed()
	return r
}

// loose is the choice without the uids in its name, which count up: in another order they are others.
func (c Choice) loose() Choice {
	c.Of = withoutUIDs(c.Of)
	return c
}

// Taken are the choices that came up and were taken, by the names that they have in this run.
func (r *Replay) Taken() []Choice { return r.taken }

// Choose takes what is wanted here.
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

// Unfit says, when the run is over, which choice did not fit first and what was there instead; it is empty
// if all did.
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
