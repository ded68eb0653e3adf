package apiserver

import (
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A review is only a question of a client: creating it stores nothing.

// review is one kind of review.
type review struct {
	gvk        schema.GroupVersionKind
	resource   string
	namespaced bool
	answer     func(q *request) (runtime.Object, error)
}

var reviews = []review{
	{gvk: authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"), resource: "selfsubjectreviews", answer: func(q *request) (runtime.Object, error) {
		var asked authenticationv1.SelfSubjectReview
		_, err := q.readNew(&asked, authenticationv1.SchemeGroupVersion.WithKind("SelfSubjectReview"))
		asked.Status.UserInfo = q.user
		return &asked, err
	}},
	{gvk: authenticationv1.SchemeGroupVersion.WithKind("TokenReview"), resource: "tokenreviews", answer: func(q *request) (runtime.Object, error) {
		var asked authenticationv1.TokenReview
		_, err := q.readNew(&asked, authenticationv1.SchemeGroupVersion.WithKind("TokenReview"))
		if err == nil {
			asked.Status, err = q.server.reviewToken(asked.Spec)
		}
		return &asked, err
	}},
	{gvk: authorizationv1.SchemeGroupVersion.WithKind("LocalSubjectAccessReview"), resource: "localsubjectaccessreviews", namespaced: true,
		answer: func(q *request) (runtime.Object, error) {
			var asked authorizationv1.LocalSubjectAccessReview
			_, err := q.readNew(&asked, authorizationv1.SchemeGroupVersion.WithKind("LocalSubjectAccessReview"))
			if err == nil {
				err = invalidReview("LocalSubjectAccessReview", validateAsked(asked.Spec.ResourceAttributes, asked.Spec.NonResourceAttributes),
					validateSubject(asked.Spec), validateLocal(asked))
			}
			asked.Status = q.reviewAccess(asked.Spec)
			return &asked, err
		}},
	{gvk: authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"), resource: "selfsubjectaccessreviews", answer: func(q *request) (runtime.Object, error) {
		var asked authorizationv1.SelfSubjectAccessReview
		_, err := q.readNew(&asked, authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectAccessReview"))
		if err == nil {
			err = invalidReview("SelfSubjectAccessReview", validateAsked(asked.Spec.ResourceAttributes, asked.Spec.NonResourceAttributes),
				validateNoMeta(asked.ObjectMeta, "must be empty"))
		}
		asked.Status = q.reviewAccess(authorizationv1.SubjectAccessReviewSpec{
			User: q.user.Username, Groups: q.user.Groups, ResourceAttributes: asked.Spec.ResourceAttributes, NonResourceAttributes: asked.Spec.NonResourceAttributes,
		})
		return &asked, err
	}},
	{gvk: authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectRulesReview"), resource: "selfsubjectrulesreviews", answer: func(q *request) (runtime.Object, error) {
		var asked authorizationv1.SelfSubjectRulesReview
		_, err := q.readNew(&asked, authorizationv1.SchemeGroupVersion.WithKind("SelfSubjectRulesReview"))
		if err == nil && asked.Spec.Namespace == "" {
			err = apierrors.NewBadRequest("no namespace on request")
		}
		asked.Status = q.reviewRules(asked.Spec.Namespace)
		// The real server does not return the spec.
		asked.Spec = authorizationv1.SelfSubjectRulesReviewSpec{}
		return &asked, err
	}},
	{gvk: authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"), resource: "subjectaccessreviews", answer: func(q *request) (runtime.Object, error) {
		var asked authorizationv1.SubjectAccessReview
		_, err := q.readNew(&asked, authorizationv1.SchemeGroupVersion.WithKind("SubjectAccessReview"))
		if err == nil {
			err = invalidReview("SubjectAccessReview", validateAsked(asked.Spec.ResourceAttributes, asked.Spec.NonResourceAttributes),
				validateSubject(asked.Spec), validateNoMeta(asked.ObjectMeta, "must be empty"))
		}
		asked.Status = q.reviewAccess(asked.Spec)
		return &asked, err
	}},
}

// reviewFor returns the review of a path.
func reviewFor(info requestInfo) (review, bool) {
	for _, r := range reviews {
		if r.gvk.Group == info.apiGroup && r.gvk.Version == info.apiVersion && r.resource == info.resource && r.namespaced == (info.namespace != "") {
			return r, true
		}
	}
	return review{}, false
}

func (q *request) serveReview(r review) error {
	if q.Method != http.MethodPost || q.info.name != "" {
		return errMethodNotAllowed
	}
	media, err := negotiate(q.Header.Get("Accept"), offered, false)
	if err != nil {
		return err
	}
	q.answer.media = media
	answer, err := r.answer(q)
	if err != nil {
		return err
	}
	answer.GetObjectKind().SetGroupVersionKind(r.gvk)
	return q.answer.encoded(http.StatusCreated, answer)
}

// described returns the review in the form of discovery.
func (r review) described() metav1.APIResource {
	kind := r.gvk.Kind
	return metav1.APIResource{Name: r.resource, SingularName: singularOf(kind), Namespaced: r.namespaced, Kind: kind, Verbs: []string{"create"}}
}
