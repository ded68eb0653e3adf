package apiserver

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"

	"github.com/csisim/csisim/internal/world/store"
)

// request is a request in progress.
type request struct {
	*http.Request
	server *Server
	answer answer
	user   authenticationv1.UserInfo
	query  url.Values
	info   requestInfo
	kind   *servedKind
	before store.Object // the object that a write replaces, nil if none
}

func (q *request) serve() error {
	if err := q.authenticate(); err != nil {
		return err
	}
	info, isAPI := newRequestInfo(q.URL.Path)
	q.query, q.info = q.URL.Query(), info
	if err := q.impersonate(); err != nil {
		return err
	}
	if err := q.authorize(); err != nil {
		return err
	}
	if handled, err := q.serveRoot(); handled {
		return err
	}
	if !isAPI {
		http.NotFound(q.answer.w, q.Request)
		return nil
	}
	switch {
	case info.resource == "" && strings.Contains(q.URL.Path, "//"):
		return errNoSuchResource
	case info.resource == "":
		return q.serveDiscovery()
	}
	if r, ok := reviewFor(info); ok {
		return q.serveReview(r)
	}
	if info == bindingsOf(info.namespace) {
		return q.bindNamed()
	}
	if info.isOfComponents() {
		return q.serveComponents()
	}
	if info.isOfMetrics() {
		return errUnmeasured
	}
	kind, ok := q.server.kinds().find(info)
	switch {
	case !ok && q.server.kinds().hasGroup(info.apiGroup):
		return errNoSuchResource
	case !ok:
		http.NotFound(q.answer.w, q.Request)
		return nil
	}
	q.kind = kind
	switch lacksNamespace := kind.res.Namespaced && info.namespace == ""; {
	case lacksNamespace && info.name != "":
		return errNoSuchResource
	case lacksNamespace && q.Method == http.MethodPost, q.Method == http.MethodHead:
		return errMethodNotAllowed
	}
	media, err := negotiate(q.Header.Get("Accept"), kind.forms(), true)
	switch {
	case err == nil:
		q.answer.media = media
	case info.subresource != proxySubresource: // the answers of other servers have their own forms
		return err
	}
	if kind.warning != "" {
		q.answer.warn(kind.warning)
	}
	return q.dispatch()
}

// checkNames rejects names in a path that objects cannot have. In the real server's store, their
// paths would lead to other objects. An update decodes its body first.
func (q *request) checkNames() error {
	if mistakes := content.IsPathSegmentName(q.info.name); len(mistakes) > 0 {
		return badRequest("Name parameter invalid: %q: %s", q.info.name, strings.Join(mistakes, ";"))
	}
	if namespace := q.info.namespace; namespace == "." || namespace == ".." {
		return fmt.Errorf("invalid key: %q", strings.TrimSuffix("/"+q.kind.gvr.Resource+"/"+namespace+"/"+q.info.name, "/"))
	}
	return nil
}

// named calls do if objects can have the names in the path.
func (q *request) named(do func() error) error {
	if err := q.checkNames(); err != nil {
		return err
	}
	return do()
}

// checkNewNamespace rejects a namespace in the path of a new object if namespaces cannot have that
// name. [k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle, client-go/rest
// Request.Namespace]
func (q *request) checkNewNamespace() error {
	if mistakes := content.IsPathSegmentName(q.info.namespace); len(mistakes) > 0 {
		return apierrors.NewInternalError(fmt.Errorf("invalid resource name %q: %v", q.info.namespace, mistakes))
	}
	return nil
}

// dispatch calls the handler for the request's method and path.
func (q *request) dispatch() error {
	switch {
	case q.info.subresource != "":
		return q.serveSubresource()
	case q.info.name != "":
		return q.serveObject()
	}
	return q.serveCollection()
}

func (q *request) serveCollection() error {
	switch q.Method {
	case http.MethodGet:
		return q.named(q.listOrWatch)
	case http.MethodPost:
		return q.create()
	case http.MethodDelete:
		if q.kind.allows("deletecollection") && (q.info.namespace != "" || !q.kind.res.Namespaced) {
			return q.named(q.deleteCollection)
		}
	}
	return errMethodNotAllowed
}

func (q *request) serveObject() error {
	switch q.Method {
	case http.MethodGet:
		if q.info.watch {
			return q.listOrWatch() // a name in the path is a field selector, and may have any value
		}
		return q.named(q.get)
	case http.MethodPut:
		return q.update(mainPart)
	case http.MethodPatch:
		return q.named(func() error { return q.patch(mainPart) })
	case http.MethodDelete:
		return q.named(q.delete)
	}
	return errMethodNotAllowed
}

func (q *request) key() store.Key { return store.Key{Namespace: q.info.namespace, Name: q.info.name} }

// exclusively calls use with exclusive access to the store.
func (q *request) exclusively(use func() error) (err error) {
	q.server.options.Exclusive(func() { err = q.guarded(use) })
	return err
}

// object returns the object of a path with a name.
func (q *request) object() (store.Object, error) {
	obj, ok := q.server.store.GetObject(q.kind.res, q.key())
	if !ok {
		return nil, apierrors.NewNotFound(q.kind.gvr.GroupResource(), q.info.name)
	}
	return obj, nil
}
