package calls

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/trace"
)

// Pattern describes CSI calls. In a file it is only the method, or a map. Omitted fields match
// anything.
type Pattern struct {
	Call     string         `json:"call" want:"required" example:"NodeStageVolume" doc:"The CSI method; * stands for any letters."`
	Driver   string         `json:"driver,omitempty" doc:"The driver's name."`
	Node     string         `json:"node,omitempty" doc:"The node of the call: the node of the called node plugin, or the node to which a controller call attaches."`
	From     string         `json:"from,omitempty" example:"kubelet" doc:"The caller: kubelet, csi-provisioner, csi-attacher, csi-resizer, ..."`
	Volume   string         `json:"volume,omitempty" example:"data" doc:"The volume: the name of its claim, of its PersistentVolume, or its volume id; * stands for any text."`
	Code     Code           `json:"code,omitempty" doc:"The gRPC code that the caller got; default any."`
	Message  string         `json:"message,omitempty" example:"*deadline*" doc:"The error's message; * stands for any text."`
	Request  map[string]any `json:"request,omitempty" doc:"The required fields of the request, by their names in the CSI spec; {} means that a message is present, null that it is missing."`
	Response map[string]any `json:"response,omitempty" doc:"The required fields of the answer; {} means that a message is present, null that it is missing."`
	Count    Count          `json:"count,omitempty" doc:"The number of such calls; default at least one."`
}

// Anything is the pattern for any number of calls, including none.
const Anything = "..."

// patternFields is a pattern without its shorthand.
type patternFields Pattern

// Wanted describes both forms.
func (Pattern) Wanted() string { return `a CSI method such as "NodeStageVolume", or a map with call` }

// UnmarshalStrict reads either form.
func (p *Pattern) UnmarshalStrict(n *strict.Node) {
	if method, ok := n.Text(); ok {
		*p = Pattern{Call: method}
		if method != Anything {
			checkMethod(n, method)
		}
		return
	}
	n.Decode((*patternFields)(p))
	call := n.Value("call")
	if call == nil || p.Call == "" || !checkMethod(call, p.Call) {
		return
	}
	if method, ok := methods()[p.Call]; ok {
		checkFields(n.Value("request"), method.Input())
		checkFields(n.Value("response"), method.Output())
	}
}

// JSONSchema allows both forms.
func (Pattern) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "string"}, map[string]any{"$ref": reflect.TypeFor[patternFields]()},
	}}
}

func checkMethod(n *strict.Node, name string) bool {
	if IsMethod(name) {
		return true
	}
	n.ReportUnknown(fmt.Sprintf("call %q", name), name, `a method of the CSI spec, such as "NodeStageVolume"`, Methods())
	return false
}

// checkFields reports fields that a message of the CSI spec does not have.
func checkFields(n *strict.Node, message protoreflect.MessageDescriptor) {
	if n == nil || !n.IsMap() {
		return
	}
	var names []string
	for i := range message.Fields().Len() {
		names = append(names, string(message.Fields().Get(i).Name()))
	}
	for _, entry := range n.Entries() {
		field := message.Fields().ByName(protoreflect.Name(entry.Name))
		switch {
		case field == nil:
			entry.Key.ReportUnknown(fmt.Sprintf("unknown field %q", entry.Name), entry.Name,
				fmt.Sprintf("a field of %s: %s", message.Name(), strings.Join(names, ", ")), names)
		case field.IsMap() || field.IsList() || field.Message() == nil || field.Message().ParentFile() != message.ParentFile():
		default:
			checkFields(entry.Value, field.Message())
		}
	}
}

// String returns the pattern in one line: NodeStageVolume on node-a, volume data, code OK.
func (p Pattern) String() string {
	var b strings.Builder
	b.WriteString(p.Call)
	say := func(words, value string) {
		if value != "" {
			b.WriteString(words + value)
		}
	}
	say(" on ", p.Node)
	say(" of driver ", p.Driver)
	say(" from ", p.From)
	say(", volume ", p.Volume)
	say(", code ", string(p.Code))
	say(", message ", p.Message)
	if p.Request != nil {
		say(", request ", partial.Text(p.Request))
	}
	if p.Response != nil {
		say(", response ", partial.Text(p.Response))
	}
	if p.Count.Given {
		fmt.Fprintf(&b, ", %v times", p.Count)
	}
	return b.String()
}

// Problem returns the reason if no call can ever match the pattern, otherwise "". Reading a file
// makes the same checks.
func (p Pattern) Problem() string {
	switch {
	case p.Call != Anything && !IsMethod(p.Call):
		return fmt.Sprintf("call %q: there is no such method in the CSI spec%s", p.Call, meant(p.Call, Methods()))
	case p.Code != "" && !slices.Contains(codeNames, string(p.Code)):
		return fmt.Sprintf("code %q: there is no such gRPC code%s", p.Code, meant(string(p.Code), codeNames))
	}
	return ""
}

func meant(word string, known []string) string {
	if near := strict.Nearest(word, known); near != "" {
		return fmt.Sprintf("; did you mean %s?", near)
	}
	return ""
}

// Mismatch describes briefly why a call does not match the pattern; it is empty if the call
// matches.
func (p Pattern) Mismatch(e *trace.Event, names *Names) string {
	switch {
	case !partial.Wildcard(p.Call, Short(e.Method)):
		return "another method"
	case p.Driver != "" && p.Driver != e.Driver:
		return "driver " + e.Driver
	case p.Node != "" && p.Node != e.Node && p.Node != names.Node(e):
		return "node " + names.Node(e)
	case p.From != "" && !partial.Wildcard(p.From, e.Actor) && !strings.HasPrefix(e.Actor, p.From+"/"):
		return "from " + e.Actor
	case p.Volume != "" && !names.match(p.Volume, e):
		return "volume " + names.Volume(e)
	case p.Code != "" && string(p.Code) != Result(e):
		return "code " + Result(e)
	case p.Message != "" && !partial.Wildcard(p.Message, e.Message):
		return "message " + e.Message
	}
	return p.mismatchInside(e)
}

func (p Pattern) mismatchInside(e *trace.Event) string {
	if found := mismatchOf("request", p.Request, e.Request); found != "" {
		return found
	}
	return mismatchOf("response", p.Response, e.Response)
}

// mismatchOf renders a message only if the pattern has fields for it.
func mismatchOf(name string, wanted map[string]any, m proto.Message) string {
	if wanted == nil {
		return ""
	}
	fields, err := trace.Fields(m)
	if err != nil {
		return "render " + name + ": " + err.Error()
	}
	if found := partial.Mismatch(wanted, fields); found != "" {
		return name + "." + found
	}
	return ""
}

// InFlight is the result of a call that has no answer yet.
const InFlight = "in flight"

// Answered reports whether the call has ended.
func Answered(e *trace.Event) bool { return e.Response != nil || e.Code != "" }

// Result returns the code that the caller received.
func Result(e *trace.Event) string {
	switch {
	case !Answered(e):
		return InFlight
	case e.Code == "":
		return "OK"
	}
	return e.Code
}
