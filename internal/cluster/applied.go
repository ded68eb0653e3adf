package cluster

import (
	"encoding/json"
	"strings"

	"github.com/csisim/csisim/internal/world/store"
)

// applied is an object in its last applied form. There may be many such objects, and few are
// applied again. Therefore they are kept in the stored form of the API server, which is small and
// quickly created. Kinds without that form are kept as JSON.
type applied string

// stored is implemented by the Go types of Kubernetes' own kinds. It encodes them in the stored
// form.
type stored interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func compact(obj store.Object) (applied, error) {
	var form []byte
	var err error
	if kept, ok := obj.(stored); ok {
		form, err = kept.Marshal()
	} else {
		form, err = json.Marshal(obj)
	}
	return applied(form), err
}

// json returns the object as JSON; {} if it was not applied.
func (a applied) json(res *store.Resource) ([]byte, error) {
	if a == "" {
		return []byte("{}"), nil
	}
	if strings.HasPrefix(string(a), "{") { // the other form never begins like this
		return []byte(a), nil
	}
	obj := res.New()
	if err := obj.(stored).Unmarshal([]byte(a)); err != nil {
		return nil, err
	}
	return json.Marshal(obj)
}
