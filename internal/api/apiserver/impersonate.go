package apiserver

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Users and groups that impersonation treats specially.
const (
	anonymousUser       = "system:anonymous"
	authenticatedGroup  = "system:authenticated"
	anonymousGroup      = "system:unauthenticated"
	serviceAccountGroup = "system:serviceaccounts"
	serviceAccountUser  = "system:serviceaccount:"
	extraPrefix         = "Impersonate-Extra-"
)

// impersonate replaces the request's own user by the user in the request's headers, if the former
// may impersonate the latter. [k8s.io/apiserver/pkg/endpoints/filters WithImpersonation]
func (q *request) impersonate() error {
	name, groups, uid := q.Header.Get("Impersonate-User"), q.Header.Values("Impersonate-Group"), q.Header.Get("Impersonate-Uid")
	extra := extraOf(q.Header)
	if name == "" {
		if len(groups)+len(extra) > 0 || uid != "" {
			return apierrors.NewInternalError(fmt.Errorf("requested groups %v, UID %q and extra %v without impersonating a user", groups, uid, extra))
		}
		return nil
	}
	acting := authenticationv1.UserInfo{Username: name, Groups: slices.Clone(groups), UID: uid, Extra: extra}
	asked := []authorizationv1.ResourceAttributes{{Resource: "users", Name: name}}
	if namespace, account, ok := serviceAccountOf(name); ok {
		asked[0] = authorizationv1.ResourceAttributes{Resource: "serviceaccounts", Namespace: namespace, Name: account}
		if len(groups) == 0 {
			acting.Groups = []string{serviceAccountGroup, serviceAccountGroup + ":" + namespace}
		}
	}
	for _, group := range groups {
		asked = append(asked, authorizationv1.ResourceAttributes{Resource: "groups", Name: group})
	}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		for _, value := range extra[key] {
			asked = append(asked, authorizationv1.ResourceAttributes{Group: authenticationv1.GroupName, Version: "v1", Resource: "userextras", Subresource: key, Name: value})
		}
	}
	if uid != "" {
		asked = append(asked, authorizationv1.ResourceAttributes{Group: authenticationv1.GroupName, Version: "v1", Resource: "uids", Name: uid})
	}
	if err := q.mayImpersonate(asked); err != nil {
		return err
	}
	acting.Groups = withStanding(name, acting.Groups)
	q.user = acting
	return nil
}

// mayImpersonate requires the verb impersonate for each part of a user.
func (q *request) mayImpersonate(parts []authorizationv1.ResourceAttributes) error {
	if q.server.authorizer == nil {
		return nil
	}
	return q.exclusively(func() error {
		for _, part := range parts {
			part.Verb = "impersonate"
			asked := authorizationv1.SubjectAccessReviewSpec{User: q.user.Username, Groups: q.user.Groups, UID: q.user.UID, ResourceAttributes: &part}
			if err := q.allowed(asked); err != nil {
				return err
			}
		}
		return nil
	})
}

// withStanding adds the group system:authenticated or system:unauthenticated.
func withStanding(name string, groups []string) []string {
	switch {
	case slices.Contains(groups, authenticatedGroup), slices.Contains(groups, anonymousGroup):
		return groups
	case name == anonymousUser:
		return append(groups, anonymousGroup)
	}
	return append(groups, authenticatedGroup)
}

func serviceAccountOf(name string) (namespace, account string, ok bool) {
	rest, ok := strings.CutPrefix(name, serviceAccountUser)
	if !ok {
		return "", "", false
	}
	namespace, account, ok = strings.Cut(rest, ":")
	return namespace, account, ok && namespace != "" && account != "" && !strings.Contains(account, ":")
}

// extraOf reads the extra fields of a user from headers. Their keys are in lower case and may be
// escaped.
func extraOf(h http.Header) map[string]authenticationv1.ExtraValue {
	extra := map[string]authenticationv1.ExtraValue{}
	for name, values := range h {
		if key, ok := strings.CutPrefix(name, extraPrefix); ok {
			key = strings.ToLower(key)
			if plain, err := url.PathUnescape(key); err == nil {
				key = plain
			}
			extra[key] = append(extra[key], values...)
		}
	}
	if len(extra) == 0 {
		return nil
	}
	return extra
}
