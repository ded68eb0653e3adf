package calls

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/csisim/csisim/internal/world/trace"
)

// errNotOfMethod is the error for content that belongs to another RPC.
var errNotOfMethod = errors.New("not a message of this call")

// parse reads a request or an answer: JSON as csi-lib-utils prints it, or the text form of Protocol
// Buffers. The result has the format of traces, without secrets.
func parse(text string, t protoreflect.MessageType) (map[string]any, error) {
	text = strings.TrimSpace(text)
	if isEmpty(text) {
		return map[string]any{}, nil
	}
	m := newMessage(t)
	if text[0] != '{' {
		if prototext.Unmarshal([]byte(text), m) != nil {
			return nil, errNotOfMethod
		}
		return trace.Fields(m)
	}
	return parseJSON(text, m, protojson.UnmarshalOptions{})
}

// parseLoosely reads content of a known RPC and ignores unknown fields.
func parseLoosely(text string, t protoreflect.MessageType) (map[string]any, error) {
	if strings.HasPrefix(text, "{") && !isEmpty(text) {
		return parseJSON(text, newMessage(t), protojson.UnmarshalOptions{DiscardUnknown: true})
	}
	return parse(text, t)
}

func isEmpty(text string) bool {
	return text == "" || text == "{}" || text == "null" || text == "<nil>" || text == "&{}"
}

func parseJSON(text string, m proto.Message, form protojson.UnmarshalOptions) (map[string]any, error) {
	var content map[string]any
	if json.Unmarshal([]byte(text), &content) != nil {
		content = unquoted(text)
	}
	if content == nil {
		return nil, errNotOfMethod
	}
	// Democratic-csi prints the whole call.
	if inner, ok := content["request"].(map[string]any); ok {
		content = inner
	}
	_, hasSecrets := content["secrets"]
	delete(content, "secrets")
	flatten(content)
	plain, err := json.Marshal(content)
	if err != nil || form.Unmarshal(plain, m) != nil {
		return nil, errNotOfMethod
	}
	fields, err := trace.Fields(m)
	if err == nil && hasSecrets {
		fields["secrets"] = map[string]any{"?": trace.Redacted}
	}
	return fields, err
}

// flatten converts the JSON of older programs into the form of Protocol Buffers. In that JSON, the
// alternatives of a field are in an object under the field's Go name, and an optional value is in
// an object with the field "value".
func flatten(content map[string]any) {
	for name, value := range content { // in any order: fields are independent
		inner, isObject := value.(map[string]any)
		if list, isList := value.([]any); isList {
			for _, item := range list {
				if object, is := item.(map[string]any); is {
					flatten(object)
				}
			}
		}
		if !isObject {
			continue
		}
		if stamp, is := stampOf(inner); is {
			content[name] = stamp
			continue
		}
		if wrapped, has := inner["value"]; has && len(inner) == 1 {
			content[name] = wrapped
			continue
		}
		flatten(inner)
		if alternatives[name] {
			delete(content, name)
			for key, v := range inner {
				content[strings.ToLower(key)] = v
			}
		}
	}
}

// stampOf returns a time in the form of Protocol Buffers. csi-lib-utils prints its fields.
func stampOf(content map[string]any) (stamp string, is bool) {
	seconds, has := content["seconds"].(float64)
	nanos, hasNanos := content["nanos"].(float64)
	if !has || len(content) > 2 || len(content) == 2 && !hasNanos {
		return "", false
	}
	return time.Unix(int64(seconds), int64(nanos)).UTC().Format(time.RFC3339Nano), true
}

var alternatives = map[string]bool{"AccessType": true, "Type": true}

// hasFields reports whether the message has all fields of a JSON content. Newer programs use values
// that this version of CSI lacks.
func hasFields(text string, t protoreflect.MessageType) bool {
	var content map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &content) != nil || len(content) == 0 {
		return false
	}
	for name := range content { // in any order: all must be known
		if t.Descriptor().Fields().ByName(protoreflect.Name(name)) == nil {
			return false
		}
	}
	return true
}

// methodIn returns the method of a call that csi-driver-host-path prints in one line.
func methodIn(text string) string {
	var call struct{ Method string }
	if json.Unmarshal([]byte(text), &call) != nil {
		return ""
	}
	return call.Method
}
