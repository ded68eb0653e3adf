package wire

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// recordAnswer records the answer of a program, so that two runs can be compared: if the answers
// differ, the driver differs.
func (c *call) recordAnswer(answer proto.Message, err error) {
	k := c.wire.World.Kernel
	if !k.Compares() || InProcess(c.site.Machine) {
		return
	}
	from := fmt.Sprintf("answer of driver %s to %s", c.site.Driver, c.method)
	if c.site.Node != "" {
		from = fmt.Sprintf("answer of driver %s on %s to %s", c.site.Driver, c.site.Node, c.method)
	}
	if volume := volumeOf(c.request); volume != "" {
		from += " for " + volume
	}
	k.RecordAnswer(from, inWords(answer, err))
}

// inWords returns an answer as text, the same for equal answers: package protojson varies its
// spaces on purpose.
func inWords(answer proto.Message, err error) string {
	if err != nil {
		return err.Error()
	}
	text, err := protojson.Marshal(answer)
	if err != nil {
		return err.Error()
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err.Error()
	}
	return compact.String()
}
