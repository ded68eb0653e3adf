package contract

import (
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"
)

// Kept is a rule of the CSI spec that was checked for a call and kept.
type Kept struct {
	Field string // "volume_id", of an answer "answer.node_id"; empty if it is not about one field
	Rule  string
}

// KeptRules returns the rules that a call and its answer have kept, from CheckRequest and from
// CheckResponse or CheckError. resp is nil if the call failed. caps may be nil.
func KeptRules(method string, req, resp proto.Message, code codes.Code, caps *Caps) []Kept {
	var kept []Kept
	if f, ok := start(method, req); ok {
		f.noting = true
		f.request(req, orNothing(caps))
		kept = f.keptRules("")
	}
	if code != codes.OK {
		if f, ok := start(method, req); ok {
			f.noting = true
			f.failure(code, caps)
			kept = append(kept, f.keptRules("")...)
		}
		return kept
	}
	if f, ok := start(method, resp); ok {
		f.noting = true
		f.response(req, resp, orNothing(caps))
		kept = append(kept, f.keptRules("answer.")...)
	}
	return kept
}

// keep records that a rule was kept, if the caller requests kept rules.
func (f *findings) keep(field, rule string) {
	if f.noting {
		f.kept = append(f.kept, Kept{field, rule})
	}
}

// keptRules returns the rules that were kept and never broken, without repetitions.
func (f *findings) keptRules(prefix string) []Kept {
	seen, broken := map[Kept]bool{}, map[string]bool{}
	for _, v := range f.list {
		field := strings.TrimPrefix(strings.TrimPrefix(v.Field, f.message()), ".")
		seen[Kept{field, string(v.Form)}], broken[string(v.Form)] = true, true
	}
	var kept []Kept
	for _, k := range f.kept {
		if seen[k] || k.Field == "" && broken[k.Rule] {
			continue
		}
		seen[k] = true
		if k.Field != "" {
			k.Field = prefix + k.Field
		}
		kept = append(kept, k)
	}
	return kept
}
