package wire

import (
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// question is a call whose request says nothing, such as the one for capabilities.
// It is made ever again and nearly always answered alike.
type question struct{ driver, method string }

// kept is the answer of a call as its record keeps it: of equal answers to a
// question, and of answers that say nothing, the first.
func (w *Wire) kept(c *call) proto.Message {
	if says(c.request) && says(c.answer) {
		return c.answer
	}
	q := question{c.site.Driver, c.method}
	if known, ok := w.answers[q]; ok && proto.Equal(known, c.answer) {
		return known
	}
	w.answers[q] = c.answer
	return c.answer
}

// says reports whether a field of the message is set.
func says(m proto.Message) (set bool) {
	m.ProtoReflect().Range(func(protoreflect.FieldDescriptor, protoreflect.Value) bool {
		set = true
		return false
	})
	return set
}
