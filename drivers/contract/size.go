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

// sizesOf checks a message, which is small enough as a rule.
func (f *findings) sizesOf(m proto.Message) {
	if proto.Size(m) > stringLimit {
		f.sizes("", m.ProtoReflect())
	}
}

// sizes checks every string and map of a message, in the order of the message's definition.
func (f *findings) sizes(prefix string, m protoreflect.Message) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if !m.Has(field) {
			continue
		}
		value := m.Get(field)
		switch {
		case field.IsMap():
			f.mapSize(prefix, field, value.Map())
		case field.IsList():
			f.listSizes(prefix, field, value.List())
		case field.Kind() == protoreflect.MessageKind:
			f.sizes(prefix+string(field.Name())+".", value.Message())
		case field.Kind() == protoreflect.StringKind:
			f.atMost(prefix, field, len(value.String()), limitOf(string(field.Name())))
		}
	}
}

func (f *findings) listSizes(prefix string, field protoreflect.FieldDescriptor, list protoreflect.List) {
	total := 0
	for i := range list.Len() {
		switch field.Kind() {
		case protoreflect.MessageKind:
			f.sizes(prefix+string(field.Name())+".", list.Get(i).Message())
		case protoreflect.StringKind:
			size := len(list.Get(i).String())
			total += size
			if field.Name() != "mount_flags" {
				f.atMost(prefix, field, size, limitOf(string(field.Name())))
			}
		}
	}
	if field.Name() == "mount_flags" {
		f.atMost(prefix, field, total, mountFlagsLimit)
	}
}

func (f *findings) mapSize(prefix string, field protoreflect.FieldDescriptor, m protoreflect.Map) {
	if field.MapValue().Kind() != protoreflect.StringKind {
		return
	}
	total := 0
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		total += len(k.String()) + len(v.String())
		return true
	})
	f.atMost(prefix, field, total, mapLimit)
}

func (f *findings) atMost(prefix string, field protoreflect.FieldDescriptor, size, limit int) {
	if limit > 0 && size > limit {
		f.add(prefix+string(field.Name()), tooBig, "has %d bytes, the limit is %d", size, limit)
	}
}
