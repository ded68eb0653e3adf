package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// notRegistered is the error of the kubelet for an unknown driver. K-RPC-10
const notRegistered = "not found in the list of registered CSI drivers"

// A driver is not registered on a node.
var _ = register("driver-not-registered", cause, func(s *Story) (found []Finding) {
	seen := map[[2]string]bool{}
	for _, o := range s.order {
		if !o.isFailing() || !strings.Contains(o.Error, notRegistered) {
			continue
		}
		driver := driverIn(o.Error)
		if key := [2]string{driver, o.Node}; !seen[key] {
			seen[key] = true
			found = append(found, s.unregistered(o, driver))
		}
	}
	return append(found, s.failedRegistrations(seen)...)
})

// driverIn returns the name of the driver in the error.
func driverIn(message string) string {
	before, _, _ := strings.Cut(message, " "+notRegistered)
	return before[strings.LastIndexByte(before, ' ')+1:]
}

func (s *Story) unregistered(o *Operation, driver string) Finding {
	where, kubelet := "its node", "the kubelet"
	if o.Node != "" {
		where, kubelet = o.Node, "kubelet "+o.Node
	}
	f := Finding{
		Title:     fmt.Sprintf("Driver %s is not registered on %s, so %s %s", driver, where, o.subject(), verbs[o.Kind]),
		Component: "driver " + driver + " on " + where, Certainty: Certain, Since: o.Began, Until: o.Last, Seen: places(o), volume: o.Volume, node: o.Node, of: o,
		Chain:  append(s.waitersFor(o), fmt.Sprintf("%s waits for the registration of %s", kubelet, driver)),
		Cause:  "the node plugin of the driver does not run there, or its registration failed",
		Advice: "look at the pod of the driver on " + where + ", above all at its node-driver-registrar",
	}
	if r, known := s.registered[[2]string{driver, o.Node}]; known && !r.isRegistered {
		f.Cause = "the driver was unregistered"
		if r.failed {
			f.Cause = "its registration failed: " + r.why
		}
		f.Seen = append(f.Seen, r.seen)
	}
	return f
}

// failedRegistrations finds failed last registrations of drivers that no volume needs yet.
func (s *Story) failedRegistrations(seen map[[2]string]bool) (found []Finding) {
	keys := slices.SortedFunc(maps.Keys(s.registered), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	for _, key := range keys {
		r := s.registered[key]
		if !r.failed || seen[key] {
			continue
		}
		driver, node := key[0], key[1]
		if driver == "" {
			driver = "a driver"
		}
		found = append(found, Finding{
			Title: strings.TrimSpace(fmt.Sprintf("The registration of %s fails %s: %s", driver, onNode(node), firstLine(r.why))), Component: "node-driver-registrar", Certainty: Certain,
			Since: r.at, Until: r.at, Seen: []Place{r.seen}, node: node, Cause: r.why,
		})
	}
	return found
}

func onNode(node string) string {
	if node == "" {
		return ""
	}
	return "on " + node
}
