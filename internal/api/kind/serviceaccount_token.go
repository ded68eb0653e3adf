package kind

import (
	"fmt"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

const (
	// TokenIssuer is the issuer of service account tokens, and the audience of tokens for the API
	// server.
	TokenIssuer = "https://kubernetes.default.svc"
	// AccountToken is the requested lifetime, in seconds, of the token in a pod's default volume.
	// Such a token is valid for a year, because programs may read it only once. After the requested
	// lifetime, its use causes a warning.
	AccountToken int64 = 60*60 + 7
	year               = 365 * 24 * time.Hour
	// DefaultAccount exists in every namespace even before its object is created, because pods
	// without an account need it.
	DefaultAccount = "default"
)

// SignTokens makes the store sign tokens. Without it, they are not signed.
func SignTokens(s *store.Store, sign func(TokenClaims) (string, error)) {
	clusterOf(s).signToken = sign
}

// IssueToken is the subresource "token" of a service account: it answers the request with a token.
// It stores nothing.
func IssueToken(s *store.Store, account store.Key, asked *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	its, ok := store.Get[*corev1.ServiceAccount](s, account)
	if !ok && account.Name != DefaultAccount {
		return nil, store.NotFound[*corev1.ServiceAccount](account)
	}
	if !ok {
		its = &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: account.Namespace, Name: account.Name}}
	}
	request := asked.DeepCopy()
	if request.Spec.ExpirationSeconds == nil {
		request.Spec.ExpirationSeconds = new(defaultTokenLife)
	}
	if errs := checkTokenRequest(&request.Spec); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}, "", errs)
	}
	if len(request.Spec.Audiences) == 0 {
		request.Spec.Audiences = []string{TokenIssuer}
	}
	bound, err := boundTo(s, account, request.Spec.BoundObjectRef)
	if err != nil {
		return nil, err
	}
	bound.Namespace, bound.Account = account.Namespace, TokenSubject{its.Name, its.UID}
	now, life := s.Now().Truncate(time.Second), time.Duration(*request.Spec.ExpirationSeconds)*time.Second
	claims := TokenClaims{
		Audiences: request.Spec.Audiences, Issuer: TokenIssuer, Subject: AccountUser(account.Namespace, account.Name),
		IssuedAt: now.Unix(), NotBefore: now.Unix(), Expiry: now.Add(life).Unix(), Kubernetes: bound,
	}
	isForAPI := !slices.ContainsFunc(claims.Audiences, func(a string) bool { return a != TokenIssuer })
	if bound.Pod != nil && *request.Spec.ExpirationSeconds == AccountToken && isForAPI {
		claims.Kubernetes.WarnAfter, claims.Expiry = claims.Expiry, now.Add(year).Unix()
	}
	text, err := clusterOf(s).token(claims)
	if err != nil {
		return nil, fmt.Errorf("sign a token: %w", err)
	}
	request.ObjectMeta = metav1.ObjectMeta{Name: its.Name, Namespace: its.Namespace, UID: its.UID, CreationTimestamp: metav1.NewTime(now)}
	request.Status = authenticationv1.TokenRequestStatus{Token: text, ExpirationTimestamp: metav1.NewTime(now.Add(life))}
	return request, nil
}

func checkTokenRequest(spec *authenticationv1.TokenRequestSpec) field.ErrorList {
	var errs field.ErrorList
	at, life := field.NewPath("spec").Child("expirationSeconds"), *spec.ExpirationSeconds
	if life < minTokenLife {
		errs = append(errs, field.Invalid(at, life, "may not specify a duration less than 10 minutes"))
	}
	if life > maxTokenLife {
		errs = append(errs, field.Invalid(at, life, "may not specify a duration larger than 2^32 seconds"))
	}
	return errs
}

// boundTo returns the object that the token is bound to.
func boundTo(s *store.Store, account store.Key, ref *authenticationv1.BoundObjectReference) (bound TokenBound, err error) {
	if ref == nil {
		return bound, nil
	}
	gvk := schema.FromAPIVersionAndKind(ref.APIVersion, ref.Kind)
	res, ok := store.ResourceFor(corev1.SchemeGroupVersion.WithKind(gvk.Kind))
	if !ok || gvk.Group != "" || gvk.Kind != "Pod" && gvk.Kind != "Secret" && gvk.Kind != "Node" {
		return bound, apierrors.NewBadRequest(fmt.Sprintf("cannot bind token to object of type %s", gvk))
	}
	key := store.Key{Name: ref.Name}
	if res.Namespaced {
		key.Namespace = account.Namespace
	}
	obj, ok := s.GetObject(res, key)
	if !ok {
		return bound, apierrors.NewNotFound(res.GVR.GroupResource(), ref.Name)
	}
	subject := &TokenSubject{obj.GetName(), obj.GetUID()}
	switch obj := obj.(type) {
	case *corev1.Pod:
		if obj.Spec.ServiceAccountName != account.Name {
			return bound, apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name))
		}
		bound.Pod, bound.Node = subject, nodeOf(s, obj)
	case *corev1.Secret:
		bound.Secret = subject
	case *corev1.Node:
		bound.Node = subject
	}
	if ref.UID != "" && ref.UID != obj.GetUID() {
		return bound, apierrors.NewConflict(schema.GroupResource{Group: gvk.Group, Resource: gvk.Kind}, ref.Name,
			fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	return bound, nil
}

// nodeOf returns the node of a pod, nil if it has none.
func nodeOf(s *store.Store, pod *corev1.Pod) *TokenSubject {
	if pod.Spec.NodeName == "" {
		return nil
	}
	node := &TokenSubject{Name: pod.Spec.NodeName}
	if its, ok := store.Get[*corev1.Node](s, store.Key{Name: node.Name}); ok {
		node.UID = its.UID
	}
	return node
}

// Limits of a service account token's life, in seconds.
const (
	minTokenLife = 10 * 60
	maxTokenLife = 1 << 32
)

// AccountPrefix begins the user names of service accounts.
const AccountPrefix = "system:serviceaccount:"

// AccountUser returns the user name of a service account.
func AccountUser(namespace, name string) string { return AccountPrefix + namespace + ":" + name }
