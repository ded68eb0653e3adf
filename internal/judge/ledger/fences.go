package ledger

import (
	"slices"

	"google.golang.org/protobuf/proto"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/definition/csiaddons"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// fences enters address ranges that a driver still fences off its storage although no NetworkFence
// requests this. The driver is to blame if it received a call to unfence.
func (a *accountant) fences(b *Backend) {
	if b.Fences == nil {
		return
	}
	fenced, err := b.Fences()
	if err != nil {
		a.unseen("fences of "+b.Driver, err)
	}
	wanted := a.wantedFences()
	for _, cidr := range fenced {
		if slices.Contains(wanted, cidr) {
			continue
		}
		e := Entry{Kind: Fence, Name: cidr, Detail: "of driver " + b.Driver + ", has no NetworkFence"}
		a.history.Fence(&e, b.Driver, cidr)
		if e.Undone == nil { // A-NF-5
			e.Litter = "the controller of CSI-Addons' own litter: deleting a NetworkFence does not unfence"
		}
		a.add(e)
	}
}

// wantedFences returns the address ranges of all NetworkFences that fence.
func (a *accountant) wantedFences() (all []string) {
	res, defined := store.ResourceFor(schema.GroupVersionKind{Group: csiaddons.Group, Version: csiaddons.Version, Kind: "NetworkFence"})
	if !defined {
		return nil
	}
	for obj := range a.Store.ListObjects(res, "") {
		content := obj.(*unstructured.Unstructured).Object
		if state, _, _ := unstructured.NestedString(content, "spec", "fenceState"); state == "Unfenced" {
			continue
		}
		cidrs, _, _ := unstructured.NestedStringSlice(content, "spec", "cidrs")
		all = append(all, cidrs...)
	}
	return all
}

// Fence assigns the blame for an address range that a driver fences off its storage.
func (h *History) Fence(e *Entry, driver, cidr string) {
	h.blame(e, "FenceClusterNetwork", nil, func(call *trace.Event) bool {
		return call.Driver == driver && slices.ContainsFunc(cidrsOf(call.Request), func(c *fence.CIDR) bool { return c.GetCidr() == cidr })
	})
}

func cidrsOf(request proto.Message) []*fence.CIDR {
	if about, ok := request.(interface{ GetCidrs() []*fence.CIDR }); ok {
		return about.GetCidrs()
	}
	return nil
}
