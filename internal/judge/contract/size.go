package contract

import (
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// CSI "Size Limits", in bytes.
const (
	stringLimit     = 128
	mapLimit        = 4096
	nodeIDLimit     = 256  // NodeGetInfoResponse.node_id and fields that repeat it
	mountFlagsLimit = 4096 // all of them together
)

const mountFlags = "mount_flags" // of VolumeCapability.MountVolume

const tooBig = "the CSI spec's Size Limits"

// limitOf returns the size limit of a string field. It is 0 for paths, because the file system
// limits them.
func limitOf(field string) int {
	switch {
	case strings.HasSuffix(field, "_path"):
		return 0
	case field == "node_id", field == "published_node_ids":
		return nodeIDLimit
	case field == mountFlags:
		return mountFlagsLimit
	}
	return stringLimit
}

// limited is a field that has a size limit, or messages with such fields.
type limited struct {
	field  protoreflect.FieldDescriptor
	limit  int
	inside []limited // of messages
}

// limits caches the limited fields of messages, by descriptor. The check runs for each call, and
// most fields have no limit.
var limits sync.Map

// limitsOf returns the fields of a message to measure, in the order of its definition. No message
// of the spec contains a message of its own kind.
func limitsOf(m protoreflect.MessageDescriptor) []limited {
	if known, ok := limits.Load(m); ok {
		return known.([]limited)
	}
	var all []limited
	fields := m.Fields()
	for i := range fields.Len() {
		if l := limitsIn(fields.Get(i)); l.limit > 0 || l.inside != nil {
			all = append(all, l)
		}
	}
	limits.Store(m, all)
	return all
}

func limitsIn(field protoreflect.FieldDescriptor) limited {
	l := limited{field: field}
	switch {
	case field.IsMap():
		if field.MapValue().Kind() == protoreflect.StringKind {
			l.limit = mapLimit
		}
	case field.Kind() == protoreflect.MessageKind:
		l.inside = limitsOf(field.Message())
	case field.Kind() == protoreflect.StringKind:
		l.limit = limitOf(string(field.Name()))
	}
	return l
}

// sizesOf checks a message.
func (f *findings) sizesOf(m proto.Message) {
	f.keep("", tooBig)
	message := m.ProtoReflect()
	f.sizes(nil, message, limitsOf(message.Descriptor()))
}

// place is the position of a message: in a field of another message. Nil is the outermost.
type place struct {
	in    *place
	field protoreflect.FieldDescriptor
}

// prefix returns the prefix of a field's name.
func (p *place) prefix() string {
	if p == nil {
		return ""
	}
	return p.in.prefix() + string(p.field.Name()) + "."
}

// sizes checks every string and map of a message.
func (f *findings) sizes(in *place, m protoreflect.Message, fields []limited) {
	for _, l := range fields {
		value := m.Get(l.field)
		switch {
		case l.field.IsMap():
			f.mapSize(in, l, value.Map())
		case l.field.IsList():
			f.listSizes(in, l, value.List())
		case l.inside == nil:
			f.atMost(in, l, len(value.String()))
		case value.Message().IsValid(): // it is set
			f.sizes(&place{in, l.field}, value.Message(), l.inside)
		}
	}
}

func (f *findings) listSizes(in *place, l limited, list protoreflect.List) {
	total := 0
	for i := range list.Len() {
		if l.inside != nil {
			f.sizes(&place{in, l.field}, list.Get(i).Message(), l.inside)
			continue
		}
		size := len(list.Get(i).String())
		total += size
		if l.field.Name() != mountFlags {
			f.atMost(in, l, size)
		}
	}
	if l.field.Name() == mountFlags {
		f.atMost(in, l, total)
	}
}

func (f *findings) mapSize(in *place, l limited, m protoreflect.Map) {
	total := 0
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		total += len(k.String()) + len(v.String())
		return true
	})
	f.atMost(in, l, total)
}

func (f *findings) atMost(in *place, l limited, size int) {
	if size > l.limit {
		f.add(in.prefix()+string(l.field.Name()), tooBig, "has %d bytes, the limit is %d", size, l.limit)
	}
}
