package contract

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Outcome is the outcome of a call: its answer, and its visible effect.
type Outcome struct {
	Err    error // a gRPC status; nil is OK
	Answer proto.Message
	// Mounts are the mounts at the paths of a request to a node, one per line.
	Mounts []string
	// Writable means that a volume published as read-only is writable at its target path. Within is
	// a path at which a container that mounts it read-only can write; empty if there is none.
	Writable bool
	Within   string
	// Left is a file that remains where the volume was published; empty if there is none.
	Left string
	// Volumes are the volumes in the backend's list that the request can concern.
	Volumes []Listed
}

// Listed is a volume that a driver lists.
type Listed struct {
	ID    string
	Nodes string // nodes to which it is published, sorted and separated by blanks
	Bytes int64
}

func (l Listed) String() string { return strings.TrimSpace(l.ID + " " + l.Nodes) }

// CheckRepeat compares the outcome of a call that was repeated after its OK to the first outcome.
// The CSI spec requires them to be the same.
func CheckRepeat(method string, first, second Outcome) []verdict.Verdict {
	field, detail := first.changedTo(second)
	if detail.Text == "" {
		return nil
	}
	v := Broken(method, NotIdempotent, detail)
	v.Field = field
	if second.Err != nil {
		v.Code = status.Code(second.Err).String()
		v.Found = []string{status.Convert(second.Err).Message()}
	}
	return []verdict.Verdict{v}
}

// StacksMounts returns the verdict on a repeated call that answers OK and adds a mount at its path.
func StacksMounts(method string, before, after int) verdict.Verdict {
	several := ""
	if before > 1 {
		several = "s"
	}
	return Broken(method, NotIdempotent, verdict.Say("%d %s, then %d", before, verdict.Say("mount").Aside("%s", several), after))
}

// changedTo describes the difference of the second outcome; empty if there is none. If one field of
// the answer has another value, field names it. It is empty for ids and for all other differences.
func (o Outcome) changedTo(second Outcome) (field string, detail verdict.Sentence) {
	switch {
	case second.Err != nil && status.Code(o.Err) != status.Code(second.Err):
		return "", verdict.Say("%v, then %v", verdict.Kept(status.Code(o.Err)), verdict.Kept(status.Code(second.Err))).
			Aside(" (%s)", status.Convert(second.Err).Message())
	case !slices.Equal(o.Mounts, second.Mounts):
		return "", changed(o.Mounts, second.Mounts, "mount")
	case status.Code(second.Err) == codes.OK && !proto.Equal(o.Answer, second.Answer):
		return difference("", o.Answer.ProtoReflect(), second.Answer.ProtoReflect())
	case !slices.Equal(o.Volumes, second.Volumes):
		return "", changed(lines(o.Volumes), lines(second.Volumes), "volume")
	}
	return "", verdict.Sentence{}
}

func lines(volumes []Listed) []string {
	var all []string
	for _, v := range volumes {
		all = append(all, v.String())
	}
	return all
}

// changed returns "1 mount, then 2", or the lines themselves if their number is unchanged.
func changed(before, after []string, noun string) verdict.Sentence {
	if len(before) == len(after) {
		return verdict.Say("%s %s, then %s", verdict.Kept(noun), strings.Join(before, " and "), strings.Join(after, " and "))
	}
	several := ""
	if len(before) != 1 {
		several = "s"
	}
	return verdict.Say("%d %s, then %d", len(before), verdict.Say("%s", verdict.Kept(noun)).Aside("%s", several), len(after))
}

// difference names the first field in which two messages of one kind differ, with both values:
// "volume v1, then v2". The field is empty if it is the id.
func difference(path string, a, b protoreflect.Message) (field string, detail verdict.Sentence) {
	fields := a.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		x, y := a.Get(field), b.Get(field)
		if x.Equal(y) {
			continue
		}
		name := strings.TrimPrefix(path+"."+string(field.Name()), ".")
		said := func(name string) verdict.Sentence {
			return verdict.Say("%s %s, then %s", fieldName(name), shown(field, x), shown(field, y))
		}
		switch {
		case field.Kind() == protoreflect.MessageKind && field.IsList() && x.List().Len() == y.List().Len():
			return elementsDiffer(name, x.List(), y.List())
		case field.Kind() == protoreflect.MessageKind && !field.IsList() && !field.IsMap():
			return difference(name, x.Message(), y.Message())
		case name == "volume.volume_id":
			return "", said("volume")
		case name == "snapshot.snapshot_id":
			return "", said("snapshot")
		case name == "group_snapshot.group_snapshot_id":
			return "", said("group snapshot")
		}
		return name, said(name)
	}
	return "", verdict.Say("the answers differ")
}

// elementsDiffer returns the difference of the first unequal messages in two lists of the same
// length.
func elementsDiffer(path string, a, b protoreflect.List) (field string, detail verdict.Sentence) {
	for i := range a.Len() {
		if x, y := a.Get(i), b.Get(i); !x.Equal(y) {
			return difference(path, x.Message(), y.Message())
		}
	}
	return "", verdict.Say("the answers differ")
}

// fieldName returns the name of a field that differs. The parts of a time differ by chance, so the
// name of a verdict contains only the time as a whole.
func fieldName(path string) verdict.Sentence {
	for _, part := range []string{".seconds", ".nanos"} {
		if whole, isPart := strings.CutSuffix(path, part); isPart {
			return verdict.Say("%s", verdict.Kept(whole)).Aside("%s", part)
		}
	}
	return verdict.Say("%s", verdict.Kept(path))
}

// shown returns a field's value in a message to people.
func shown(field protoreflect.FieldDescriptor, value protoreflect.Value) string {
	switch {
	case field.IsList() && value.List().Len() == 0, field.IsMap() && value.Map().Len() == 0:
		return "none"
	case field.IsList():
		return strconv.Itoa(value.List().Len())
	case field.IsMap():
		return shownMap(value.Map())
	}
	return cmp.Or(value.String(), "none")
}

func shownMap(m protoreflect.Map) string {
	var entries []string
	m.Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
		entries = append(entries, key.String()+"="+value.String())
		return true
	})
	slices.Sort(entries)
	return strings.Join(entries, ",")
}
