package definition

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// sum is the hash of a schema's text; all zeros is none.
type sum [sha256.Size]byte

// knownSchemas caches the results for schemas by the hashes of their texts, because one program
// runs many clusters that define the same kinds, consecutively or concurrently. Cached values are
// never modified.
type knownSchemas struct {
	lock    sync.Mutex
	schemas map[sum]*schemas
	valid   map[sum]bool
}

// mostKnown limits the cached schemas.
const mostKnown = 200

var known = knownSchemas{schemas: map[sum]*schemas{}, valid: map[sum]bool{}}

// sumOf returns the hash of all parts of a version that affect its schema and the schema's errors.
func sumOf(v *apiextensionsv1.CustomResourceDefinitionVersion) sum {
	text, err := json.Marshal(v.Schema)
	if err != nil {
		return sum{} // is not kept
	}
	if v.Subresources != nil && v.Subresources.Status != nil {
		text = append(text, " status"...)
	}
	return sha256.Sum256(text)
}

func (k *knownSchemas) find(of sum) (*schemas, bool) {
	k.lock.Lock()
	defer k.lock.Unlock()
	s, ok := k.schemas[of]
	return s, ok
}

func (k *knownSchemas) keep(of sum, s *schemas) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if of != (sum{}) && len(k.schemas) < mostKnown {
		k.schemas[of] = s
	}
}

func (k *knownSchemas) isValid(of sum) bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.valid[of]
}

func (k *knownSchemas) keepValid(of sum) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if of != (sum{}) && len(k.valid) < mostKnown {
		k.valid[of] = true
	}
}
