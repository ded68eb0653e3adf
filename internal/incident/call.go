package incident

import (
	"path"
	"strings"

	"github.com/csisim/csisim/internal/incident/calls"
	"github.com/csisim/csisim/internal/world/trace"
)

// done adds calls that are complete, or that have no end in the log.
func (s *stream) done(all []*calls.Call) error {
	for _, c := range all {
		if err := s.call(c); err != nil {
			return err
		}
	}
	return nil
}

func (s *stream) call(c *calls.Call) error {
	s.of.result.Calls++
	if c.Uncertain != "" {
		s.of.result.Uncertain++
	}
	if name, ok := c.Answer["name"].(string); ok && path.Base(c.Method) == "GetPluginInfo" {
		s.driver = name
	}
	l := trace.Line{
		K: trace.Call, From: s.program, Driver: s.driver, M: c.Method, Req: c.Request, Resp: c.Answer, Code: c.Code, Msg: c.Error,
		Src: s.refs(c), Obj: s.about(c),
	}
	if l.Req == nil {
		l.Req = map[string]any{}
	}
	if c.IsAnswered {
		l.Ms = c.End.Sub(c.Begin).Milliseconds()
	}
	if s.isDriver() || s.isMixed && (s.table == nil || !s.table.PrintsCalls()) {
		l.From = calls.Caller(c.Method)
	}
	return s.of.addCall(c, s.compared(c), s.place, &l)
}

// compared records a call for the comparison of the caller's and the driver's clocks. If the call
// must be left out when the other log also contains it, it returns the call's number; otherwise 0.
func (s *stream) compared(c *calls.Call) int {
	of, begin, end, number := subjectOf(c), callBegins, callEnds, 0
	if s.isDriver() {
		begin, end = callReceived, callAnswered
	}
	if s.isDriver() || s.program == kubelet {
		s.of.pairs.calls++
		number = s.of.pairs.calls
	}
	if of == "" || s.byMethods {
		return 0
	}
	s.of.pairs.note(begin, of, s.place, seen{c.Begin, number})
	if c.IsAnswered {
		s.of.pairs.note(end, of, s.place, seen{c.End, number})
	}
	return number
}

// kubelet prints its calls without most of their requests, so the driver's log has more
// information.
const kubelet = "kubelet"

// subjectOf groups calls. The n-th call of a group is the same in two logs.
func subjectOf(c *calls.Call) string {
	for _, field := range []string{"volume_id", "name", "snapshot_id"} {
		if id, ok := c.Request[field].(string); ok && id != "" {
			node, _ := c.Request["node_id"].(string)
			return c.Method + " " + id + " " + node
		}
	}
	return ""
}

func (s *stream) isDriver() bool { return s.table != nil && s.table.IsDriver }

// refs names the lines of a call.
func (s *stream) refs(c *calls.Call) string {
	refs := make([]string, len(c.Lines))
	for i, n := range c.Lines {
		refs[i] = refOf(s.of.source, n)
	}
	return strings.Join(refs, ", ")
}

// about returns the content of a call besides its messages: its lines, and any reason for doubt.
func (s *stream) about(c *calls.Call) map[string]any {
	about := map[string]any{"lines": c.Texts}
	if c.Uncertain != "" {
		about["uncertain"] = c.Uncertain
	}
	if s.program == kubelet {
		about["log"] = "of the kubelet, which prints the volume and the path only"
	}
	if s.isDriver() || s.byMethods {
		about["log"] = "the caller follows from the RPC"
	}
	switch {
	case c.IsAnswered:
	case s.table != nil && s.table.IsSilent:
		about["answer"] = "not logged: this driver prints no answer"
	default:
		about["answer"] = "not in the log"
	}
	return about
}
