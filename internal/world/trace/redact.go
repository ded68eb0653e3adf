package trace

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Redacted replaces a credential.
const Redacted = "***redacted***"

// hidden replaces, in a text, a secret's value that is not a credential, such as a user's name.
const hidden = "***hidden***"

// tokensKey carries service account tokens in a volume context or in secrets. K-PATH-12
const tokensKey = "csi.storage.k8s.io/serviceAccount.tokens"

// Fields renders a message by its field names, with every secret redacted.
func Fields(m proto.Message) (map[string]any, error) {
	if m == nil || !m.ProtoReflect().IsValid() {
		return nil, nil
	}
	text, err := unindented.Marshal(WithoutSecrets(m))
	if err != nil {
		return nil, err
	}
	fields := map[string]any{}
	return fields, json.Unmarshal(text, &fields)
}

// WithoutSecrets returns the message itself if it contains no secret, otherwise a copy in which
// every secret is redacted.
func WithoutSecrets(m proto.Message) proto.Message {
	if m == nil || !holdsSecrets(m.ProtoReflect()) {
		return m
	}
	m = proto.Clone(m)
	redact(m.ProtoReflect())
	return m
}

func isSecret(f protoreflect.FieldDescriptor) bool {
	return proto.GetExtension(f.Options(), csi.E_CsiSecret).(bool)
}

func holdsSecrets(m protoreflect.Message) (found bool) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case isSecret(f):
			found = true
		case f.IsMap():
			found = v.Map().Has(protoreflect.ValueOfString(tokensKey).MapKey())
		case f.Kind() == protoreflect.MessageKind && !f.IsList():
			found = holdsSecrets(v.Message())
		}
		return !found
	})
	return found
}

func redact(m protoreflect.Message) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case isSecret(f) && f.IsMap():
			redactValues(v.Map())
		case isSecret(f):
			m.Set(f, protoreflect.ValueOfString(Redacted))
		case f.IsMap():
			redactTokens(v.Map())
		case f.Kind() == protoreflect.MessageKind && !f.IsList():
			redact(v.Message())
		}
		return true
	})
}

func redactValues(m protoreflect.Map) {
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		m.Set(k, protoreflect.ValueOfString(Redacted))
		return true
	})
}

func redactTokens(m protoreflect.Map) {
	key := protoreflect.ValueOfString(tokensKey).MapKey()
	if !m.Has(key) {
		return
	}
	m.Set(key, protoreflect.ValueOfString(redactedTokens(m.Get(key).String())))
}

// token is a service account token in the form that the kubelet passes to a driver.
type token struct {
	Token               string `json:"token"`
	ExpirationTimestamp any    `json:"expirationTimestamp,omitempty"`
}

// redactedTokens keeps audiences and expiry times, which are not secret.
func redactedTokens(text string) string {
	var byAudience map[string]*token
	if json.Unmarshal([]byte(text), &byAudience) != nil {
		return Redacted
	}
	for _, t := range byAudience {
		if t != nil {
			t.Token = Redacted
		}
	}
	out, err := json.Marshal(byAudience)
	if err != nil {
		return Redacted
	}
	return string(out)
}

// redactSecretObject hides the content of a Secret.
func redactSecretObject(object map[string]any) {
	for _, field := range []string{"data", "stringData"} {
		content, ok := object[field].(map[string]any)
		if !ok {
			continue
		}
		for key := range content {
			content[key] = Redacted
		}
	}
	delete(annotations(object), "kubectl.kubernetes.io/last-applied-configuration")
}

func annotations(object map[string]any) map[string]any {
	meta, _ := object["metadata"].(map[string]any)
	all, _ := meta["annotations"].(map[string]any)
	return all
}

// shortestSecret is the length from which a value is assumed not to be part of a word.
const shortestSecret = 6

// RedactText removes a request's secrets from a text, such as the message of its answer.
func RedactText(text string, request proto.Message) string {
	if request == nil || !request.ProtoReflect().IsValid() {
		return text
	}
	for _, secret := range secretsOf(request.ProtoReflect()) {
		if len(secret.Value) < shortestSecret {
			continue
		}
		sign := hidden
		if secret.Key == "" || isCredential(secret.Key, secret.Value) {
			sign = Redacted
		}
		text = strings.ReplaceAll(text, secret.Value, sign)
	}
	return text
}

// LooksSecret reports whether a value is unlikely to be a word, name or number: it is long, and has
// letters and digits.
func LooksSecret(value string) bool {
	const long = 8
	return len(value) >= long && strings.ContainsAny(value, "0123456789") && strings.ContainsFunc(value, unicode.IsLetter)
}

// secretsOf returns the values of a message's secrets with their keys, and tokens of service
// accounts. Long values come first.
func secretsOf(m protoreflect.Message) (all []Credential) {
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case isSecret(f) && !f.IsMap():
			all = append(all, Credential{Value: v.String()})
		case f.IsMap() && f.MapValue().Kind() == protoreflect.StringKind:
			v.Map().Range(func(key protoreflect.MapKey, value protoreflect.Value) bool {
				if key.String() == tokensKey {
					for _, token := range tokensIn(value.String()) {
						all = append(all, Credential{Value: token})
					}
				}
				if isSecret(f) {
					all = append(all, Credential{key.String(), value.String()})
				}
				return true
			})
		}
		return true
	})
	slices.SortFunc(all, func(a, b Credential) int {
		return cmp.Or(len(b.Value)-len(a.Value), strings.Compare(a.Value, b.Value), strings.Compare(a.Key, b.Key))
	})
	return all
}
