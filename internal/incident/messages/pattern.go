package messages

import "strings"

// Message is a line of a table.
type Message struct {
	// File is the file of the program's source that prints the message.
	File string
	// Text is the message, with fields in braces. A structured message also has pairs, which are
	// fields with their own names.
	Text string
	// Means is the fact that the message states.
	Means Meaning
}

// Pattern is a message in a form that can be matched.
type Pattern struct {
	Message
	parts []part
	name  string
}

// part is a piece of a pattern: fixed text and the field after it, which may have no name.
type part struct {
	text, field string
	isEnd       bool // no field follows
}

// Name returns the message without its fields.
func (p *Pattern) Name() string { return p.name }

// compiled splits the text of a message into its parts.
func compiled(m Message) *Pattern {
	p := &Pattern{Message: m}
	var name strings.Builder
	rest := p.Text
	for {
		text, after, more := strings.Cut(rest, "{")
		name.WriteString(text)
		field := ""
		if more {
			field, rest, _ = strings.Cut(after, "}")
			name.WriteString("…")
		}
		p.parts = append(p.parts, part{text, field, !more})
		if !more || rest == "" {
			break
		}
	}
	p.name = strings.TrimRight(name.String(), " ")
	return p
}

// firstWord returns the part of a message before its first space, or before the first of the
// characters that follow names.
func firstWord(message string) string {
	if end := strings.IndexAny(message, " :[(\"{"); end >= 0 {
		return message[:end]
	}
	return message
}

// match reports whether a message has the form of the pattern. The fields are pairs of name and
// value, appended to found.
func (p *Pattern) match(message string, found []string) ([]string, bool) {
	rest := message
	for i, at := range p.parts {
		if i == 0 {
			if !strings.HasPrefix(rest, at.text) {
				return found, false
			}
			rest = rest[len(at.text):]
			continue
		}
		before := p.parts[i-1].field
		if at.text == "" && i == len(p.parts)-1 {
			return append(found, before, strings.TrimSpace(rest)), true
		}
		end := strings.Index(rest, at.text)
		if end < 0 {
			return found, false
		}
		found = append(found, before, rest[:end])
		rest = rest[end+len(at.text):]
	}
	last := p.parts[len(p.parts)-1]
	if last.isEnd {
		return found, strings.TrimSpace(rest) == ""
	}
	return append(found, last.field, strings.TrimSpace(rest)), true
}
