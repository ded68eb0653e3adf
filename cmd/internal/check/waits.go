package check

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/judge/contract"
)

// waits prints the waits of all runs.
func (p *page) waits(c *Card) {
	if searched := c.searched(); searched != "" {
		fmt.Fprintf(p, "\n%s\n", p.paint(dim, searched))
	}
	if waited := unfinished.InWords(c.Waits); waited != "" {
		fmt.Fprintf(p, "\n%s\n", p.paint(dim, "all runs together "+waited))
	}
}

// overdue returns the remark that a finding may depend on the patience, or on how long the run
// waited for unfinished work of the driver; empty if it does not.
func (f Finding) overdue() string {
	r := f.Shown[0].Result
	if r == nil {
		return ""
	}
	lines := []string{scenario.OverdueInWords(r.Overdue)}
	if waited := unfinished.InWords(r.Waits); waited != "" && f.Form == contract.FailsForGood && f.Code == codes.Aborted.String() {
		lines = append(lines, waited+", which this may depend on; --wait-for-driver waits longer")
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}
