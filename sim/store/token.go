package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	// tokenIssuer is also the audience of a token that is made for nobody in particular.
	tokenIssuer = "https://kubernetes.default.svc.cluster.local"
	// defaultAccount is there in every namespace, as pods without an account take
	// for granted, even if nobody has made the object.
	defaultAccount = "default"
)

// IssueToken is the subresource "token" of a service account: it answers the
// request with a token. Nothing is stored by it.
func (s *Store) IssueToken(account Key, asked *authenticationv1.TokenRequest) (*authenticationv1.TokenRequest, error) {
	if _, ok := Get[*corev1.ServiceAccount](s.head, account); !ok && account.Name != defaultAccount {
		return nil, NotFound[*corev1.ServiceAccount](account)
	}
	request := asked.DeepCopy()
	if request.Spec.ExpirationSeconds == nil {
		request.Spec.ExpirationSeconds = new(defaultTokenLife)
	}
	if errs := checkTokenRequest(&request.Spec); len(errs) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: authenticationv1.GroupName, Kind: "TokenRequest"}, "", errs)
	}
	if len(request.Spec.Audiences) == 0 {
		request.Spec.Audiences = []string{tokenIssuer}
	}
	pod, err := s.boundPod(account, request.Spec.BoundObjectRef)
	if err != nil {
		return nil, err
	}
	now := s.options.Now().Truncate(time.Second)
	expiry := now.Add(time.Duration(*request.Spec.ExpirationSeconds) * time.Second)
	request.Status = authenticationv1.TokenRequestStatus{
		Token:               token(account, pod, request.Spec.Audiences, now, expiry),
		ExpirationTimestamp: metav1.NewTime(expiry),
	}
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

// boundPod is the pod with which the token is to end; nil if there is none.
func (s *Store) boundPod(account Key, ref *authenticationv1.BoundObjectReference) (*corev1.Pod, error) {
	if ref == nil || ref.Kind != "Pod" {
		return nil, nil
	}
	key := Key{Namespace: account.Namespace, Name: ref.Name}
	pod, ok := Get[*corev1.Pod](s.head, key)
	switch {
	case !ok:
		return nil, NotFound[*corev1.Pod](key)
	case pod.Spec.ServiceAccountName != account.Name:
		return nil, apierrors.NewBadRequest(fmt.Sprintf("cannot bind token for serviceaccount %q to pod running with different serviceaccount name.", account.Name))
	case ref.UID != "" && ref.UID != pod.UID:
		return nil, resourceFor[*corev1.Pod]().conflict(key, fmt.Errorf(
			"the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID))
	}
	return pod, nil
}

// token is a JSON Web Token with the claims of a real one. It is not signed:
// nobody could check the signature.
func token(account Key, pod *corev1.Pod, audiences []string, from, to time.Time) string {
	bound := map[string]any{"namespace": account.Namespace, "serviceaccount": map[string]string{"name": account.Name}}
	if pod != nil {
		bound["pod"] = map[string]string{"name": pod.Name, "uid": string(pod.UID)}
	}
	claims := map[string]any{
		"iss": tokenIssuer, "aud": slices.Clone(audiences), "sub": "system:serviceaccount:" + account.Namespace + ":" + account.Name,
		"iat": json.Number(strconv.FormatInt(from.Unix(), 10)), "nbf": json.Number(strconv.FormatInt(from.Unix(), 10)),
		"exp": json.Number(strconv.FormatInt(to.Unix(), 10)), "kubernetes.io": bound,
	}
	return encoded(map[string]any{"alg": "none", "typ": "JWT"}) + "." + encoded(claims) + "."
}

func encoded(content map[string]any) string {
	text, err := json.Marshal(content)
	if err != nil {
		panic("store: " + err.Error()) // strings and numbers only
	}
	return base64.RawURLEncoding.EncodeToString(text)
}
