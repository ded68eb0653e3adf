package contract

import (
	"fmt"
	"path"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/judge/verdict"
)

// Section returns the address of the CSI spec's section about a method, in the version of the
// bindings. For a method of CSI-Addons it is the address of its service; for no method it is empty.
func Section(method string) string {
	if method == "" {
		return ""
	}
	if service, _, addons := strings.Cut(method, "."); addons {
		return "https://github.com/csi-addons/spec/tree/main/" + service
	}
	return "https://github.com/container-storage-interface/spec/blob/v1.13.0/spec.md#" + strings.ToLower(path.Base(method))
}

// MayRepeat reports whether a verdict is of a kind for which Repeats can be true.
func MayRepeat(v verdict.Verdict) bool {
	return v.Form == tooBig || v.Form == NotIdempotent && strings.Contains(v.Method, "/Create")
}

// Repeats reports whether an earlier verdict has the same cause. A value that is too large is in
// every message about its object. A second object with the same name shows both in its id and in
// the comparison of two answers.
func Repeats(v, earlier verdict.Verdict) bool {
	if v.Form == NotIdempotent && strings.Contains(v.Method, "/Create") {
		return v.Form == earlier.Form && v.Text == earlier.Text
	}
	return v.Form == tooBig && earlier.Form == tooBig && v.Found[0] == earlier.Found[0] &&
		path.Ext(v.Field) == path.Ext(earlier.Field)
}

// RequiresIt is the form of a verdict on a field that is empty.
const RequiresIt = "the CSI spec requires it"

const (
	notNegative    = "the CSI spec forbids negative values"
	needCapability = "the CSI spec allows it only with the capability %s"
)

// Broken returns the verdict on a call that breaks a rule in a form that is not about one field.
func Broken(method string, form verdict.Form, detail verdict.Sentence) verdict.Verdict {
	breaks, known := breaks[form]
	if !known {
		breaks = verdict.Answers
	}
	return verdict.Verdict{Breaks: breaks, Form: form, Method: method, Found: []string{detail.Text}}.Worded(
		verdict.Say("%s %s: %s", verdict.Kept(path.Base(method)), verdict.Kept(form), detail))
}

// broken returns a list with one such verdict.
func broken(method string, form verdict.Form, format string, args ...any) []verdict.Verdict {
	return []verdict.Verdict{Broken(method, form, verdict.Say(format, args...))}
}

// findings collects the violations of one message.
type findings struct {
	method string
	of     proto.Message
	list   []verdict.Verdict
	count  map[Kept]int // number of times that a field has broken a rule
	noting bool         // also note the rules that the message kept
	kept   []Kept
}

// mostOfOne bounds the reported breaches of one rule by one field of a message, because each entry
// of a list may break it.
const mostOfOne = 20

// message returns the name of the message.
func (f *findings) message() string { return string(f.of.ProtoReflect().Descriptor().Name()) }

func (f *findings) add(field, rule, format string, args ...any) {
	if f.count == nil {
		f.count = map[Kept]int{}
	}
	f.count[Kept{field, rule}]++
	if f.count[Kept{field, rule}] > mostOfOne {
		return
	}
	name := f.message()
	if field != "" {
		name += "." + field
	}
	detail := verdict.Say(format, args...)
	v := verdict.Verdict{
		Breaks: verdict.Answers, Form: verdict.Form(rule), Method: f.method, Field: name, Found: []string{detail.Text},
	}
	if isSize(field) {
		v.Breaks = verdict.Sizes
	}
	f.list = append(f.list, v.Worded(verdict.Say("%s %s: %s",
		verdict.Kept(name), detail, verdict.Quoted(rule)).Aside(" (%s)", path.Base(f.method))))
}

// sizeFields are the last elements of the fields that have sizes and limits.
var sizeFields = map[string]bool{
	"capacity_bytes": true, "limit_bytes": true, "required_bytes": true, "max_volumes_per_node": true,
	"available": true, "total": true, "used": true, "available_capacity": true,
}

func isSize(field string) bool { return sizeFields[field[strings.LastIndexByte(field, '.')+1:]] }

func (f *findings) required(field string, present bool) {
	if !present {
		f.add(field, RequiresIt, "is empty")
		return
	}
	f.keep(field, RequiresIt)
}

func (f *findings) notNegative(field string, n int64) {
	if n < 0 {
		f.add(field, notNegative, "is %d", n)
		return
	}
	f.keep(field, notNegative)
}

// promised checks that a capability used by a message was declared.
func (f *findings) promised(field string, used bool, declared Set, capability string) {
	switch {
	case used && declared.lacks(capability):
		f.add(field, fmt.Sprintf(needCapability, capability), "is set")
	case used && f.noting && declared.Has(capability):
		f.keep(field, fmt.Sprintf(needCapability, capability))
	}
}
