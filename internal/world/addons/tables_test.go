// Package addons_test checks the wire format of CSI-Addons against the tables of its specification.
package addons_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/registry"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/sidecar"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

var files = []protoreflect.FileDescriptor{
	identity.File_identity_identity_proto, reclaimspace.File_reclaimspace_reclaimspace_proto, fence.File_fence_fence_proto,
	replication.File_replication_replication_proto, volumegroup.File_volumegroup_volumegroup_proto,
	encryptionkeyrotation.File_encryptionkeyrotation_encryptionkeyrotation_proto,
}

// driverContract is section 2 of the specification.
func driverContract(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/spec/csi-addons.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "## 2. Driver contract")
	require.True(t, found)
	section, _, found := strings.Cut(rest, "\n## 3.")
	require.True(t, found)
	return section
}

// rows returns the cells of each line of the tables in a section.
func rows(section string) (all [][]string) {
	for _, line := range strings.Split(section, "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| ---") {
			continue
		}
		var cells []string
		for _, cell := range strings.Split(strings.Trim(line, "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		all = append(all, cells)
	}
	return all
}

func TestServicesAreThoseOfTheTable(t *testing.T) {
	var want, got []string
	for _, row := range rows(driverContract(t)) {
		if strings.HasPrefix(row[0], "/") {
			want = append(want, fmt.Sprintf("%s %s %s", row[0], row[1], row[2]))
		}
	}
	for _, f := range files {
		for i := range f.Services().Len() {
			s := f.Services().Get(i)
			for j := range s.Methods().Len() {
				m := s.Methods().Get(j)
				assert.False(t, m.IsStreamingClient() || m.IsStreamingServer())
				got = append(got, fmt.Sprintf("/%s/%s %s %s", s.FullName(), m.Name(), m.Input().Name(), m.Output().Name()))
			}
		}
	}
	require.NotEmpty(t, want)
	assert.ElementsMatch(t, want, got)
}

// internalContract returns section 3 of the specification: the manager's requests to sidecars.
func internalContract(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../../docs/spec/csi-addons.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "## 3. Internal contract")
	require.True(t, found)
	section, _, found := strings.Cut(rest, "\n## 4.")
	require.True(t, found)
	return section
}

// A cell names the methods of a service, "/proto.A/B, /proto.A/C" or "/proto.A/{B, C}". After an
// arrow it names the messages, which begin with the method's name in <Method>Request.
func TestServicesOfTheSidecarAreThoseOfTheTable(t *testing.T) {
	var want, got []string
	method := regexp.MustCompile(`/proto\.(\w+)/(?:\{([^}]*)\}|(\w+))`)
	for _, row := range rows(internalContract(t)) {
		if !strings.HasPrefix(row[0], "/proto.") {
			continue
		}
		in, out, found := strings.Cut(row[1], " → ")
		require.True(t, found, row[1])
		for _, of := range method.FindAllStringSubmatch(row[0], -1) {
			for name := range strings.SplitSeq(of[2]+of[3], ", ") {
				called := func(message string) string { return strings.ReplaceAll(message, "<Method>", name) }
				want = append(want, fmt.Sprintf("/proto.%s/%s %s %s", of[1], name, called(in), called(out)))
			}
		}
	}
	services := sidecar.File_sidecar_sidecar_proto.Services()
	for i := range services.Len() {
		for j := range services.Get(i).Methods().Len() {
			m := services.Get(i).Methods().Get(j)
			got = append(got, fmt.Sprintf("/%s/%s %s %s", services.Get(i).FullName(), m.Name(), m.Input().Name(), m.Output().Name()))
		}
	}
	assert.Len(t, want, 17)
	assert.ElementsMatch(t, want, got)
}

// nested is a message that a table describes at the place of its use: "1: volume VolumeSource{1:
// volume_id string}".
var nested = regexp.MustCompile(`(\w+)\{([^}]*)\}`)

