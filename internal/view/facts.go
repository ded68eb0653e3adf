package view

import (
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/valyala/fastjson"

	"github.com/csisim/csisim/internal/world/trace"
)

// facts hold the data of a line that columns show and that depend only on the line.
type facts struct {
	// Line has only two parsed structured fields: the request of a registration, and the patch of a
	// change, unless all fields of the patch are silent. Parsing the other fields takes long.
	trace.Line
	callSubject
	waits    []waiter // the processes that wait, in a state with waits
	versions trace.Versions
	revision revision // of the changed object
}

// callSubject holds the subject of a call.
type callSubject struct {
	name, volume, node string
	made               string // the id of the created volume
	path               string // on its node
	driver             string // the answered name and version
	isAnswered         bool
}

// lineReader reads facts from lines. A result is valid until the next line is read.
type lineReader struct {
	json  fastjson.Parser
	read  *fastjson.Value
	texts *texts
}

// texts are stored once, since most texts of lines are repeated.
type texts struct {
	all    map[string]string
	recent [256]string // texts by their lengths and ends: finds most texts without the map
}

// mostTexts bounds the stored texts.
const mostTexts = 1 << 12

func newTexts() *texts { return &texts{all: map[string]string{}} }

func (t *texts) of(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	recent := &t.recent[(len(text)*31+int(text[0])*7+int(text[len(text)-1]))%len(t.recent)]
	if *recent == string(text) {
		return *recent
	}
	kept, known := t.all[string(text)]
	if !known {
		kept = string(text)
		if len(t.all) < mostTexts {
			t.all[kept] = kept
		}
	}
	*recent = kept
	return kept
}

// errNoEvent is the error for a JSON line with a field of the wrong type.
var errNoEvent = errors.New("a field is of another type than that of an event")

// facts reads a line.
func (r *lineReader) facts(raw []byte, into *facts) (err error) {
	if r.texts == nil {
		r.texts = newTexts()
	}
	r.read, err = r.json.ParseBytes(raw)
	if err == nil {
		*into = facts{}
		err = into.take(r.read, r.texts)
	}
	if err == nil {
		return nil
	}
	var l trace.Line // its errors name the place and the field
	if precise := json.Unmarshal(raw, &l); precise != nil {
		return precise
	}
	return err
}

// take reads the fields of a line.
func (f *facts) take(from *fastjson.Value, texts *texts) error {
	fields, err := from.Object()
	if err != nil {
		return err
	}
	var request, answer, object, patch *fastjson.Value
	isOdd := false
	fields.Visit(func(name []byte, v *fastjson.Value) {
		if v.Type() == fastjson.TypeNull {
			return
		}
		var err error
		switch string(name) {
		case "t":
			f.T, err = v.Int64()
		case "ms":
			f.Ms, err = v.Int64()
		case "seq":
			f.Seq, err = v.Uint64()
		case "cause":
			f.Cause, err = v.Uint64()
		case "msg": // rarely repeated, and without names
			f.Msg, err = textOf(v)
		case "name":
			f.Line.Name, err = textOf(v)
		case "obj":
			object = v
		case "patch":
			patch = v
		case "req":
			request = v
		case "resp":
			answer = v
		default:
			if to := textField(&f.Line, string(name)); to != nil {
				var text []byte
				text, err = v.StringBytes()
				*to = texts.of(text)
			}
		}
		isOdd = isOdd || err != nil
	})
	for _, v := range []*fastjson.Value{patch, request, answer} {
		isOdd = isOdd || v != nil && v.Type() != fastjson.TypeObject
	}
	if isOdd {
		return errNoEvent
	}
	switch {
	case f.K == trace.Waits:
		return f.wait(object, texts)
	case f.K == trace.MadeWith && object != nil:
		f.versions = trace.Versions{Csisim: textIn(object, "csisim"), Kubernetes: textIn(object, "kubernetes")}
	case f.K == trace.API:
		f.change(object, patch)
	case titles[f.K] != "":
		f.Obj = valueOf(object) // the verdict
	}
	if request != nil && f.K == trace.Registration {
		f.Req, _ = valueOf(request).(map[string]any)
	}
	f.callSubject = subjectOfCall(&f.Line, request, answer)
	return nil
}

// waiter is a process and the reason for its wait. The reason is empty if it no longer waits.
type waiter struct{ process, reason string }

// errNoWaits is the error for a state without the waits of processes.
var errNoWaits = errors.New("the waits of processes have no reasons")

// wait reads the waits of processes.
func (f *facts) wait(object *fastjson.Value, texts *texts) error {
	if object == nil || object.Type() != fastjson.TypeObject {
		return errNoWaits
	}
	object.GetObject().Visit(func(reason []byte, processes *fastjson.Value) {
		for _, process := range processes.GetArray() {
			f.waits = append(f.waits, waiter{texts.of(process.GetStringBytes()), texts.of(reason)})
		}
	})
	return nil
}

// anything replaces a patch with silent fields only.
var anything = map[string]any{"": nil}

