package data

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/machine"
)

func TestACopyHasTheDataOfItsSource(t *testing.T) {
	source, copied := Volume{"d", "v"}, Volume{"d", "copy"}
	snapshot := Copy{Name: "CreateSnapshot s", From: source}
	for _, c := range []struct {
		name string
		do   func(*Check)
		read content
		want bool
	}{
		{"of the content", func(c *Check) { c.attempted(snapshot, 0) }, parse(text("d^v", 3)), true},
		{"empty", func(c *Check) { c.attempted(snapshot, 0) }, content{there: true, empty: true, problem: "an empty directory"}, false},
		{"of another volume", func(c *Check) { c.attempted(snapshot, 0) }, parse(text("d^other", 3)), false},
		{"of earlier content", func(c *Check) { c.attempted(snapshot, 0) }, parse(text("d^v", 2)), false},
		{"of the content at an attempt with a lost answer", func(c *Check) {
			c.written[source] = known{{Value: record{generation: 2}}}
			c.attempted(snapshot, 0)
			c.written[source] = known{{Value: record{generation: 3}}}
			c.attempted(snapshot, 0)
		}, parse(text("d^v", 2)), true},
		{"of a volume that had nothing at the first attempt", func(c *Check) {
			delete(c.written, source)
			c.attempted(snapshot, 0)
			c.written[source] = known{{Value: record{generation: 3}}}
			c.attempted(snapshot, 0)
		}, content{there: true, empty: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := machine.NewDisk("node-a", t.TempDir())
			require.NoError(t, err)
			defer d.Close()
			check := New()
			var got []string
			check.OnViolation = func(_ Use, v verdict.Verdict) { got = append(got, v.Found[0]) }
			check.written[source] = known{{Value: record{generation: 3}}}
			c.do(check)
			check.snapshots[Volume{"d", "s"}] = check.attempts[snapshot]
			check.created(copied, false)
			check.copies[copied] = check.snapshots[Volume{"d", "s"}]
			check.fresh(Use{Pod: "default/p", Volume: copied, Name: "pv", Node: "node-a", Machine: d, Path: "/p"}, c.read)
			if c.want {
				assert.Empty(t, got)
				return
			}
			require.Len(t, got, 1)
			assert.Contains(t, got[0], "expected generation 3 of volume d^v, of which it is a copy, found")
		})
	}
}
