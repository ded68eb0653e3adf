package contract

import (
	"fmt"
	"slices"

	"google.golang.org/grpc/status"
)

// What is wrong with a list that others disagree with.
const (
	leavesOutOnPages = "leaves out on its pages what it lists at once"
	listsTwice       = "lists something on two pages"
	leavesOut        = "leaves out what it lists without a filter"
	leavesOutNodes   = "leaves out a node"
	refusesPages     = "refuses a list in pages"
)

// CheckPages holds a list that was asked for page by page against the whole ones before and after. What is in only one of these came,
// or went, meanwhile.
func CheckPages(method string, before, paged, after []string, size int) []Violation {
	count := map[string]int{}
	for _, id := range paged {
		count[id]++
	}
	for _, id := range both(before, after) {
		switch {
		case count[id] == 0:
			return []Violation{{Method: method, Rule: leavesOutOnPages, Detail: fmt.Sprintf("%s is on no page of max_entries %d", id, size)}}
		case count[id] > 1:
			return []Violation{{Method: method, Rule: listsTwice, Detail: fmt.Sprintf("%s is on %d pages of max_entries %d", id, count[id], size)}}
		}
	}
	return nil
}

// CheckFilter holds a list that was asked for with a filter against what whole lists before and after have of that.
func CheckFilter(method, filter string, before, filtered, after []string) []Violation {
	for _, id := range both(before, after) {
		if !slices.Contains(filtered, id) {
			return []Violation{{Method: method, Rule: leavesOut, Detail: fmt.Sprintf("%s, asked for with %s", id, filter)}}
		}
	}
	return nil
}

// CheckNodes holds the nodes of a volume, as ControllerGetVolume says them, against those of ListVolumes before and after. The CSI spec
// wants both to have all that the volume is published to.
func CheckNodes(method, volume string, before, got, after []string) []Violation {
	for _, node := range both(before, after) {
		if !slices.Contains(got, node) {
			return []Violation{{Method: method, Rule: leavesOutNodes, Detail: fmt.Sprintf("volume %s is attached to node %s, as ListVolumes says", volume, node)}}
		}
	}
	return nil
}

// RefusesPage is a driver that lists at once, and not in pages.
func RefusesPage(method string, err error) Violation {
	s := status.Convert(err)
	return Violation{Method: method, Rule: refusesPages, Detail: fmt.Sprintf("%v (%s)", s.Code(), s.Message())}
}

// both are those that are in two lists.
func both(one, other []string) []string {
	return slices.DeleteFunc(slices.Clone(one), func(id string) bool { return !slices.Contains(other, id) })
}
