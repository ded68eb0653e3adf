package apiserver

import (
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// reviewToken says whose a token is: the client's own, or one that was made for a
// service account.
func (s *Server) reviewToken(asked authenticationv1.TokenReviewSpec) authenticationv1.TokenReviewStatus {
	if asked.Token == s.options.Token && asked.Token != "" {
		return authenticationv1.TokenReviewStatus{Authenticated: true, User: user}
	}
	told, err := readToken(asked.Token, s.options.Now())
	if err != nil {
		return authenticationv1.TokenReviewStatus{Error: err.Error()}
	}
	wanted := asked.Audiences
	if len(wanted) == 0 {
		wanted = []string{issuer}
	}
	audiences := slices.DeleteFunc(slices.Clone(wanted), func(a string) bool { return !slices.Contains(told.Audiences, a) })
	if len(audiences) == 0 {
		return authenticationv1.TokenReviewStatus{Error: "[invalid bearer token, token audiences " + quoted(told.Audiences) + " is invalid for the target audiences " + quoted(wanted) + "]"}
	}
	namespace, _, _ := strings.Cut(strings.TrimPrefix(told.Subject, "system:serviceaccount:"), ":")
	return authenticationv1.TokenReviewStatus{Authenticated: true, Audiences: audiences, User: authenticationv1.UserInfo{
		Username: told.Subject, UID: told.Kubernetes.Account.UID,
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace, "system:authenticated"},
	}}
}

func quoted(words []string) string {
	text, _ := json.Marshal(words) // strings
	return string(text)
}

// told are the claims of a token that matter.
type told struct {
	Audiences  []string `json:"aud"`
	Expiry     int64    `json:"exp"`
	Subject    string   `json:"sub"`
	Kubernetes struct {
		Account struct {
			UID string `json:"uid"`
		} `json:"serviceaccount"`
	} `json:"kubernetes.io"`
}

var errNoToken = errors.New("invalid bearer token")

// readToken checks the signature and the time of a token.
func readToken(token string, now time.Time) (claims told, err error) {
	parts := strings.Split(token, ".")
	key, err := signingKey()
	if err != nil {
		return claims, err
	}
	if len(parts) != 3 {
		return claims, errNoToken
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return claims, errNoToken
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature) != nil {
		return claims, errNoToken
	}
	text, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(text, &claims) != nil {
		return claims, errNoToken
	}
	if now.Unix() >= claims.Expiry {
		return claims, errors.New("[invalid bearer token, service account token has expired]")
	}
	return claims, nil
}
