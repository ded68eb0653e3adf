package lines

import (
	"strconv"
	"strings"
	"time"

	"github.com/valyala/fastjson"
)

// flat returns the fields of a JSON object as texts; nil for any other text.
func (r *reader) flat(text string) map[string]string {
	v, err := r.json.Parse(text)
	if err != nil || v.Type() != fastjson.TypeObject {
		return nil
	}
	return fieldsOf(v)
}

func fieldsOf(v *fastjson.Value) map[string]string {
	known := map[string]string{}
	v.GetObject().Visit(func(name []byte, v *fastjson.Value) { known[string(name)] = textOf(v) })
	return known
}

// textOf returns a string's text, and any other value in JSON.
func textOf(v *fastjson.Value) string {
	switch v.Type() {
	case fastjson.TypeString:
		return string(v.GetStringBytes())
	case fastjson.TypeNull:
		return ""
	}
	return v.String()
}

// jsonLine parses a line in JSON: of Docker, of journalctl -o json, or of a program.
func (r *reader) jsonLine(text string, to *Record) bool {
	v, err := r.json.Parse(text)
	if err != nil || v.Type() != fastjson.TypeObject {
		return false
	}
	switch {
	case v.Exists("log") && v.Exists("stream"):
		return r.docker(v, to)
	case v.Exists("MESSAGE") && v.Exists("__REALTIME_TIMESTAMP"):
		return r.journal(v, to)
	}
	return r.program(fieldsOf(v), to)
}

func (r *reader) docker(v *fastjson.Value, to *Record) bool {
	found, ok := iso(textOf(v.Get("time")), r.clock)
	if !ok {
		return false
	}
	r.time(to, found)
	r.inner(strings.TrimSuffix(textOf(v.Get("log")), "\n"), to)
	return true
}

// journal parses a line of journalctl -o json. A message with bytes that are no text is a list of
// numbers.
func (r *reader) journal(v *fastjson.Value, to *Record) bool {
	micro, err := strconv.ParseInt(textOf(v.Get("__REALTIME_TIMESTAMP")), 10, 64)
	if err != nil {
		return false
	}
	r.time(to, stamp{at: time.UnixMicro(micro).UTC(), zoned: true, digits: 6})
	to.Node, to.Program = textOf(v.Get("_HOSTNAME")), textOf(v.Get("SYSLOG_IDENTIFIER"))
	message := textOf(v.Get("MESSAGE"))
	if list := v.GetArray("MESSAGE"); list != nil {
		bytes := make([]byte, len(list))
		for i, b := range list {
			bytes[i] = byte(b.GetInt())
		}
		message = string(bytes)
	}
	r.inner(message, to)
	return true
}

// The names of fields in the JSON of programs, in the order in which they are tried.
var (
	timeNames    = []string{"ts", "time", "timestamp", "@timestamp", "T"}
	messageNames = []string{"msg", "message", "M"}
	levelNames   = []string{"level", "severity", "L"}
	callerNames  = []string{"caller", "logger_name", "source"}
)

func firstOf(known map[string]string, names []string) string {
	for _, name := range names {
		if text := known[name]; text != "" {
			return text
		}
	}
	return ""
}

// program parses the JSON of klog, zap, logr and the like.
func (r *reader) program(known map[string]string, to *Record) bool {
	message, when := firstOf(known, messageNames), firstOf(known, timeNames)
	if message == "" || when == "" {
		return false
	}
	found, ok := iso(when, r.clock)
	if !ok {
		found, ok = epoch(when)
	}
	if !ok {
		return false
	}
	r.time(to, found)
	to.Message, to.Level = message, levelOf(firstOf(known, levelNames))
	if caller := firstOf(known, callerNames); isCaller(caller) {
		to.Caller = r.callers.of(fileOf(caller))
	}
	if to.Level == 0 && known["err"] != "" {
		to.Level = 'E' // klog has verbosities only
	}
	to.values.known = known
	return true
}

// epoch parses a time in seconds or milliseconds since 1970.
func epoch(text string) (found stamp, ok bool) {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 1e8 || n > 1e14 {
		return found, false
	}
	if n < 1e11 {
		n *= 1000
	}
	return stamp{at: time.UnixMicro(int64(n * 1000)).UTC(), zoned: true, digits: 6}, true
}