// change reads the change of an object.
func (f *facts) change(object, patch *fastjson.Value) {
	said := object
	if f.Ev == "MODIFIED" {
		said = patch
	}
	if said != nil {
		f.revision = revisionOf(f.R, said)
	}
	switch {
	case patch == nil, isSilent(f.R, nil, patch):
	case trace.Weighs(f.R):
		f.Patch, _ = valueOf(patch).(map[string]any)
	default:
		f.Patch = anything
	}
}

// silent lists, by resource or for all resources, the fields that repeat other fields. A page does
// not show a change of only these fields.
var silent = map[string][]string{
	"":                       {".metadata.deletionGracePeriodSeconds", ".metadata.uid", ".status.lastPhaseTransitionTime"},
	"persistentvolumeclaims": {".status.accessModes"},
	"persistentvolumes":      {".spec.claimRef.resourceVersion"},
	"volumeattachments":      {".status.attachError.time", ".status.detachError.time"},
	"volumesnapshots":        {".status.error.time"},
	"volumesnapshotcontents": {".status.error.time"},
	"pods": {
		".status.conditions.ContainersReady", ".status.conditions.Initialized", ".status.conditions.PodReadyToStartContainers",
		".status.conditions.Ready", // unless the pod was ready before or after
	},
}

// isSilent reports whether a patch changes only silent fields.
func isSilent(resource string, path []byte, patch *fastjson.Value) bool {
	if patch.Type() != fastjson.TypeObject {
		return (isOneOf(silent[resource], path) || isOneOf(silent[""], path)) && (string(path) != ready || string(patch.GetStringBytes()) != "True")
	}
	all := true
	patch.GetObject().Visit(func(name []byte, v *fastjson.Value) {
		all = all && isSilent(resource, append(append(path, '.'), name...), v)
	})
	return all
}

func isOneOf(all []string, text []byte) bool {
	return slices.ContainsFunc(all, func(one string) bool { return one == string(text) })
}

const ready = ".status.conditions.Ready"

// textField returns a field with often repeated texts.
func textField(l *trace.Line, name string) *string {
	switch name {
	case "k":
		return (*string)(&l.K)
	case "ev":
		return &l.Ev
	case "cluster":
		return &l.Cluster
	case "node":
		return &l.Node
	case "from":
		return &l.From
	case "driver":
		return &l.Driver
	case "m":
		return &l.M
	case "r":
		return &l.R
	case "code":
		return &l.Code
	case "inj":
		return &l.Inj
	}
	return nil
}

func subjectOfCall(l *trace.Line, request, answer *fastjson.Value) callSubject {
	a := callSubject{isAnswered: answer != nil}
	if request != nil {
		a.name, a.volume, a.node = textIn(request, "name"), textIn(request, "volume_id"), textIn(request, "node_id")
		a.path = targetOf(path.Base(l.M), request)
	}
	if answer != nil && path.Base(l.M) == "CreateVolume" {
		a.made = textIn(answer, "volume", "volume_id")
	}
	if answer != nil && path.Base(l.M) == "GetPluginInfo" {
		a.driver = strings.TrimSpace(textIn(answer, "name") + " " + textIn(answer, "vendor_version"))
	}
	return a
}

// targetOf returns the path in the request of a call.
func targetOf(method string, request *fastjson.Value) string {
	if method == "NodeStageVolume" || method == "NodeUnstageVolume" {
		return textIn(request, "staging_target_path")
	}
	if target := textIn(request, "target_path"); target != "" {
		return target
	}
	return textIn(request, "volume_path")
}

// whole returns the complete line that was read last.
func (r *lineReader) whole(f *facts) trace.Line {
	l := f.Line
	object := func(name string) map[string]any {
		fields, _ := valueOf(r.read.Get(name)).(map[string]any)
		return fields
	}
	l.Req, l.Resp, l.Patch, l.Obj = object("req"), object("resp"), object("patch"), valueOf(r.read.Get("obj"))
	return l
}

func textIn(v *fastjson.Value, names ...string) string { return string(v.GetStringBytes(names...)) }

func textOf(v *fastjson.Value) (string, error) {
	text, err := v.StringBytes()
	return string(text), err
}

// valueOf converts a value to the types of encoding/json; nil is null.
func valueOf(v *fastjson.Value) any {
	if v == nil {
		return nil
	}
	switch v.Type() {
	case fastjson.TypeObject:
		fields := v.GetObject()
		value := make(map[string]any, fields.Len())
		fields.Visit(func(name []byte, v *fastjson.Value) { value[string(name)] = valueOf(v) })
		return value
	case fastjson.TypeArray:
		items := v.GetArray()
		value := make([]any, len(items))
		for i, item := range items {
			value[i] = valueOf(item)
		}
		return value
	case fastjson.TypeString:
		return string(v.GetStringBytes())
	case fastjson.TypeNumber:
		return v.GetFloat64()
	case fastjson.TypeTrue:
		return true
	case fastjson.TypeFalse:
		return false
	}
	return nil
}
