package check

import (
	"fmt"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/unfinished"
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

// overdue says that a finding may depend on the patience; empty if it cannot.
func (f Finding) overdue() string {
	if r := f.Shown[0].Result; r != nil {
		return scenario.OverdueInWords(r.Overdue)
	}
	return ""
}