func TestMessagesOfTheSidecarAreThoseOfTheTable(t *testing.T) {
	checked, known := 0, map[string]bool{}
	for _, row := range rows(internalContract(t)) {
		if row[0] == "message" || strings.HasPrefix(row[0], "/") || strings.HasPrefix(row[0], "full method") {
			continue
		}
		text := asInSectionTwo.Replace(strings.Join(row[1:], "|"))
		for _, name := range namesIn(row[0]) {
			known[name] = true
			bare := text
			for _, inner := range nested.FindAllStringSubmatch(text, -1) {
				if strings.HasSuffix(inner[1], "Source") || strings.HasSuffix(inner[1], "Destination") {
					checked += checkMessage(t, protoreflect.FullName("proto."+name+"."+inner[1]), inner[2])
					bare = strings.Replace(bare, inner[0], inner[1], 1)
				}
			}
			checked += checkMessage(t, protoreflect.FullName("proto."+name), bare)
		}
	}
	messages := sidecar.File_sidecar_sidecar_proto.Messages()
	for i := range messages.Len() {
		assert.True(t, known[string(messages.Get(i).Name())], "%s is in no table", messages.Get(i).Name())
	}
	assert.Greater(t, checked, 80, "fields that were read in the table")
}

// asInSectionTwo writes types as the tables of the driver's contract do.
var asInSectionTwo = strings.NewReplacer("status Status {", "status enum Status {", " Timestamp", " google.protobuf.Timestamp", " Duration", " google.protobuf.Duration")

// namesIn returns the messages that a cell names: "A, B" or "Delete…,
// Enable/Disable/Promote/Demote…Response".
func namesIn(cell string) (all []string) {
	for part := range strings.SplitSeq(cell, ", ") {
		first, rest, several := strings.Cut(part, "…")
		if !several {
			all = append(all, part)
			continue
		}
		for verb := range strings.SplitSeq(first, "/") {
			of := "Volume"
			if verb == "Enable" || verb == "Disable" {
				of = "VolumeReplication"
			}
			all = append(all, verb+of+rest)
		}
	}
	return all
}

var (
	heading = regexp.MustCompile(`(?m)^### 2\.\d+ Messages: package (\w+)$`)
	value   = regexp.MustCompile(`([A-Z][A-Z_]*) (\d+)`)
)

// Each message has exactly the fields in the tables, with the same number, name and type.
func TestMessagesAreThoseOfTheTables(t *testing.T) {
	section := driverContract(t)
	checked := 0
	starts := heading.FindAllStringSubmatchIndex(section, -1)
	require.Len(t, starts, len(files))
	for i, at := range starts {
		end := len(section)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		pkg, known := section[at[2]:at[3]], map[string]bool{}
		fields := map[string]string{}
		for _, row := range rows(section[at[1]:end]) {
			if row[0] == "message" {
				continue
			}
			text := strings.Join(row[1:], "|")
			if same, ok := strings.CutPrefix(text, "same numbers as "); ok {
				text = fields[same+"VolumeReplicationRequest"] + fields[same+"VolumeRequest"]
			}
			for _, name := range strings.Split(row[0], ", ") {
				fields[name], known[name] = text, true
				checked += checkMessage(t, protoreflect.FullName(pkg+"."+name), text)
			}
		}
		for _, f := range files {
			for j := 0; string(f.Package()) == pkg && j < f.Messages().Len(); j++ {
				assert.True(t, known[string(f.Messages().Get(j).Name())], "%s is in no table", f.Messages().Get(j).FullName())
			}
		}
	}
	assert.Greater(t, checked, 100, "fields that were read in the tables")
}

// checkMessage returns the number of fields that it has checked.
func checkMessage(t *testing.T, name protoreflect.FullName, text string) int {
	t.Helper()
	found, err := registry.Files.FindDescriptorByName(name)
	require.NoError(t, err)
	message := found.(protoreflect.MessageDescriptor)
	wanted := fieldsOf(text)
	assert.Equal(t, len(wanted), message.Fields().Len(), "fields of %s: %s", name, text)
	for _, w := range wanted {
		f := message.Fields().ByNumber(protoreflect.FieldNumber(w.number))
		if assert.NotNil(t, f, "%s has no field %d", name, w.number) {
			assert.Equal(t, w.name, string(f.Name()), "%s field %d", name, w.number)
			assert.Equal(t, w.kind, kindOf(f), "%s.%s", name, w.name)
			secret := w.name == "secrets" || w.name == "encryption_key"
			assert.Equal(t, secret, proto.GetExtension(f.Options(), csi.E_CsiSecret).(bool), "%s.%s is a secret", name, w.name)
		}
		if w.values != "" {
			assert.Equal(t, w.values, valuesOf(f.Enum()), "%s.%s", name, w.name)
		}
	}
	return len(wanted)
}

// told is a field as a table describes it: "4: volume_ids repeated string".
type told struct {
	number             int
	name, kind, values string
}

