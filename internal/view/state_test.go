package view

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/valyala/fastjson"
)

// Given pods in the form of traces. When they are described, then the number of restarts comes
// before their node.
func TestAPodShowsItsRestarts(t *testing.T) {
	for text, want := range map[string]state{
		`{"spec":{"nodeName":"node-a"},"status":{"phase":"Running","conditions":{"Ready":"True"}}}`:                        {"Running", "ready · node-a", good},
		`{"spec":{"nodeName":"node-a"},"status":{"phase":"Running","restarts":1,"conditions":{"Ready":"True"}}}`:           {"Running", "ready · 1 restart · node-a", good},
		`{"spec":{"nodeName":"node-a"},"status":{"phase":"Running","restarts":12,"container":"waiting CrashLoopBackOff"}}`: {"Running", "CrashLoopBackOff · 12 restarts · node-a", waiting},
	} {
		assert.Equal(t, want, stateOf("pods", revisionOf("pods", fastjson.MustParse(text)).object), text)
	}
}
