package lines

import "strings"

// klog parses the text of a program: with the header of klog, of logrus, of zap for consoles, or of
// Go's package log. It reports whether the text has one of these headers.
func (r *reader) header(text string, to *Record) bool {
	switch {
	case text == "":
		return false
	case strings.HasPrefix(text, "  2"):
		return r.pretty(text, to)
	case text[0] >= 'D' && text[0] <= 'W' && r.klog(text, to):
		return true
	case text[0] >= '0' && text[0] <= '9':
		return r.isoHeader(text, to)
	case strings.HasPrefix(text, "time="):
		return r.logrus(text, to)
	}
	return false
}

// within parses a line with a klog header after other words: the pod and container from stern, or
// line numbers from a tool.
func (r *reader) within(text string, to *Record) bool {
	for at := strings.IndexByte(text, ' '); at >= 0 && at+20 < len(text) && at < mostBefore; {
		rest := text[at+1:]
		if rest[0] >= 'D' && rest[0] <= 'W' && r.klog(rest, to) {
			if before := strings.Fields(text[:at]); len(before) == 2 && to.Pod == "" && strings.Contains(before[0], "-") {
				to.Pod, to.Container = r.callers.of(before[0]), r.callers.of(before[1])
			}
			return true
		}
		next := strings.IndexByte(rest, ' ')
		if next < 0 {
			return false
		}
		at += 1 + next
	}
	return false
}

// mostBefore is the number of bytes of other words before a header.
const mostBefore = 200

// klog parses "I1128 12:47:26.123456   12345 file.go:120] text".
func (r *reader) klog(text string, to *Record) bool {
	if len(text) < 20 || strings.IndexByte("IWEFD", text[0]) < 0 || text[5] != ' ' {
		return false
	}
	month, day := digits(text, 1, 3), digits(text, 3, 5)
	since, length := dayTime(text[6:])
	end := strings.Index(text, "] ")
	if month < 1 || day < 1 || length == 0 || end < 0 {
		if length == 0 || !strings.HasSuffix(text, "]") {
			return false
		}
		end = len(text) - 1
	}
	at, ok := r.clock.yearless(month, day, since)
	if !ok {
		return false
	}
	r.time(to, stamp{at: at, digits: max(length-9, 0)})
	to.Level = text[0]
	if place := strings.LastIndexByte(text[:end], ' '); place > 0 {
		to.Caller = r.callers.of(text[place+1 : end])
	}
	to.Message = strings.TrimSpace(text[min(end+2, len(text)):])
	to.structured()
	return true
}

// structured splits the message of a structured line into its text and its values.
func (to *Record) structured() {
	if text, rest, ok := quoted(to.Message); ok && (rest == "" || rest[0] == ' ') {
		to.Message, to.values.pairs = text, rest
		if strings.HasSuffix(rest, "=<") {
			to.goesOn = inValue
		}
	}
}

// logrus parses `time="2026-11-28T12:47:26Z" level=info msg="text" key=value`.
func (r *reader) logrus(text string, to *Record) bool {
	known := pairs(text)
	found, ok := iso(known["time"], r.clock)
	if !ok {
		return false
	}
	r.time(to, found)
	to.Level = levelOf(known["level"])
	to.Message, to.Caller = known["msg"], known["func"]
	to.values.known = known
	return true
}

// isoHeader parses the formats that begin with a date: zap's format for consoles, with tabs, and
// the format of Go's package log.
func (r *reader) isoHeader(text string, to *Record) bool {
	found, ok := iso(text, r.clock)
	if !ok {
		return false
	}
	if r.traced(found, to) {
		return true
	}
	r.time(to, found)
	rest := found.rest
	if !strings.HasPrefix(rest, "\t") {
		to.Message = strings.TrimLeft(rest, " ")
		return true
	}
	for field := range strings.SplitSeq(rest[1:], "\t") {
		switch {
		case to.Level == 0 && levelOf(field) != 0:
			to.Level = levelOf(field)
		case to.Caller == "" && isCaller(field):
			to.Caller = r.callers.of(fileOf(field))
		case strings.HasPrefix(field, "{"):
			to.values.known = r.flat(field)
		case to.Message == "":
			to.Message = field
		default:
			to.Message += " " + field
		}
	}
	return true
}

// isCaller reports whether a field is a position in a program's source, such as "csi/node.go:57".
func isCaller(field string) bool {
	file, line, ok := strings.Cut(field, ".go:")
	return ok && file != "" && digits(line, 0, len(line)) >= 0 && !strings.Contains(file, " ")
}

// fileOf shortens a place in a source to its file and line.
func fileOf(caller string) string { return caller[strings.LastIndexByte(caller, '/')+1:] }

// levelOf returns the letter of a level's name; 0 for another word.
func levelOf(name string) byte {
	switch strings.ToLower(name) {
	case "info", "notice":
		return 'I'
	case "warn", "warning":
		return 'W'
	case "error", "err":
		return 'E'
	case "fatal", "panic", "crit", "critical":
		return 'F'
	case "debug", "trace", "verbose", "silly":
		return 'D'
	}
	return 0
}

// texts are stored once, since callers are repeated in most lines.
type texts map[string]string

// mostTexts bounds the stored texts.
const mostTexts = 1 << 12

func (t texts) of(text string) string {
	if known, ok := t[text]; ok {
		return known
	}
	known := strings.Clone(text)
	if len(t) < mostTexts {
		t[known] = known
	}
	return known
}
