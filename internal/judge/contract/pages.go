package contract

import (
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/csisim/csisim/internal/judge/verdict"
	"google.golang.org/protobuf/proto"
)

// Pages follows one list of a driver from page to page, and detects that there will be no last
// page. Kubernetes would request pages until its timeout, but a call without virtual time has no
// timeout.
type Pages struct {
	tokens, ids map[string]bool
	count       int
	repeating   int // pages in a row that list nothing new
}

// Limits of a list.
const (
	maxPages     = 10_000
	maxRepeating = 100
)

// Turn adds a page. It returns the reason why the list does not end; empty if it ends.
func (p *Pages) Turn(page proto.Message) string {
	token, ids := pageOf(page)
	if token == "" {
		*p = Pages{}
		return ""
	}
	if p.tokens == nil {
		p.tokens, p.ids = map[string]bool{}, map[string]bool{}
	}
	p.count++
	p.repeating++
	for _, id := range ids {
		if !p.ids[id] {
			p.ids[id], p.repeating = true, 0
		}
	}
	again := p.tokens[token]
	p.tokens[token] = true
	switch {
	case again:
		return fmt.Sprintf("%.40q comes a second time, so the list never ends", token)
	case p.repeating >= maxRepeating:
		return fmt.Sprintf("goes on for %d pages that list nothing new", maxRepeating)
	case p.count >= maxPages:
		return fmt.Sprintf("goes on after %d pages", maxPages)
	}
	return ""
}

// pageOf returns the token of the next page and the ids on this page.
func pageOf(page proto.Message) (token string, ids []string) {
	switch r := page.(type) {
	case *csi.ListVolumesResponse:
		for _, e := range r.GetEntries() {
			ids = append(ids, e.GetVolume().GetVolumeId())
		}
		return r.GetNextToken(), ids
	case *csi.ListSnapshotsResponse:
		for _, e := range r.GetEntries() {
			ids = append(ids, e.GetSnapshot().GetSnapshotId())
		}
		return r.GetNextToken(), ids
	case *csi.ControllerListVolumeHealthResponse:
		for _, e := range r.GetEntries() {
			ids = append(ids, e.GetVolumeId())
		}
		return r.GetNextToken(), ids
	}
	return "", nil
}

// EndlessList returns the breach of a list that has no last page.
func EndlessList(method string, page proto.Message, why string) verdict.Verdict {
	f := findings{method: method, of: page}
	f.add("next_token", "the CSI spec wants it empty on the last page", "%s", verdict.Quoted(why))
	return f.list[0]
}
