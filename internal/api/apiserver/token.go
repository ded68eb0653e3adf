package apiserver

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/api/kind"
)

// signingKey is created with the first token, and shared by all servers of the process.
var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) {
	if keyFile == "" {
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	return keyIn(keyFile)
})

// keyFile is the file that keeps the key; empty if the key is only in memory.
var keyFile string

// KeepSigningKey makes all servers of the process sign tokens with the key in a file, which is made
// if it is missing. It must be called before the first server is created.
func KeepSigningKey(file string) { keyFile = file }

func keyIn(file string) (*rsa.PrivateKey, error) {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			return nil, err
		}
		block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
		return key, os.WriteFile(file, block, 0o600)
	}
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%s has no key in PEM", file)
	}
	return x509.ParsePKCS1PrivateKey(block.Bytes)
}

var tokenRequestKind = authenticationv1.SchemeGroupVersion.WithKind("TokenRequest")

// issueToken makes a token for a service account.
func (q *request) issueToken() error {
	var wanted authenticationv1.TokenRequest
	// A dry run returns a token, too.
	if _, err := q.readNew(&wanted, tokenRequestKind); err != nil {
		return err
	}
	if wanted.Name != "" && wanted.Name != q.info.name {
		return apierrors.NewInvalid(tokenRequestKind.GroupKind(), q.info.name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "name"), wanted.Name, "must match the service account name if specified"),
		})
	}
	var issued *authenticationv1.TokenRequest
	err := q.exclusively(func() error {
		account, err := q.object()
		if err != nil {
			return err
		}
		if err := q.admit(admissionv1.Create, q.info.name, &wanted, nil); err != nil {
			return err
		}
		if issued, err = kind.IssueToken(q.server.store, q.key(), &wanted); err == nil {
			issued.CreationTimestamp = account.GetCreationTimestamp()
		}
		return err
	})
	if err != nil {
		return err
	}
	issued.TypeMeta = metav1.TypeMeta{Kind: "TokenRequest", APIVersion: "authentication.k8s.io/v1"}
	return q.answer.encoded(http.StatusCreated, issued)
}

// SignToken creates a token that the servers of this process accept as a service account's token.
func SignToken(claims kind.TokenClaims) (string, error) {
	key, err := signingKey()
	if err != nil {
		return "", err
	}
	id := sha256.Sum256(key.N.Bytes())
	header, err := json.Marshal(map[string]string{"alg": "RS256", "kid": base64.RawURLEncoding.EncodeToString(id[:])})
	if err != nil {
		return "", err
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	text := base64.RawURLEncoding.EncodeToString(header) + "." + base64.RawURLEncoding.EncodeToString(payload)
	sum := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, sum[:])
	if err != nil {
		return "", err
	}
	return text + "." + base64.RawURLEncoding.EncodeToString(signature), nil
}

// readToken returns the claims of a token. known is false if the text is not a service account's
// token. signed is false if another key signed the token.
func readToken(token string) (claims kind.TokenClaims, known, signed bool, err error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return claims, false, false, nil
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &claims) != nil || claims.Issuer != kind.TokenIssuer {
		return claims, false, false, nil
	}
	key, err := signingKey()
	if err != nil {
		return claims, true, false, err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	return claims, true, err == nil && rsa.VerifyPKCS1v15(&key.PublicKey, crypto.SHA256, sum[:], signature) == nil, nil
}
