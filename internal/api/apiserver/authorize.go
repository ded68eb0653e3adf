package apiserver

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/csisim/csisim/internal/world/store"
)

// Authorizer checks permissions. The store does not change during a call.
type Authorizer interface {
	// Authorize reports whether a user has a permission.
	Authorize(asked authorizationv1.SubjectAccessReviewSpec) authorizationv1.SubjectAccessReviewStatus
	// Refused records a request that was refused.
	Refused(asked authorizationv1.SubjectAccessReviewSpec)
	// Rules returns the permissions of a user in a namespace. The error gives the reason if the
	// list may be incomplete.
	Rules(user authenticationv1.UserInfo, namespace string) (rules []rbacv1.PolicyRule, complete bool, err error)
	// Admit rejects a write because of its user or its content.
	Admit(UserWrite) error
	// Grant rejects a write that grants permissions that its author lacks. old is the object that
	// obj replaces; nil for a new object.
	Grant(author authenticationv1.UserInfo, obj, old store.Object) error
}

// UserWrite is a write of a user, before the store completes and checks it.
type UserWrite struct {
	User                         authenticationv1.UserInfo
	Operation                    admissionv1.Operation
	Resource                     schema.GroupResource
	Subresource, Namespace, Name string
	// Object is the object to be written. Old is the object that is replaced or deleted. Each is
	// nil if there is none.
	Object, Old any
}

// AuthorizeBy makes the server reject requests that the authorizer does not allow, and serve
// clients without a token as system:anonymous. Without it every client has all permissions. It must
// be called before the first request.
func (s *Server) AuthorizeBy(a Authorizer) { s.authorizer = a }

// anonymous is the user of a request without a token, if there is an authorizer.
var anonymous = authenticationv1.UserInfo{Username: "system:anonymous", Groups: []string{"system:unauthenticated"}}

// authorize rejects a request for which its user has no permission.
func (q *request) authorize() error {
	if q.server.authorizer == nil {
		return nil
	}
	asked := q.asked()
	return q.exclusively(func() error { return q.allowed(asked) })
}

// allowed returns an error if the authorizer refuses.
func (q *request) allowed(asked authorizationv1.SubjectAccessReviewSpec) error {
	answer := q.server.authorizer.Authorize(asked)
	if answer.Allowed {
		return nil
	}
	q.server.authorizer.Refused(asked)
	return forbidden(asked, answer.Reason)
}

// allowedTo checks another verb for the object of the request.
func (q *request) allowedTo(verb string) error {
	if q.server.authorizer == nil {
		return nil
	}
	asked := q.asked()
	asked.ResourceAttributes.Verb = verb
	return q.allowed(asked)
}

// mayWrite checks the permissions that a write needs beside the verb of the request. An update or a
// patch that creates an object needs the permission to create it. No write may grant permissions
// that its author lacks.
func (q *request) mayWrite(obj, old store.Object) error {
	if q.server.authorizer == nil {
		return nil
	}
	if old == nil && q.Method != http.MethodPost {
		if err := q.allowedTo("create"); err != nil {
			return err
		}
	}
	if err := q.admit(operationOf(old), obj.GetName(), obj, old); err != nil {
		return err
	}
	return q.server.authorizer.Grant(q.user, obj, old)
}

func operationOf(old store.Object) admissionv1.Operation {
	if old == nil {
		return admissionv1.Create
	}
	return admissionv1.Update
}

// mayDelete checks a deletion with the authorizer, if its object exists.
func (q *request) mayDelete(key store.Key) error {
	obj, exists := q.server.store.GetObject(q.kind.res, key)
	if !exists {
		return nil
	}
	return q.admit(admissionv1.Delete, key.Name, nil, obj)
}

// admit checks a write with the authorizer.
func (q *request) admit(operation admissionv1.Operation, name string, obj, old any) error {
	if q.server.authorizer == nil {
		return nil
	}
	resource := schema.GroupResource{Group: q.info.apiGroup, Resource: q.info.resource}
	return q.server.authorizer.Admit(UserWrite{
		User: q.user, Operation: operation, Resource: resource, Subresource: q.info.subresource,
		Namespace: q.info.namespace, Name: name, Object: obj, Old: old,
	})
}

