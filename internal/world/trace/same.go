package trace

import (
	"reflect"

	"google.golang.org/protobuf/proto"
)

// Same reports whether two events of different runs are equal, so that their lines are equal, too.
// Different events may still have equal lines, which omit some fields.
func (e *Event) Same(other *Event) bool {
	return *e.Site == *other.Site && e.Seq == other.Seq && e.Cause == other.Cause && e.At == other.At &&
		e.Name == other.Name && e.Message == other.Message && reflect.DeepEqual(e.Detail, other.Detail) &&
		e.Exchange.same(other.Exchange) && e.Diff.same(other.Diff)
}

func (x *Exchange) same(other *Exchange) bool {
	return x.Code == other.Code && x.Took == other.Took && x.Injected == other.Injected && x.Release == other.Release &&
		proto.Equal(x.Request, other.Request) && proto.Equal(x.Response, other.Response)
}

func (d *Diff) same(other *Diff) bool {
	return d.Change == other.Change && reflect.DeepEqual(d.Old, other.Old) && reflect.DeepEqual(d.New, other.New)
}
