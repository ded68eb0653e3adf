package definition

import (
	"encoding/json"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// knownSchemas is what was made of schemas, by their texts: one program runs many clusters, one after the other or side
// by side, in which the same kinds are defined. What is kept is never changed.
type knownSchemas struct {
	lock    sync.Mutex
	schemas map[string]*schemas
	valid   map[string]bool
}

// mostKnown is how many schemas are kept.
const mostKnown = 200

var known = knownSchemas{schemas: map[string]*schemas{}, valid: map[string]bool{}}

// textOf is all of a version that its schema and the mistakes in that depend on.
func textOf(v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	text, err := json.Marshal(v.Schema)
	if err != nil {
		return "" // is not kept
	}
	if v.Subresources != nil && v.Subresources.Status != nil {
		return "status " + string(text)
	}
	return string(text)
}

func (k *knownSchemas) find(text string) (*schemas, bool) {
	k.lock.Lock()
	defer k.lock.Unlock()
	s, ok := k.schemas[text]
	return s, ok
}

func (k *knownSchemas) keep(text string, s *schemas) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if text != "" && len(k.schemas) < mostKnown {
		k.schemas[text] = s
	}
}

func (k *knownSchemas) isValid(text string) bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.valid[text]
}

func (k *knownSchemas) keepValid(text string) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if text != "" && len(k.valid) < mostKnown {
		k.valid[text] = true
	}
}
