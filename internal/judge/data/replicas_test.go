package data

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
)

// pair are the checks of two clusters between which a volume is replicated.
type pair struct {
	west, east *Check
	got        []string
}

var replicated = Volume{"d", "v"}

func newPair() *pair {
	p := &pair{west: New(), east: New()}
	for _, c := range []*Check{p.west, p.east} {
		c.OnViolation = func(_ Use, v verdict.Verdict) { p.got = append(p.got, v.Found[0]) }
	}
	return p
}

func (p *pair) wrote(c *Check, generation int) {
	c.written[replicated] = known{{Value: record{generation: generation}}}
	delete(c.copies, replicated)
}

// A promoted copy has the content of the other side, at least as new as its last known copy.
func TestAPromotedCopyHasTheDataOfTheOtherSide(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*pair)
		read content
		want string // the expected report; empty if there is none
	}{
		{"all, after it was demoted there", func(p *pair) { p.west.Demoted(replicated, 1) }, parse(text("d^v", 3)), ""},
		{"less than all, after it was demoted there", func(p *pair) { p.west.Demoted(replicated, 1) }, parse(text("d^v", 2)), "expected generation 3"},
		{"nothing, after it was demoted there", func(p *pair) { p.west.Demoted(replicated, 1) }, content{there: true, empty: true, problem: "an empty directory"}, "found an empty directory"},
		{"an older generation, after a disaster", func(*pair) {}, parse(text("d^v", 1)), ""},
		{"nothing, after a disaster before any synchronization", func(*pair) {}, content{there: true, empty: true, problem: "an empty directory"}, ""},
		{"the data of another volume", func(*pair) {}, parse(text("d^other", 1)), "found generation 1 of volume d^other"},
		{"less than the synchronized data", func(p *pair) {
			p.wrote(p.west, 2)
			p.west.Reported(replicated, "10:00")
			p.wrote(p.west, 3)
			p.west.Reported(replicated, "10:05")
		}, parse(text("d^v", 1)), "expected generation 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPair()
			p.wrote(p.west, 3)
			c.do(p)
			p.east.Promoted(replicated, p.west)
			p.east.fresh(Use{Pod: "default/p", Volume: replicated, Name: "pv", Node: "node-a", Machine: &machine.Disk{}, Path: "/p"}, c.read)
			if c.want == "" {
				assert.Empty(t, p.got)
				return
			}
			if assert.Len(t, p.got, 1) {
				assert.Contains(t, p.got[0], c.want)
			}
		})
	}
}

// The side that was last primary keeps its content, whatever the other side has.
func TestAVolumeThatWasPrimaryHereLastKeepsItsContent(t *testing.T) {
	for name, do := range map[string]func(*pair){
		"it was never demoted": func(*pair) {},
		"it was demoted, and promoted again": func(p *pair) {
			p.east.Demoted(replicated, 1)
			p.west.Demoted(replicated, 2)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair()
			p.wrote(p.east, 1)
			p.wrote(p.west, 2)
			do(p)
			p.west.Promoted(replicated, p.east)
			assert.Equal(t, 2, p.west.contentOf(replicated).newest)
		})
	}
}
