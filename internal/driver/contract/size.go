package contract

import (
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// CSI "Size Limits", in bytes.
const (
	stringLimit     = 128
	mapLimit        = 4096
	nodeIDLimit     = 256  // NodeGetInfoResponse.node_id and what repeats it
	mountFlagsLimit = 4096 // all of VolumeCapability.MountVolume.mount_flags together
)

const tooBig = "the CSI spec's Size Limits"

// limitOf is the size limit of a string field, 0 for paths, whose limit is the file system's.
func limitOf(field string) int {
	switch {
	case strings.HasSuffix(field, "_path"):
		return 0
	case field == "node_id", field == "published_node_ids":
		return nodeIDLimit
	}
	return stringLimit
}

// sizesOf checks a message, which is small enough as a rule. To measure one with a map
// costs as much as to check it.
func (f *findings) sizesOf(m proto.Message) {
	f.keep("", tooBig)
	if hasMap(m.ProtoReflect()) || proto.Size(m) > stringLimit {
		f.sizes(nil, m.ProtoReflect())
	}
}

func hasMap(m protoreflect.Message) bool {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		if field := fields.Get(i); field.IsMap() && m.Has(field) {
			return true
		}
	}
	return false
}

// place is where a message stands: in a field of another one. Nil is the outermost.
type place struct {
	in    *place
	field protoreflect.FieldDescriptor
}

// prefix is what comes before the name of a field.
func (p *place) prefix() string {
	if p == nil {
		return ""
	}
	return p.in.prefix() + string(p.field.Name()) + "."
}

// sizes checks every string and map of a message, in the order of the message's definition.
func (f *findings) sizes(in *place, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !m.Has(field) {
			continue
		}
		value := m.Get(field)
		switch {
		case field.IsMap():
			f.mapSize(in, field, value.Map())
		case field.IsList():
			f.listSizes(in, field, value.List())
		case field.Kind() == protoreflect.MessageKind:
			f.sizes(&place{in, field}, value.Message())
		case field.Kind() == protoreflect.StringKind:
			f.atMost(in, field, len(value.String()), limitOf(string(field.Name())))
		}
	}
}

func (f *findings) listSizes(in *place, field protoreflect.FieldDescriptor, list protoreflect.List) {
	total := 0
	for i := range list.Len() {
		switch field.Kind() {
		case protoreflect.MessageKind:
			f.sizes(&place{in, field}, list.Get(i).Message())
		case protoreflect.StringKind:
			size := len(list.Get(i).String())
			total += size
			if field.Name() != "mount_flags" {
				f.atMost(in, field, size, limitOf(string(field.Name())))
			}
		}
	}
	if field.Name() == "mount_flags" {
		f.atMost(in, field, total, mountFlagsLimit)
	}
}

func (f *findings) mapSize(in *place, field protoreflect.FieldDescriptor, m protoreflect.Map) {
	if field.MapValue().Kind() != protoreflect.StringKind {
		return
	}
	total := 0
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		total += len(k.String()) + len(v.String())
		return true
	})
	f.atMost(in, field, total, mapLimit)
}

func (f *findings) atMost(in *place, field protoreflect.FieldDescriptor, size, limit int) {
	if limit > 0 && size > limit {
		f.add(in.prefix()+string(field.Name()), tooBig, "has %d bytes, the limit is %d", size, limit)
	}
}
