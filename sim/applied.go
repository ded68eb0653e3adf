package sim

import (
	"encoding/json"

	"github.com/csisim/csisim/internal/world/store"
)

// applied is an object as it was last applied. Few are applied again and there may
// be many, so it is kept in the form that the API server stores: that is small, and
// quickly made. Kinds without that form are kept as JSON.
type applied struct {
	stored []byte
	text   []byte
}

// stored is what the Go types of Kubernetes' own kinds offer for that form.
type stored interface {
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func compact(obj store.Object) (a applied, err error) {
	if form, ok := obj.(stored); ok {
		a.stored, err = form.Marshal()
	} else {
		a.text, err = json.Marshal(obj)
	}
	return a, err
}

// json is the object as JSON; {} if there is none.
func (a applied) json(res *store.Resource) ([]byte, error) {
	switch {
	case a.text != nil:
		return a.text, nil
	case a.stored == nil:
		return []byte("{}"), nil
	}
	obj := res.New()
	if err := obj.(stored).Unmarshal(a.stored); err != nil {
		return nil, err
	}
	return json.Marshal(obj)
}
