package check

import (
	"fmt"
	"slices"
	"strings"
)

// maxWritten bounds the changes of the host's directories that the card names.
const maxWritten = 8

// Written returns the paths that the driver has written outside its runs, in any trial on any node:
// "made /etc/x". The content was thrown away.
func (c *Card) Written() (written []string) {
	for _, o := range c.Outcomes {
		if o.Result == nil {
			continue
		}
		for _, change := range o.Result.Written {
			if _, what, named := strings.Cut(change, ": "); named && !slices.Contains(written, what) {
				written = append(written, what)
			}
		}
	}
	slices.Sort(written)
	return written
}

// written prints the paths that the driver has written outside its runs.
func (p *page) written(c *Card) {
	written := c.Written()
	if len(written) == 0 {
		return
	}
	fmt.Fprintf(p, "\n%s\n", p.paint(dim, "Written outside the run and thrown away; --host-path lets directories through:"))
	for _, change := range written[:min(len(written), maxWritten)] {
		fmt.Fprintf(p, "%s\n", p.paint(dim, "  "+change))
	}
	if more := len(written) - maxWritten; more > 0 {
		fmt.Fprintf(p, "%s\n", p.paint(dim, fmt.Sprintf("  and %d more", more)))
	}
}
