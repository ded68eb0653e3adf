package contract

import (
	"fmt"
	"path"
	"strings"

	"google.golang.org/protobuf/proto"
)

// Violation is one promise of the CSI spec that a message breaks.
type Violation struct {
	Method string // "Controller/CreateVolume"
	Field  string // "CreateVolumeResponse.volume.volume_id"; empty if it is not about one message
	Rule   string // what the spec says; without a field, what the call does wrong
	Detail string // what was found
	// Remark says that nothing in Kubernetes depends on it.
	Remark bool
}

// String is one line, the field first and the section of the spec last. What is
// not about one message has no field: it names the method first.
func (v Violation) String() string {
	if v.Field == "" {
		return fmt.Sprintf("%s %s: %s", path.Base(v.Method), v.Rule, v.Detail)
	}
	return fmt.Sprintf("%s %s: %s (%s)", v.Field, v.Detail, v.Rule, path.Base(v.Method))
}

// Section is the address of the spec's section about the call, in the version of the bindings;
// of a call of CSI-Addons, that of its service.
func (v Violation) Section() string {
	if service, _, addons := strings.Cut(v.Method, "."); addons {
		return "https://github.com/csi-addons/spec/tree/main/" + service
	}
	return "https://github.com/container-storage-interface/spec/blob/v1.13.0/spec.md#" + strings.ToLower(path.Base(v.Method))
}

// Repeats reports whether an earlier violation says the same: what a driver has made
// too big is in every message about it, and a second thing under one name shows in its id
// and in the comparison of two answers.
func (v Violation) Repeats(earlier Violation) bool {
	if v.Rule == notIdempotent && strings.Contains(v.Method, "/Create") {
		return v == earlier
	}
	return v.Rule == tooBig && earlier.Rule == tooBig && v.Detail == earlier.Detail && path.Ext(v.Field) == path.Ext(earlier.Field)
}

const (
	requiresIt     = "the CSI spec requires it"
	notNegative    = "the CSI spec forbids negative values"
	needCapability = "the CSI spec allows it only with the capability %s"
)

// findings collects the violations of one message.
type findings struct {
	method string
	of     proto.Message
	list   []Violation
	noting bool // what is kept is wanted, too
	kept   []Kept
}

// message is the name of the message.
func (f *findings) message() string { return string(f.of.ProtoReflect().Descriptor().Name()) }

func (f *findings) add(field, rule, detail string, args ...any) {
	name := f.message()
	if field != "" {
		name += "." + field
	}
	f.list = append(f.list, Violation{Method: f.method, Field: name, Rule: rule, Detail: fmt.Sprintf(detail, args...)})
}

func (f *findings) required(field string, present bool) {
	if !present {
		f.add(field, requiresIt, "is empty")
		return
	}
	f.keep(field, requiresIt)
}

func (f *findings) notNegative(field string, n int64) {
	if n < 0 {
		f.add(field, notNegative, "is %d", n)
		return
	}
	f.keep(field, notNegative)
}

// promised checks that a capability which a message makes use of was declared.
func (f *findings) promised(field string, used bool, declared Set, capability string) {
	switch {
	case used && declared.lacks(capability):
		f.add(field, fmt.Sprintf(needCapability, capability), "is set")
	case used && f.noting && declared.Has(capability):
		f.keep(field, fmt.Sprintf(needCapability, capability))
	}
}
