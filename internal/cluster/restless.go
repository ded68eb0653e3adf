package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/trace"
)

const (
	// restless is a number of changes of an object in the second half of the settling time. From
	// this number on, the object counts as continuously changing.
	restless = 5
	// mostRestless bounds the number of such objects that are named.
	mostRestless = 5
)

// Restless names the objects that were changed repeatedly since an instant, most often changed
// first, and the components that changed them. Leases and Events are housekeeping.
func Restless(events []*trace.Event, since, now time.Duration) (lines []string) {
	type object struct{ resource, name string }
	count, actors := map[object]int{}, map[object]map[string]bool{}
	for _, e := range slices.Backward(events) {
		if e.At < since {
			break
		}
		if e.Kind != trace.API || e.Change != "MODIFIED" || e.Resource == "leases" || e.Resource == "events" {
			continue
		}
		o := object{e.Resource, e.Name}
		if count[o]++; actors[o] == nil {
			actors[o] = map[string]bool{}
		}
		component, _, _ := strings.Cut(e.Actor, "/")
		actors[o][cmp.Or(component, "the API server")] = true
	}
	maps.DeleteFunc(count, func(_ object, n int) bool { return n < restless })
	found := slices.SortedFunc(maps.Keys(count), func(a, b object) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a.resource+a.name, b.resource+b.name))
	})
	for _, o := range found[:min(len(found), mostRestless)] {
		by := strings.Join(slices.Sorted(maps.Keys(actors[o])), " and ")
		lines = append(lines, fmt.Sprintf("%s %s was changed %d times in the last %v, by %s", o.resource, o.name, count[o], now-since, by))
	}
	return lines
}
