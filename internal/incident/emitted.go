package incident

import (
	"strings"

	"github.com/csisim/csisim/internal/incident/lines"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/trace"
)

// emitted matches the line that client-go prints when a program emits an Event, in its form before
// structured logging. tools/record/event.go
var emitted = lazyregexp.New(`^Event\(v1\.ObjectReference\{Kind:"([^"]*)", Namespace:"([^"]*)", Name:"([^"]*)".*?\}\): type: '([^']*)' reason: '([^']*)' (?s:(.*))$`)

// eventOf returns the Event that a program emitted, if the line describes one.
func eventOf(r *lines.Record) (l trace.Line, is bool) {
	if r.Message == "Event occurred" {
		values := r.Values()
		namespace, name, _ := strings.Cut(values["object"], "/")
		return eventLine(values["kind"], namespace, name, values["type"], values["reason"], values["message"]), values["reason"] != ""
	}
	if !strings.HasPrefix(r.Message, "Event(v1.ObjectReference{") {
		return l, false
	}
	found := emitted().FindStringSubmatch(r.Message)
	if found == nil {
		return l, false
	}
	return eventLine(found[1], found[2], found[3], found[4], found[5], found[6]), true
}

func eventLine(kind, namespace, name, level, reason, message string) trace.Line {
	if name == "" { // an object of the cluster
		namespace, name = "", namespace
	}
	if namespace != "" && namespace != "default" {
		name = namespace + "/" + name
	}
	return trace.Line{K: trace.KubeEvent, M: reason, Msg: message, R: level, Name: kind + "/" + name, Obj: map[string]any{"count": 1}}
}
