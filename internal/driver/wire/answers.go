package wire

import "google.golang.org/protobuf/proto"

// question is a call of one method to one driver. Many are made ever again and answered
// alike: what a driver can do, how a volume is attached.
type question struct{ driver, method string }

// kept is the answer of a call as its record keeps it: of equal answers in a row the first. A run that explores is short and has no
// time to compare them.
func (w *Wire) kept(c *call) proto.Message {
	if w.World.Kernel.Explores() {
		return c.answer
	}
	q := question{c.site.Driver, c.method}
	if known, ok := w.answers[q]; ok && proto.Equal(known, c.answer) {
		return known
	}
	w.answers[q] = c.answer
	return c.answer
}
