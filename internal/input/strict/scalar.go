package strict

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"
)

const (
	stringTag    = "!!str"
	boolTag      = "!!bool"
	intTag       = "!!int"
	floatTag     = "!!float"
	nullTag      = "!!null"
	timestampTag = "!!timestamp"
	mergeTag     = "!!merge"
)

// looseBooleans are other words for true and false in kubectl's YAML.
var looseBooleans = map[string]bool{
	"y": true, "Y": true, "yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"n": false, "N": false, "no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

func isNull(n *yaml.Node) bool {
	n = follow(n)
	return n.Kind == yaml.ScalarNode && n.ShortTag() == nullTag
}

// tag returns the type of a scalar in the document's dialect; it is empty for maps and lists. Dates
// are plain strings, as in JSON.
func (n *Node) tag() string {
	if n.yaml.Kind != yaml.ScalarNode {
		return ""
	}
	tag := n.yaml.ShortTag()
	if _, loose := looseBooleans[n.yaml.Value]; loose && n.yaml.Style == 0 && n.document.dialect().LooseBooleans {
		return boolTag
	}
	if tag == timestampTag {
		return stringTag
	}
	return tag
}

func (n *Node) boolean() bool {
	if value, loose := looseBooleans[n.yaml.Value]; loose {
		return value
	}
	var value bool
	return n.yaml.Decode(&value) == nil && value
}

// maxShown is the number of characters of a value that a message quotes.
const maxShown = 40

// Found describes the node's value for the found part of a problem: number 3, string "x", a list.
func (n *Node) Found() string {
	switch n.yaml.Kind {
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	shown := []rune(n.yaml.Value)
	if len(shown) > maxShown {
		shown = append(shown[:maxShown], '…')
	}
	switch tag := n.tag(); tag {
	case nullTag:
		return "nothing"
	case stringTag, mergeTag:
		return "string " + strconv.Quote(string(shown))
	case intTag, floatTag:
		return "number " + string(shown)
	case boolTag:
		if n.yaml.Value != "true" && n.yaml.Value != "false" {
			return fmt.Sprintf("%s, which means %t without quotes", n.yaml.Value, n.boolean())
		}
		return "boolean " + string(shown)
	default:
		return fmt.Sprintf("a value tagged %q", tag)
	}
}

func (n *Node) decodeString(v reflect.Value, f *field) {
	text, ok := n.Text()
	if !ok {
		n.ReportWrong(n.wantString(v.Type(), f))
		return
	}
	if n.checkEnum(text, f) {
		v.SetString(text)
	}
}

// wantString shows the found scalar in quotes if there is no better example.
func (n *Node) wantString(t reflect.Type, f *field) string {
	if f.example != "" || len(f.enum) > 0 || n.yaml.Kind != yaml.ScalarNode || n.IsNull() {
		return n.document.want(t, f)
	}
	return "a string, in quotes: " + strconv.Quote(n.yaml.Value)
}

func (n *Node) decodeBool(v reflect.Value, f *field) {
	if n.tag() != boolTag {
		n.ReportWrong(n.document.want(v.Type(), f))
		return
	}
	v.SetBool(n.boolean())
}

// checkEnum reports a text that the field does not allow.
func (n *Node) checkEnum(text string, f *field) bool {
	if len(f.enum) == 0 {
		return true
	}
	for _, allowed := range f.enum {
		if text == allowed {
			return true
		}
	}
	n.ReportUnknown(strconv.Quote(text), text, oneOf(f.enum, "value", f.name), f.enum)
	return false
}

// decodeBytes reads bytes in base64, as in JSON.
func (n *Node) decodeBytes(v reflect.Value) {
	text, ok := n.Text()
	if !ok {
		n.ReportWrong("base64 text")
		return
	}
	data, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		n.ReportWrong("base64 text")
		return
	}
	v.SetBytes(data)
}
