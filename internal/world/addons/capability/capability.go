// Package capability names the capabilities of CSI-Addons as in the status of a CSIAddonsNode:
// reclaim_space.OFFLINE. A-NODE-6
package capability

import (
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/internal/world/addons/identity"
)

// Name returns the name of a capability; empty if the capability is empty.
func Name(c *identity.Capability) string {
	m := c.ProtoReflect()
	group := m.WhichOneof(m.Descriptor().Oneofs().ByName("type"))
	if group == nil {
		return ""
	}
	kind := kindOf(group)
	number := m.Get(group).Message().Get(kind).Enum()
	value := kind.Enum().Values().ByNumber(number)
	if value == nil {
		return string(group.Name()) + "." + strconv.Itoa(int(number))
	}
	return string(group.Name()) + "." + string(value.Name())
}

// Named returns the capability with the given name; nil if there is none.
func Named(name string) *identity.Capability {
	group, value, _ := strings.Cut(name, ".")
	c := &identity.Capability{}
	m := c.ProtoReflect()
	field := m.Descriptor().Oneofs().ByName("type").Fields().ByName(protoreflect.Name(group))
	if field == nil {
		return nil
	}
	kind := kindOf(field)
	known := kind.Enum().Values().ByName(protoreflect.Name(value))
	if known == nil {
		return nil
	}
	m.Mutable(field).Message().Set(kind, protoreflect.ValueOfEnum(known.Number()))
	return c
}

// kindOf returns the field of a group's message that names the capability in the group.
func kindOf(group protoreflect.FieldDescriptor) protoreflect.FieldDescriptor {
	return group.Message().Fields().ByName("type")
}
