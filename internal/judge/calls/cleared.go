package calls

import (
	"path"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// clearsUp is the form of a remark on errors that nothing explains.
const clearsUp verdict.Form = "fails for no reason"

// ClearedUp returns remarks for a run without any fault. Each remark names a method that first
// failed with Internal or Unknown, and that the driver answered with OK when the same call was
// repeated. More counts further such failures. Other codes describe a condition that may be
// temporary.
func ClearedUp(events []*trace.Event) (all []verdict.Verdict) {
	if slices.ContainsFunc(events, isFault) {
		return nil
	}
	for i, e := range events {
		if e.Kind != trace.Call || e.Code != codes.Internal.String() && e.Code != codes.Unknown.String() ||
			!slices.ContainsFunc(events[i+1:], func(later *trace.Event) bool { return succeeds(later, e) }) {
			continue
		}
		if known := slices.IndexFunc(all, func(v verdict.Verdict) bool { return v.Method == e.Method }); known >= 0 {
			all[known].More++
		} else {
			all = append(all, unexplained(e))
		}
	}
	return all
}

func isFault(e *trace.Event) bool {
	return e.Kind == trace.FaultFired || e.Kind == trace.Call && e.Injected != ""
}

// succeeds reports whether a later call repeats the failed one and is answered with OK.
func succeeds(later, failed *trace.Event) bool {
	return later.Kind == trace.Call && later.Code == "" && later.Response != nil && later.Method == failed.Method &&
		later.Driver == failed.Driver && later.Node == failed.Node && proto.Equal(later.Request, failed.Request)
}

func unexplained(e *trace.Event) verdict.Verdict {
	v := verdict.Verdict{Form: clearsUp, Method: e.Method, Code: e.Code, Event: e.Seq, Found: []string{e.Message}, Remark: true}
	return v.Worded(verdict.Say("%s is answered with %s, and with OK when it is repeated, though no fault was injected: %s",
		verdict.Kept(path.Base(e.Method)), verdict.Kept(e.Code), e.Message))
}
