package wire

import (
	"strings"

	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// RunDir replaces the directory of the run in a driver's answers, because each run has a different
// directory on the host.
const RunDir = "/run/csisim"

// Renamed returns a text with RunDir in place of the directory of the run.
func (w *Wire) Renamed(text string) string {
	if w.RunDir == "" {
		return text
	}
	return strings.ReplaceAll(text, w.RunDir, RunDir)
}

// received renames the directory of the run in an answer.
func (w *Wire) received(answer proto.Message, err error) error {
	if w.RunDir == "" {
		return err
	}
	if err == nil {
		rename(answer.ProtoReflect(), w.RunDir, RunDir)
		return nil
	}
	if s, ok := status.FromError(err); ok && strings.Contains(s.Message(), w.RunDir) {
		p := s.Proto()
		p.Message = w.Renamed(p.Message)
		return status.ErrorProto(p)
	}
	return err
}

// sent returns a request with the real path of the run's directory, as in the driver's answers.
func (w *Wire) sent(request proto.Message) proto.Message {
	if w.RunDir == "" || !rename(request.ProtoReflect(), RunDir, RunDir) {
		return request
	}
	own := proto.Clone(request)
	rename(own.ProtoReflect(), RunDir, w.RunDir)
	return own
}

// rename replaces one text by another in all fields of a message. It reports whether a field
// contains the text, and changes nothing if both texts are equal.
func rename(m protoreflect.Message, from, to string) (found bool) {
	text := func(kind protoreflect.Kind, v protoreflect.Value, set func(protoreflect.Value)) {
		switch {
		case kind == protoreflect.MessageKind:
			found = rename(v.Message(), from, to) || found
		case kind == protoreflect.StringKind && strings.Contains(v.String(), from):
			found = true
			if from != to {
				set(protoreflect.ValueOfString(strings.ReplaceAll(v.String(), from, to)))
			}
		}
	}
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.IsMap():
			v.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
				text(f.MapValue().Kind(), value, func(new protoreflect.Value) { v.Map().Set(key, new) })
				return true
			})
		case f.IsList():
			for i := range v.List().Len() {
				text(f.Kind(), v.List().Get(i), func(new protoreflect.Value) { v.List().Set(i, new) })
			}
		default:
			text(f.Kind(), v, func(new protoreflect.Value) { m.Set(f, new) })
		}
		return true
	})
	return found
}
