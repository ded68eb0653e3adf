package trace_test

import (
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/trace"
)

func TestAKeyNamesACredentialByItsLastWord(t *testing.T) {
	for _, key := range []string{
		"password", "Password", "userPassword", "user_key", "userKey", "adminKey", "accessKey", "secretkey", "SECRET_ACCESS_KEY", "secretAccessKey", "api-token", "token",
		"clientSecret", "encryptionPassphrase", "credentials", "key.json", "private-key.pem", "key2", "APIKey",
	} {
		assert.True(t, trace.NamesCredential(key), key)
	}
	for _, key := range []string{
		"user", "username", "userID", "adminID", "url", "endpoint", "region", "host", "address", "accessKeyID", "access_key_id", "tokenURL", "keyName", "secretName", "bucket", "", "1",
	} {
		assert.False(t, trace.NamesCredential(key), key)
	}
}

func TestCredentialsOfARequest(t *testing.T) {
	const tokens = "csi.storage.k8s.io/serviceAccount.tokens"
	publish := &csi.NodePublishVolumeRequest{
		VolumeContext: map[string]string{tokens: `{"vault":{"token":"header.payload1.sign","expirationTimestamp":"2026-11-27T00:00:00Z"}}`, "password": "in the open"},
		Secrets:       map[string]string{"endpoint": "https://storage1.example.com", "user": "storage-admin1", "userKey": "abcdef123456", "note": "made-up-1234"},
	}
	assert.Equal(t, []trace.Credential{
		{tokens, "header.payload1.sign"}, {"note", "made-up-1234"}, {"userKey", "abcdef123456"},
	}, trace.Credentials(publish))
	assert.Empty(t, trace.Credentials(&csi.ProbeRequest{}))

	text := "login to https://storage1.example.com as storage-admin1 with abcdef123456 and header.payload1.sign failed"
	assert.Equal(t, "login to ***hidden*** as ***hidden*** with ***redacted*** and ***redacted*** failed", trace.RedactText(text, publish))
}
