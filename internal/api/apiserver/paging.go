package apiserver

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/store"
)

var noKind schema.GroupVersionKind

func versionTooLarge(wanted, latest uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", wanted, latest), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	err.ErrStatus.Code = http.StatusGatewayTimeout
	return err
}

// page is the requested part of a list.
type page struct {
	atLeast uint64 // the version to wait for
	exact   uint64 // the version to show, 0 for the latest
	after   store.Key
	limit   int64
}

// continueToken is the token with which a client requests the next page, in the form of the real
// server's.
type continueToken struct {
	Version  string `json:"v"`
	Revision int64  `json:"rv"`
	Start    string `json:"start"`
}

const tokenVersion = "meta.k8s.io/v1"

func (q *request) pageOf(o listOptions) (page, error) {
	p := page{limit: o.Limit}
	if o.Continue != "" {
		return p.continued(o)
	}
	version, err := parseVersion(o.ResourceVersion)
	if err != nil {
		return p, badRequest("invalid resource version: %v", err)
	}
	if o.ResourceVersionMatch == metav1.ResourceVersionMatchExact || o.ResourceVersionMatch == "" && o.Limit > 0 && version > 0 {
		p.exact = version
	}
	p.atLeast = version
	if o.ResourceVersion == "0" {
		p.limit = 0 // the real server returns everything from its cache
	}
	return p, nil
}

func (p page) continued(o listOptions) (page, error) {
	if o.ResourceVersion != "" && o.ResourceVersion != "0" {
		return p, badRequest("specifying resource version is not allowed when using continue")
	}
	raw, err := base64.RawURLEncoding.DecodeString(o.Continue)
	if err != nil {
		return p, badRequest("invalid continue token: continue key is not valid: illegal base64 data at input byte %d", err)
	}
	const notValid = "invalid continue token: continue key is not valid: "
	var t continueToken
	if err := json.Unmarshal(raw, &t); err != nil {
		return p, badRequest(notValid+"%v", err)
	}
	switch {
	case t.Version != tokenVersion:
		return p, badRequest(notValid+"server does not recognize this encoded version %s", t.Version)
	case t.Revision == 0:
		return p, badRequest(notValid+"incorrect encoded start resourceVersion (version %s)", tokenVersion)
	case t.Start == "":
		return p, badRequest(notValid+"encoded start key empty (version %s)", tokenVersion)
	case path.Clean("/"+t.Start) != "/"+t.Start:
		return p, badRequest(notValid+"%s", t.Start)
	}
	namespace, name, found := strings.Cut(strings.TrimSuffix(t.Start, "\x00"), "/")
	if !found {
		namespace, name = "", namespace
	}
	p.after = store.Key{Namespace: namespace, Name: name}
	if o.ResourceVersion == "0" {
		p.limit = 0 // as without a token
	}
	p.exact = uint64(max(t.Revision, 0))
	return p, nil
}

// page returns the part of the list.
func (q *request) page(o listOptions, p page) ([]store.Object, metav1.ListMeta, error) {
	all, revision, err := q.shown(o, p)
	if err != nil {
		return nil, metav1.ListMeta{}, err
	}
	listMeta := metav1.ListMeta{ResourceVersion: strconv.FormatUint(revision, 10)}
	if o.Continue != "" {
		for len(all) > 0 && compareKeys(store.KeyOf(all[0]), q.fullKey(p.after)) <= 0 {
			all = all[1:]
		}
	}
	if p.limit > 0 && int64(len(all)) > p.limit {
		if o.labels.Empty() && o.fields.Empty() {
			rest := int64(len(all)) - p.limit
			listMeta.RemainingItemCount = &rest
		}
		all = all[:p.limit]
		listMeta.Continue = q.tokenAfter(store.KeyOf(all[len(all)-1]), int64(revision))
	}
	if revision == q.server.store.Revision() {
		q.server.encoded.know(all)
	}
	return all, listMeta, nil
}

// shown returns all objects that the list selects at the version to show.
func (q *request) shown(o listOptions, p page) (all []store.Object, revision uint64, err error) {
	if revision = q.server.store.Revision(); p.exact == 0 || p.exact >= revision {
		return q.selected(o), revision, nil
	}
	past, err := q.stateAt(p.exact)
	if err != nil {
		return nil, 0, q.tooOld(o, p)
	}
	for _, obj := range past {
		if q.selects(o, obj) {
			all = append(all, obj)
		}
	}
	return all, p.exact, nil
}

const (
	versionGone  = "The resourceVersion for the provided list is too old."
	continueGone = "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
		"the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with " +
		"the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first " +
		"chunk was returned and now may show up in the list."
)

// tooOld rejects a version that is no longer kept. A request for another page gets a token with
// which to continue from the current state.
func (q *request) tooOld(o listOptions, p page) error {
	if o.Continue == "" {
		return apierrors.NewResourceExpired(versionGone)
	}
	err := apierrors.NewResourceExpired(continueGone)
	err.ErrStatus.Continue = q.tokenAfter(q.fullKey(p.after), anyRevision)
	return err
}

// anyRevision in a token means the current state.
const anyRevision = -1

// fullKey returns a key from a token, which omits the namespace of the path.
func (q *request) fullKey(key store.Key) store.Key {
	if key.Namespace == "" && q.kind.res.Namespaced {
		key.Namespace = q.info.namespace
	}
	return key
}

func (q *request) tokenAfter(last store.Key, revision int64) string {
	start := last.Name
	if q.kind.res.Namespaced && q.info.namespace == "" {
		start = last.Namespace + "/" + last.Name
	}
	text, _ := json.Marshal(continueToken{tokenVersion, revision, start + "\x00"}) // plain fields
	return base64.RawURLEncoding.EncodeToString(text)
}
