package apiserver

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// user is the user of every client without a token of a service account.
var user = authenticationv1.UserInfo{Username: "kubernetes-admin", Groups: []string{"system:masters", "system:authenticated"}}

// authenticate determines the request's user.
func (q *request) authenticate() error {
	bearer, given := bearerOf(q.Header.Get("Authorization"))
	own := q.server.options.Token
	q.user = user
	if own != "" && given && bearer == own {
		return nil
	}
	if q.server.authorizer != nil && !given {
		q.user = anonymous
		return nil
	}
	if _, known, _, _ := readToken(bearer); own == "" && !known {
		return nil // without authentication every client is served
	}
	its, _, err := q.server.userOf(bearer, nil)
	if err != nil {
		return apierrors.NewUnauthorized("Unauthorized")
	}
	q.user = its
	return nil
}

// bearerOf returns the token in a header.
func bearerOf(header string) (token string, given bool) {
	words := strings.SplitN(strings.TrimSpace(header), " ", 3)
	if len(words) < 2 || !strings.EqualFold(words[0], "bearer") {
		return "", false
	}
	return words[1], words[1] != ""
}

// reviewToken answers a TokenReview.
func (s *Server) reviewToken(asked authenticationv1.TokenReviewSpec) (status authenticationv1.TokenReviewStatus, err error) {
	if asked.Token == "" {
		return status, badRequest("token is required for TokenReview in authentication")
	}
	if asked.Token == s.options.Token {
		return authenticationv1.TokenReviewStatus{Authenticated: true, User: user}, nil
	}
	its, audiences, err := s.userOf(asked.Token, asked.Audiences)
	if err != nil {
		return authenticationv1.TokenReviewStatus{Error: err.Error()}, nil
	}
	return authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: audiences, User: its}, nil
}

// Authenticates reports whether a token belongs to a user or a service account, as a TokenReview
// does.
func (s *Server) Authenticates(token string) (bool, error) {
	status, err := s.reviewToken(authenticationv1.TokenReviewSpec{Token: token})
	return status.Authenticated, err
}

var errNoToken = errors.New("invalid bearer token")

// userOf returns the user of a token, and the requested audiences for which the token is valid; by
// default the API server's is requested. The error has the text that the real server writes in a
// TokenReview.
func (s *Server) userOf(token string, audiences []string) (its authenticationv1.UserInfo, good []string, err error) {
	if len(audiences) == 0 {
		audiences = []string{kind.TokenIssuer}
	}
	claims, known, signed, err := readToken(token)
	switch {
	case err != nil:
		return its, nil, err
	case !known:
		return its, nil, errNoToken
	case !signed:
		return its, nil, refused(errors.New("go-jose/go-jose: error in cryptographic primitive"))
	}
	good = slices.DeleteFunc(slices.Clone(claims.Audiences), func(a string) bool { return !slices.Contains(audiences, a) })
	if len(good) == 0 {
		return its, nil, refused(fmt.Errorf("token audiences %q is invalid for the target audiences %q", claims.Audiences, audiences))
	}
	s.options.Exclusive(func() { err = s.stillGood(claims) })
	if err != nil {
		return its, nil, refused(err)
	}
	return accountUser(claims), good, nil
}

// refused returns an error in the form of a TokenReview.
func refused(err error) error { return fmt.Errorf("[%w, %w]", errNoToken, err) }

// leeway is the tolerated difference between clocks.
const leeway = time.Minute

// stillGood checks that a token has not expired and is already valid. Its account and the object to
// which it is bound must still exist.
func (s *Server) stillGood(claims kind.TokenClaims) error {
	now := s.store.Now()
	switch {
	case now.Add(leeway).Before(time.Unix(claims.NotBefore, 0)):
		return errors.New("service account token is not valid yet")
	case now.Add(-leeway).After(time.Unix(claims.Expiry, 0)):
		return errors.New("service account token has expired")
	}
	bound := claims.Kubernetes
	account, ok := store.Get[*corev1.ServiceAccount](s.store, store.Key{Namespace: bound.Namespace, Name: bound.Account.Name})
	switch {
	case bound.Account.Name == kind.DefaultAccount && bound.Account.UID == "":
		// The token may be older than the object.
	case !ok:
		return fmt.Errorf("serviceaccounts %q not found", bound.Account.Name)
	case account.UID != bound.Account.UID:
		return fmt.Errorf("service account UID (%s) does not match claim (%s)", account.UID, bound.Account.UID)
	case isLongDeleted(account, now):
		return fmt.Errorf("service account %s/%s has been deleted", account.Namespace, account.Name)
	}
	if err := boundTo[*corev1.Secret](s, "secret", bound.Namespace, bound.Secret, now); err != nil {
		return err
	}
	if bound.Pod != nil {
		// Its node does not matter.
		return boundTo[*corev1.Pod](s, "pod", bound.Namespace, bound.Pod, now)
	}
	return boundTo[*corev1.Node](s, "node", "", bound.Node, now)
}

// boundTo checks that the object to which a token is bound still exists.
func boundTo[T store.Object](s *Server, kind, namespace string, subject *kind.TokenSubject, now time.Time) error {
	if subject == nil {
		return nil
	}
	obj, ok := store.Get[T](s.store, store.Key{Namespace: namespace, Name: subject.Name})
	switch {
	case !ok:
		return errors.New("service account token has been invalidated")
	case obj.GetUID() != subject.UID:
		return fmt.Errorf("%s UID (%s) does not match service account %s ref claim (%s)", kind, obj.GetUID(), kind, subject.UID)
	case isLongDeleted(obj, now):
		return errors.New("service account token has been invalidated")
	}
	return nil
}

func isLongDeleted(obj store.Object, now time.Time) bool {
	deleted := obj.GetDeletionTimestamp()
	return deleted != nil && deleted.Time.Before(now.Add(-leeway))
}

// accountUser returns the user of a service account's token.
func accountUser(claims kind.TokenClaims) authenticationv1.UserInfo {
	bound := claims.Kubernetes
	its := authenticationv1.UserInfo{
		Username: claims.Subject, UID: string(bound.Account.UID),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + bound.Namespace, "system:authenticated"},
		Extra:  map[string]authenticationv1.ExtraValue{"authentication.kubernetes.io/credential-id": {"JTI=" + claims.ID}},
	}
	say := func(kind string, subject *kind.TokenSubject) {
		if subject == nil {
			return
		}
		its.Extra["authentication.kubernetes.io/"+kind+"-name"] = authenticationv1.ExtraValue{subject.Name}
		if subject.UID != "" {
			its.Extra["authentication.kubernetes.io/"+kind+"-uid"] = authenticationv1.ExtraValue{string(subject.UID)}
		}
	}
	say("pod", bound.Pod)
	say("node", bound.Node)
	return its
}
