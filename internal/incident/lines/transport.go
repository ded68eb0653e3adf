package lines

import "strings"

// peel removes the headers of transports from a line, and then parses the line of the program:
// kubectl logs --prefix and --timestamps, files of containerd, journalctl, Docker.
func (r *reader) peel(text string, to *Record) {
	text = r.prefix(text, to)
	switch {
	case text == "":
		to.Text, to.bare = text, true
	case text[0] == '{':
		to.Text = text
		if !r.jsonLine(text, to) {
			to.Message = text
		}
	case text[0] == '2' && r.dated(text, to):
	case text[0] >= 'A' && text[0] <= 'Z' && r.syslogLine(text, to):
	default:
		r.inner(text, to)
	}
}

// inner parses the text of a program.
func (r *reader) inner(text string, to *Record) {
	to.Text = text
	if r.header(text, to) || strings.HasPrefix(text, "{") && r.program(r.flat(text), to) {
		return
	}
	if strings.Contains(text, "] ") && r.within(text, to) {
		return
	}
	to.Message, to.bare = text, true
}

// prefix removes "[pod/name/container] ".
func (r *reader) prefix(text string, to *Record) string {
	if !strings.HasPrefix(text, "[pod/") {
		return text
	}
	of, rest, ok := strings.Cut(text[len("[pod/"):], "] ")
	pod, container, both := strings.Cut(of, "/")
	if !ok || !both {
		return text
	}
	to.Pod, to.Container = r.callers.of(pod), r.callers.of(container)
	return rest
}

// dated parses a line that begins with a date: of a container's file, of kubectl logs --timestamps,
// of journalctl -o short-iso, or of a program.
func (r *reader) dated(text string, to *Record) bool {
	found, ok := iso(text, r.clock)
	if !ok || !strings.HasPrefix(found.rest, " ") {
		return false
	}
	rest := found.rest[1:]
	if text[10] != 'T' { // of a program
		return false
	}
	if stream, cri := containerLine(rest); cri {
		r.time(to, found)
		r.partial(stream, to)
		return true
	}
	if r.traced(found, to) {
		to.Text = text
		return true
	}
	if found.zoned && found.digits <= 6 && r.journaled(found, rest, to) {
		return true
	}
	if !found.zoned || found.digits == 0 {
		return false
	}
	r.time(to, found)
	r.inner(rest, to)
	return true
}

// piece is a line in a container's file: a complete line, or the first part of a line.
type piece struct {
	text  string
	whole bool
}

// containerLine parses "stdout F text" after the time.
func containerLine(rest string) (p piece, ok bool) {
	if !strings.HasPrefix(rest, "stdout ") && !strings.HasPrefix(rest, "stderr ") || len(rest) < 9 {
		return p, false
	}
	tag, text, _ := strings.Cut(rest[7:], " ")
	if tag != "F" && tag != "P" && !strings.HasPrefix(tag, "F:") && !strings.HasPrefix(tag, "P:") {
		return p, false
	}
	return piece{text, tag[0] == 'F'}, true
}

// partial joins the pieces of a line.
func (r *reader) partial(p piece, to *Record) {
	if !p.whole {
		if len(r.pieces)+len(p.text) < longest {
			r.pieces += p.text
		}
		r.isPiece = true
		return
	}
	text := r.pieces + p.text
	r.pieces = ""
	r.inner(text, to)
}

// syslogLine parses a line of journalctl: "Nov 28 12:47:26 host program[123]: text".
func (r *reader) syslogLine(text string, to *Record) bool {
	found, ok := syslog(text, r.clock)
	return ok && strings.HasPrefix(found.rest, " ") && r.journaled(found, found.rest[1:], to)
}

// journaled parses "host program[123]: text".
func (r *reader) journaled(found stamp, rest string, to *Record) bool {
	host, rest, ok := strings.Cut(rest, " ")
	program, text, named := strings.Cut(rest, ": ")
	if !named {
		program, named = strings.CutSuffix(rest, ":")
	}
	if !ok || !named || strings.ContainsAny(program, " \"=") || strings.ContainsAny(host, "\"=]") {
		return false
	}
	program, _, _ = strings.Cut(program, "[")
	r.time(to, found)
	to.Node, to.Program = r.callers.of(host), r.callers.of(program)
	r.inner(text, to)
	return true
}
