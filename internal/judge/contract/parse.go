package contract

import (
	"path"
	"strings"
)

// Parse is the violation of a call of a method whose String is line: that is how a trace has it.
func Parse(method, line string) Violation {
	v, name := Violation{Method: method}, path.Base(method)
	if rest, ok := strings.CutPrefix(line, name+" "); ok {
		v.Rule, v.Detail, _ = strings.Cut(rest, ": ")
		return v
	}
	field, rest, _ := strings.Cut(strings.TrimSuffix(line, " ("+name+")"), " ")
	at := strings.LastIndex(rest, ": ")
	if at < 0 {
		return Violation{Method: method, Rule: line}
	}
	v.Field, v.Detail, v.Rule = field, rest[:at], rest[at+2:]
	return v
}
