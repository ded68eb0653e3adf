package outcome

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// list identifies a list that a caller reads page by page. csisim itself may read several at once.
type list struct {
	driver, caller, method string
	by                     *kernel.Process
}

// reading is the state of a list that is being read.
type reading struct {
	pages contract.Pages
	noted bool
}

// NeverEnds reports whether a page proves that its list never ends.
func (j *Judge) NeverEnds(c Call) bool {
	if !isPage(c.Answer()) {
		return false
	}
	key := list{c.Driver(), c.Caller(), c.Method(), c.Process()}
	r := j.lists[key]
	if r == nil {
		r = &reading{}
		j.lists[key] = r
	}
	if asked, ok := c.Request().(interface{ GetStartingToken() string }); ok && asked.GetStartingToken() == "" {
		r.pages = contract.Pages{}
	}
	why := r.pages.Turn(c.Answer())
	if why == "" {
		return false
	}
	if !r.noted {
		r.noted = true
		j.Note(c, []verdict.Verdict{contract.EndlessList(c.Method(), c.Answer(), why)})
	}
	return true
}

func isPage(answer any) bool {
	switch answer.(type) {
	case *csi.ListVolumesResponse, *csi.ListSnapshotsResponse, *csi.ControllerListVolumeHealthResponse:
		return true
	}
	return false
}
