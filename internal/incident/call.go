package incident

import (
	"path"
	"strings"

	"github.com/csisim/csisim/internal/incident/calls"
	"github.com/csisim/csisim/internal/world/trace"
)

// done adds calls that are complete, or that the log leaves open.
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
	if s.isDriver() || s.byMethods || s.isMixed {
		l.From = calls.Caller(c.Method)
	}
	return s.of.add(c.Begin, s.place, &l)
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

// about returns the content of a call besides its messages: its lines, and the reasons for doubt.
func (s *stream) about(c *calls.Call) map[string]any {
	about := map[string]any{"lines": c.Texts}
	if c.Uncertain != "" {
		about["uncertain"] = c.Uncertain
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
