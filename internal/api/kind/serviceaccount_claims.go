package kind

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
)

// TokenClaims are the claims of a service account's token.
type TokenClaims struct {
	Audiences  []string   `json:"aud"`
	Expiry     int64      `json:"exp"`
	IssuedAt   int64      `json:"iat"`
	Issuer     string     `json:"iss"`
	ID         string     `json:"jti,omitempty"`
	Kubernetes TokenBound `json:"kubernetes.io"`
	NotBefore  int64      `json:"nbf"`
	Subject    string     `json:"sub"`
}

// TokenBound are the objects of bound tokens.
type TokenBound struct {
	Namespace string        `json:"namespace"`
	Node      *TokenSubject `json:"node,omitempty"`
	Pod       *TokenSubject `json:"pod,omitempty"`
	Secret    *TokenSubject `json:"secret,omitempty"`
	Account   TokenSubject  `json:"serviceaccount"`
	WarnAfter int64         `json:"warnafter,omitempty"`
}

// TokenSubject is an object that a token is bound to.
type TokenSubject struct {
	Name string    `json:"name"`
	UID  types.UID `json:"uid,omitempty"`
}

// token makes a JSON web token with an id derived from its claims.
func (c *cluster) token(claims TokenClaims) (string, error) {
	said, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(said)
	sum[6], sum[8] = sum[6]&0x0f|0x40, sum[8]&0x3f|0x80 // a version 4 UUID
	claims.ID = fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	if c.signToken != nil {
		return c.signToken(claims)
	}
	if said, err = json.Marshal(claims); err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	return encode([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + encode(said) + ".", nil
}