func fieldsOf(text string) (all []told) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "oneof type { "), " }")
	var values string
	if open := strings.Index(text, "{"); open >= 0 && strings.Contains(text[:open], "enum") {
		values = text[open : strings.Index(text, "}")+1]
		text = strings.Replace(text, values, "", 1)
	}
	for _, part := range regexp.MustCompile(`\([^)]*\)`).Split(text, -1) { // remarks
		for _, item := range strings.Split(part, ";") {
			words := strings.Fields(item)
			if len(words) < 3 || words[1] == "reserved" {
				continue
			}
			var one told
			if _, err := fmt.Sscanf(words[0], "%d:", &one.number); err != nil {
				continue
			}
			one.name, one.kind = words[1], words[2]
			if one.kind == "repeated" {
				one.kind += " " + words[3]
			}
			if one.kind == "enum" {
				one.values = strings.Join(allValues(values), " ")
			}
			all = append(all, one)
		}
	}
	return all
}

func allValues(text string) (all []string) {
	for _, v := range value.FindAllStringSubmatch(text, -1) {
		all = append(all, v[1]+"="+v[2])
	}
	return all
}

func valuesOf(e protoreflect.EnumDescriptor) string {
	var all []string
	for i := range e.Values().Len() {
		all = append(all, fmt.Sprintf("%s=%d", e.Values().Get(i).Name(), e.Values().Get(i).Number()))
	}
	return strings.Join(all, " ")
}

// kindOf returns the type of a field in the notation of the tables.
func kindOf(f protoreflect.FieldDescriptor) string {
	var kind string
	switch {
	case f.IsMap():
		return "map"
	case f.Kind() == protoreflect.EnumKind:
		return "enum"
	case f.Kind() == protoreflect.MessageKind:
		kind = string(f.Message().Name())
		if strings.Contains(string(f.Message().FullName()), "google.protobuf.") || strings.HasPrefix(string(f.Message().FullName()), "csi.v1.") {
			kind = string(f.Message().FullName())
		}
	default:
		kind = f.Kind().String()
	}
	if f.IsList() {
		kind = "repeated " + kind
	}
	return kind
}

// A message of another program with these numbers is decoded and encoded unchanged. The bytes are
// built only from the descriptors, without the generated code.
func TestEveryMessageSurvives(t *testing.T) {
	n := 0
	registry.Types.RangeMessages(func(kind protoreflect.MessageType) bool {
		n++
		sent := dynamicpb.NewMessage(kind.Descriptor())
		fill(sent, 0)
		wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(sent)
		require.NoError(t, err)
		read := kind.New().Interface()
		require.NoError(t, proto.Unmarshal(wire, read))
		again, err := proto.MarshalOptions{Deterministic: true}.Marshal(read)
		require.NoError(t, err)
		assert.Equal(t, wire, again, kind.Descriptor().FullName())
		assert.Empty(t, read.ProtoReflect().GetUnknown())
		return true
	})
	assert.Greater(t, n, 50)
}

// fill gives every field a value.
func fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case depth > 3:
		case f.IsMap():
			m.Mutable(f).Map().Set(protoreflect.ValueOfString("key").MapKey(), protoreflect.ValueOfString("value"))
		case f.IsList() && f.Kind() == protoreflect.MessageKind:
			element := m.Mutable(f).List().AppendMutable().Message()
			fill(element, depth+1)
		case f.IsList() && f.Kind() == protoreflect.EnumKind:
			m.Mutable(f).List().Append(protoreflect.ValueOfEnum(1))
		case f.IsList():
			m.Mutable(f).List().Append(scalar(f))
		case f.Kind() == protoreflect.MessageKind:
			fill(m.Mutable(f).Message(), depth+1)
		case f.Kind() == protoreflect.EnumKind:
			m.Set(f, protoreflect.ValueOfEnum(1))
		default:
			m.Set(f, scalar(f))
		}
	}
}

func scalar(f protoreflect.FieldDescriptor) protoreflect.Value {
	switch f.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(f.Number()))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(int64(f.Number()))
	}
	return protoreflect.ValueOfString("text of " + string(f.Name()))
}

// A program may link this package and the project's own.
func TestNothingIsInTheRegistryOfTheProcess(t *testing.T) {
	for _, f := range append(files, sidecar.File_sidecar_sidecar_proto) {
		_, err := protoregistry.GlobalFiles.FindFileByPath(f.Path())
		assert.ErrorIs(t, err, protoregistry.NotFound, f.Path())
	}
	_, err := protoregistry.GlobalTypes.FindMessageByName("identity.Capability")
	assert.ErrorIs(t, err, protoregistry.NotFound)
}
