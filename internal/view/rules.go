package view

import (
	"encoding/json"
	"strings"

	_ "github.com/container-storage-interface/spec/lib/go/csi" // registers the messages of CSI
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/trace"
)

// rules determines which rules of the CSI spec the calls of a trace kept. The same sets of rules
// recur, so a call refers to its set by its position among the sets of the chunk.
type rules struct {
	caps map[string]*contract.Caps // by cluster and driver
	sets *places[string]
}

func newRules() *rules { return &rules{caps: map[string]*contract.Caps{}, sets: newPlaces[string]()} }

// of returns the position of the set of rules that a call kept; 0 if it is unknown. The answer to a
// call with a fault does not count, because the driver may not have given it.
func (r *rules) of(l *trace.Line) int {
	request, answer := messages(l.M)
	if request == nil || !fill(request, l.Req) {
		return 0
	}
	driver := l.Cluster + "/" + l.Driver
	caps := r.caps[driver]
	if caps == nil {
		caps = &contract.Caps{}
		r.caps[driver] = caps
	}
	code := codes.OK
	switch {
	case l.Inj != "":
		answer = nil
	case l.Code != "":
		code, answer = codeOf(l.Code), nil
	case l.Resp == nil || !fill(answer, l.Resp):
		answer = nil
	default:
		caps.Learn(answer)
	}
	kept := contract.KeptRules(l.M, request, answer, code, caps)
	return r.sets.at(grouped(kept))
}

// grouped returns the JSON of [[rule, field, …], …].
func grouped(kept []contract.Kept) string {
	var rows [][]string
	at := map[string]int{}
	for _, k := range kept {
		i, known := at[k.Rule]
		if !known {
			i = len(rows)
			at[k.Rule] = i
			rows = append(rows, []string{k.Rule})
		}
		if k.Field != "" {
			rows[i] = append(rows[i], k.Field)
		}
	}
	text, err := json.Marshal(rows)
	if err != nil {
		panic(err) // texts
	}
	return string(text)
}

// messages returns an empty request and an empty answer of a CSI method, nil for any other method.
func messages(method string) (request, answer proto.Message) {
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName("csi.v1." + strings.ReplaceAll(method, "/", ".")))
	m, isMethod := found.(protoreflect.MethodDescriptor)
	if err != nil || !isMethod {
		return nil, nil
	}
	in, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
	if err != nil {
		return nil, nil
	}
	out, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	if err != nil {
		return nil, nil
	}
	return in.New().Interface(), out.New().Interface()
}

var lenient = protojson.UnmarshalOptions{DiscardUnknown: true}

func fill(m proto.Message, fields map[string]any) bool {
	if len(fields) == 0 {
		return true
	}
	text, err := json.Marshal(fields)
	return err == nil && lenient.Unmarshal(text, m) == nil
}

// codeOf returns the code of a name in a trace.
func codeOf(name string) codes.Code {
	for code := codes.OK; code <= codes.Unauthenticated; code++ {
		if code.String() == name {
			return code
		}
	}
	return codes.Unknown
}
