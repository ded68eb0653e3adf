package calls

import (
	"encoding/json"
	"strings"
)

// unquoted reads JSON without its quotes, as jiva prints it: {volume_id:v1,access_mode:{mode:1}}.
// It is nil for any other text, and for values that contain a comma or a brace.
func unquoted(text string) map[string]any {
	p := unquotedText{rest: text}
	object, ok := p.object()
	if !ok || p.rest != "" {
		return nil
	}
	return object
}

type unquotedText struct{ rest string }

func (p *unquotedText) skip(sign string) bool {
	rest, found := strings.CutPrefix(p.rest, sign)
	p.rest = rest
	return found
}

func (p *unquotedText) object() (map[string]any, bool) {
	if !p.skip("{") {
		return nil, false
	}
	object := map[string]any{}
	for !p.skip("}") {
		name, rest, found := strings.Cut(p.rest, ":")
		if !found || name == "" || strings.ContainsAny(name, "{}[],") {
			return nil, false
		}
		p.rest = rest
		value, ok := p.value()
		if !ok {
			return nil, false
		}
		object[name] = value
		if !p.skip(",") && !strings.HasPrefix(p.rest, "}") {
			return nil, false
		}
	}
	return object, true
}

func (p *unquotedText) value() (any, bool) {
	switch {
	case strings.HasPrefix(p.rest, "{"):
		return p.object()
	case strings.HasPrefix(p.rest, "["):
		return p.list()
	}
	end := strings.IndexAny(p.rest, ",}]")
	if end < 0 {
		return nil, false
	}
	text := p.rest[:end]
	p.rest = p.rest[end:]
	var plain any
	if json.Unmarshal([]byte(text), &plain) == nil {
		return plain, true
	}
	return text, true
}

func (p *unquotedText) list() (any, bool) {
	p.skip("[")
	all := []any{}
	for !p.skip("]") {
		value, ok := p.value()
		if !ok {
			return nil, false
		}
		all = append(all, value)
		if !p.skip(",") && !strings.HasPrefix(p.rest, "]") {
			return nil, false
		}
	}
	return all, true
}
