package wire

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/judge/contract"
)

// recordAnswer records the answer of a program, so that two runs can be compared. If the answers
// differ, the driver causes the difference.
func (c *call) recordAnswer(answer proto.Message, err error) {
	k := c.wire.World.Kernel
	if !k.Compares() || InProcess(c.site.Machine) {
		return
	}
	from := fmt.Sprintf("answer of driver %s to %s", c.site.Driver, c.method)
	if c.site.Node != "" {
		from = fmt.Sprintf("answer of driver %s on %s to %s", c.site.Driver, c.site.Node, c.method)
	}
	if volume := contract.VolumeOf(c.request); volume != "" {
		from += " for " + volume
	}
	k.RecordAnswer(from, inWords(answer, err))
}

// inWords returns an answer or an error as text; equal answers have equal texts.
func inWords(answer proto.Message, err error) string {
	if err != nil {
		return err.Error()
	}
	return effect.Text(answer)
}
