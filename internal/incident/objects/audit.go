package objects

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/world/trace"
)

// Audit turns the lines of an audit log into changes of objects. The zero value is ready.
type Audit struct {
	now map[string]map[string]any // the objects, pruned, by resource and name
}

// audited is an entry of an audit log.
type audited struct {
	Stage, Verb              string
	StageTimestamp           time.Time
	RequestReceivedTimestamp time.Time
	User                     struct{ Username string }
	UserAgent                string
	ObjectRef                struct{ Resource, Namespace, Name, Subresource string }
	ResponseStatus           struct {
		Code   int
		Reason string
	}
	ResponseObject map[string]any
}

// Line returns the change in an entry. It returns false for a read, for a stage of a request before
// its end, and for other kinds.
func (a *Audit) Line(entry string) (f Fact, isChange bool) {
	var e audited
	if json.Unmarshal([]byte(entry), &e) != nil || e.Stage != "ResponseComplete" || !isKnown(e.ObjectRef.Resource) {
		return f, false
	}
	l := trace.Line{K: trace.API, R: e.ObjectRef.Resource, From: userOf(e.User.Username, e.UserAgent), Name: e.ObjectRef.Name}
	if e.ObjectRef.Namespace != "" {
		l.Name = e.ObjectRef.Namespace + "/" + l.Name
	}
	f.At = latest(e.RequestReceivedTimestamp, e.StageTimestamp).UTC()
	if e.ResponseStatus.Code >= 400 {
		return refused(f, l, &e), isWrite(e.Verb)
	}
	if !isWrite(e.Verb) {
		return f, false
	}
	if e.ResponseObject == nil || fields.Text(e.ResponseObject, "kind") == "Status" {
		return a.unseen(f, l, &e), true
	}
	f.Line = a.change(l, e.ResponseObject, e.Verb)
	return f, f.Line.Ev != "MODIFIED" || f.Line.Patch != nil
}

func isWrite(verb string) bool {
	return verb == "create" || verb == "update" || verb == "patch" || verb == "delete"
}

// change returns the change to a new version of an object.
func (a *Audit) change(l trace.Line, object map[string]any, verb string) trace.Line {
	if l.Name == "" || strings.HasSuffix(l.Name, "/") {
		l.Name = nameOf(object)
	}
	trace.Prune(l.R, object)
	if a.now == nil {
		a.now = map[string]map[string]any{}
	}
	key := l.R + "/" + l.Name
	before, known := a.now[key]
	a.now[key] = object
	switch {
	case verb == "delete" && fields.At(object, "metadata", "deletionTimestamp") == nil:
		delete(a.now, key)
		l.Ev = "DELETED"
	case known && verb != "create":
		l.Ev, l.Patch = "MODIFIED", trace.MergePatch(before, object)
	default:
		l.Ev, l.Obj = "ADDED", object
	}
	return l
}

// unseen returns the line of a change without its object, because the level of the log is Metadata.
func (a *Audit) unseen(f Fact, l trace.Line, e *audited) Fact {
	if e.Verb == "delete" {
		delete(a.now, l.R+"/"+l.Name)
	}
	f.Line = trace.Line{K: trace.Log, From: l.From, M: "audit", Msg: strings.TrimSpace(e.Verb + " " + e.ObjectRef.Resource + " " + l.Name + " " + e.ObjectRef.Subresource)}
	return f
}

// refused returns the line of a write that the API server rejected.
func refused(f Fact, l trace.Line, e *audited) Fact {
	f.Line = trace.Line{
		K: trace.Log, From: l.From, M: "audit", Code: cmp.Or(e.ResponseStatus.Reason, "Rejected"),
		Msg: e.Verb + " " + e.ObjectRef.Resource + " " + l.Name + " was rejected",
	}
	return f
}

// userOf returns the component of a user: a service account, a node, or a component of Kubernetes.
func userOf(user, agent string) string {
	if node, ok := strings.CutPrefix(user, "system:node:"); ok {
		return "kubelet/" + node
	}
	if account, ok := strings.CutPrefix(user, "system:serviceaccount:"); ok {
		_, name, _ := strings.Cut(account, ":")
		program, _, _ := strings.Cut(agent, "/")
		if strings.HasPrefix(program, "csi-") {
			return program
		}
		return name
	}
	return strings.TrimPrefix(user, "system:")
}
