package scenario

import (
	"errors"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/store"
)

// accepted describes a valid manifest.
const accepted = "a value that the API server accepts"

// checkRules checks an object of a manifest against the rules of the API. If an object is applied
// again, it is merged with the existing object, so only mistakes in the manifest itself are
// certain.
func (c *checker) checkRules(res *store.Resource, o manifest.Object) {
	at := place{o.File, o.At}
	if c.ruled.places[at] {
		return // a copy, or the same manifest again
	}
	c.ruled.places[at] = true
	key := ruledKey{res, keyIn(res, o)}
	_, again := c.ruled.first[key]
	for _, cause := range causes(c.definitions.store.Validate(res, o.Object.(store.Object))) {
		path := pathInFile(cause.Field)
		if !again || o.Says(path) {
			c.problems = append(c.problems, o.Problem(path, cause.Message, accepted, supported(cause.Message)))
		}
	}
	if !again {
		c.ruled.first[key] = o
	}
}

// checkPatched checks the object of a manifest against the rules after a patch.
func (c *checker) checkPatched(s *patchStep) {
	res := s.Resource
	if res == nil || s.Subresource != "" || s.Many() || kind.DefinitionOf(res) != nil {
		return
	}
	o, ok := c.ruled.first[ruledKey{res, store.Key{Namespace: s.Namespace, Name: s.Name}}]
	if !ok {
		return
	}
	obj := o.Object.DeepCopyObject().(store.Object)
	if err := merge(obj, s.Merge); err != nil {
		c.report("merge", err.Error(), "fields as the object has them")
		return
	}
	before := causes(c.definitions.store.Validate(res, o.Object.(store.Object)))
	for _, cause := range causes(c.definitions.store.Validate(res, obj)) {
		if !slices.Contains(before, cause) {
			c.document.Report(c.in("merge")+"."+pathInFile(cause.Field), cause.Message, accepted)
		}
	}
}

// ruled records the objects that have been checked against the rules of the API.
type ruled struct {
	places map[place]bool
	first  map[ruledKey]manifest.Object // the manifest that makes an object
}

type place struct {
	file string
	at   strict.Position
}

type ruledKey struct {
	*store.Resource
	store.Key
}

// causes returns the mistakes that the API server reports for an object, one each.
func causes(err error) []metav1.StatusCause {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Details == nil {
		return nil
	}
	return status.ErrStatus.Details.Causes
}

var quotedWord = lazyregexp.New(`"([^"]*)"`)

// supported returns the value that was probably meant, from the values in the message of a mistake.
func supported(message string) string {
	found, list, ok := strings.Cut(message, ": supported values: ")
	word := quotedWord().FindStringSubmatch(found)
	if !ok || word == nil {
		return ""
	}
	var known []string
	for _, value := range quotedWord().FindAllStringSubmatch(list, -1) {
		known = append(known, value[1])
	}
	return strict.Nearest(word[1], known)
}
