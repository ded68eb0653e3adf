package wire

import (
	"path"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/judge/contract"
)

// Chance makes the strategy of a run decide whether a fault applies to a call that changes
// something.
type Chance interface {
	// AtCall returns the fault that applies to the call; nil for none. Watched means that the call
	// goes to a program with observed system calls.
	AtCall(call fault.Site, watched bool, label string) *fault.Fault
}

// drawn returns the fault that the strategy chooses for a call; nil if it chooses none.
func (c *call) drawn() *fault.Fault {
	if c.wire.Chance == nil || !fault.HasEffect(path.Base(c.method)) {
		return nil
	}
	program := c.Program()
	return c.wire.Chance.AtCall(c.faultSite(), program != nil && program.IsWatched(), c.label())
}

// label identifies the call among the calls of a run by the method, the volume, the node and the
// driver, without a number.
func (c *call) label() string {
	words := []string{path.Base(c.method)}
	if volume := contract.VolumeOf(c.request); volume != "" {
		words = append(words, "of", volume)
	}
	if c.site.Node != "" {
		words = append(words, "on", c.site.Node)
	}
	return strings.Join(append(words, "by", c.site.Driver), " ")
}
