package contract_test

import (
	"fmt"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/contract"
)

func TestAListHasALastPage(t *testing.T) {
	page := func(token string, ids ...string) *csi.ListVolumesResponse {
		r := &csi.ListVolumesResponse{NextToken: token}
		for _, id := range ids {
			r.Entries = append(r.Entries, &csi.ListVolumesResponse_Entry{Volume: &csi.Volume{VolumeId: id}})
		}
		return r
	}
	number := func(prefix string, n int) string { return fmt.Sprint(prefix, n) }
	for _, c := range []struct {
		name  string
		page  func(n int) *csi.ListVolumesResponse
		pages int // pages to read; 0: all
		why   string
	}{
		{"a list of 9,000 pages", func(n int) *csi.ListVolumesResponse {
			if n == 8_999 {
				return page("", "last")
			}
			return page(number("t", n), number("v", n))
		}, 0, ""},
		{"a page that leads to itself", func(n int) *csi.ListVolumesResponse { return page("t", number("v", n)) }, 2, `"t" comes a second time, so the list never ends`},
		{"three pages in a circle", func(n int) *csi.ListVolumesResponse { return page(number("t", n%3), number("v", n%3)) }, 4, `"t0" comes a second time, so the list never ends`},
		{"the same volumes behind ever new tokens", func(n int) *csi.ListVolumesResponse { return page(number("t", n), "v", "w") }, 101, "goes on for 100 pages that list nothing new"},
		{"empty pages", func(n int) *csi.ListVolumesResponse { return page(number("t", n)) }, 100, "goes on for 100 pages that list nothing new"},
		{"ever new volumes", func(n int) *csi.ListVolumesResponse { return page(number("t", n), number("v", n)) }, 10_000, "goes on after 10000 pages"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var pages contract.Pages
			turned, why := 0, ""
			for token := "first"; token != "" && why == ""; turned++ {
				p := c.page(turned)
				token, why = p.GetNextToken(), pages.Turn(p)
			}
			assert.Equal(t, c.why, why)
			if c.pages > 0 {
				assert.Equal(t, c.pages, turned)
			}
		})
	}
}