// asked returns the permission that the request needs.
func (q *request) asked() authorizationv1.SubjectAccessReviewSpec {
	who := authorizationv1.SubjectAccessReviewSpec{User: q.user.Username, Groups: q.user.Groups, UID: q.user.UID}
	info := q.info
	if info.resource == "" {
		who.NonResourceAttributes = &authorizationv1.NonResourceAttributes{Path: q.URL.Path, Verb: strings.ToLower(q.Method)}
		return who
	}
	sub, _, _ := strings.Cut(info.subresource, "/")
	r := &authorizationv1.ResourceAttributes{
		Group: info.apiGroup, Version: info.apiVersion, Resource: info.resource, Subresource: sub, Namespace: info.namespace, Name: info.name,
	}
	if r.Group == "" && r.Resource == "namespaces" {
		r.Namespace = r.Name
	}
	who.ResourceAttributes = r
	q.settleVerb(r)
	r.FieldSelector = q.fieldSelectorOf(r.Verb)
	return who
}

// fieldSelectorOf returns the field selector of a list, for rules that depend on it.
// [k8s.io/apiserver/pkg/endpoints/filters GetAuthorizerAttributes]
func (q *request) fieldSelectorOf(verb string) *authorizationv1.FieldSelectorAttributes {
	raw := q.query.Get("fieldSelector")
	if raw == "" || !slices.Contains([]string{"list", "watch", "deletecollection"}, verb) {
		return nil
	}
	return &authorizationv1.FieldSelectorAttributes{Requirements: requirementsOf(raw)}
}

// requirementsOf parses a field selector; it returns none for an invalid selector.
func requirementsOf(raw string) (all []metav1.FieldSelectorRequirement) {
	selector, err := fields.ParseSelector(raw)
	if err != nil {
		return nil
	}
	for _, r := range selector.Requirements() {
		operator := metav1.FieldSelectorOpIn
		if r.Operator == selection.NotEquals {
			operator = metav1.FieldSelectorOpNotIn
		}
		all = append(all, metav1.FieldSelectorRequirement{Key: r.Field, Operator: operator, Values: []string{r.Value}})
	}
	return all
}

// settleVerb sets the verb of a request: without a name, get becomes list and delete becomes
// deletecollection.
func (q *request) settleVerb(r *authorizationv1.ResourceAttributes) {
	r.Verb = verbOf[q.Method]
	switch {
	case q.info.watch:
		r.Verb = "watch"
	case r.Name != "":
	case r.Verb == "delete":
		r.Verb = "deletecollection"
	case r.Verb == "get":
		r.Verb = "list"
		if q.isSet("watch") {
			r.Verb = "watch"
		}
		if selector, err := fields.ParseSelector(q.query.Get("fieldSelector")); err == nil {
			r.Name, _ = selector.RequiresExactMatch("metadata.name")
		}
	}
}

// forbidden returns the error of a refused request, with the real server's message.
func forbidden(asked authorizationv1.SubjectAccessReviewSpec, reason string) error {
	if reason != "" {
		reason = ": " + reason
	}
	say := func(format string, args ...any) error {
		return fmt.Errorf("%s%s", unlikeHTML.Replace(fmt.Sprintf(format, args...)), reason)
	}
	if n := asked.NonResourceAttributes; n != nil {
		return apierrors.NewForbidden(schema.GroupResource{}, "", say("User %q cannot %s path %q", asked.User, n.Verb, n.Path))
	}
	r := asked.ResourceAttributes
	resource := strings.Join(slices.DeleteFunc([]string{r.Resource, r.Subresource}, func(part string) bool { return part == "" }), "/")
	where := "at the cluster scope"
	if r.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", r.Namespace)
	}
	return apierrors.NewForbidden(schema.GroupResource{Group: r.Group, Resource: r.Resource}, r.Name,
		say("User %q cannot %s resource %q in API group %q %s", asked.User, r.Verb, resource, r.Group, where))
}

var unlikeHTML = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
