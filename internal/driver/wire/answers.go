package wire

import "google.golang.org/protobuf/proto"

// question identifies the calls of one method to one driver. Many calls are repeated and get equal
// answers, such as capabilities.
type question struct{ driver, method string }

// kept returns the answer to a call for its record. It returns the first of several equal answers
// in a row, so that they share memory. A run of a search is short, so it does not compare them.
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
