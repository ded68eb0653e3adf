package lines

import (
	"bytes"
	"strings"
)

// traced parses "ERROR csi_node::node: text" after the time, as Rust's package tracing prints it.
func (r *reader) traced(at stamp, to *Record) bool {
	level, rest, _ := strings.Cut(strings.TrimLeft(at.rest, " "), " ")
	if level != strings.ToUpper(level) || levelOf(level) == 0 {
		return false
	}
	target, message, isTraced := strings.Cut(strings.TrimLeft(rest, " "), ": ")
	if !isTraced || strings.Contains(target, " ") || !strings.Contains(target, "::") {
		return false
	}
	r.time(to, at)
	to.Level, to.Caller, to.Message, to.goesOn = levelOf(level), r.callers.of(target), message, inMessage
	return true
}

// pretty parses a line of tracing with two spaces before it.
func (r *reader) pretty(text string, to *Record) bool {
	found, ok := iso(text[2:], r.clock)
	return ok && r.traced(found, to)
}

// uncoloured removes the escape sequences for colours from a line.
func uncoloured(line []byte) []byte {
	const begin = "\x1b["
	if !bytes.Contains(line, []byte(begin)) {
		return line
	}
	var plain []byte
	for {
		before, after, found := bytes.Cut(line, []byte(begin))
		plain = append(plain, before...)
		if !found {
			return plain
		}
		line = bytes.TrimLeft(after, "0123456789;")
		line = bytes.TrimPrefix(line, []byte("m"))
	}
}
